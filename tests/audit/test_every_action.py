"""Every privileged action has exactly one row in its own transaction, or it does not happen."""

import ast
import secrets
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import authenticate, user_logged_in, user_logged_out
from django.db import Error, transaction

from agents.conversations import inputs, keeping
from agents.definitions import bundling, publication, versions
from agents.engine.effects import Settle, Terminal
from agents.gateway import budgets, deployments
from agents.gateway.models import Budget, Deployment, Role
from agents.members import accounts, preferences, roles, tokens
from agents.members.models import Member, TokenScope
from agents.turns import answers
from agents.turns.answers import Pending, Spent
from artifacts import staging, writing
from artifacts.models import StagedArtifact
from audit import funnel
from audit.models import AuditEvent
from audit.reasons import Action
from tests.boundaries.source import ROOT, runtime_sources
from tests.state import held
from tests.turns.admitting import asked, prepare, took
from tools.boundary import policies
from tools.boundary.models import PolicyMode
from tools.effects import claims

pytestmark = pytest.mark.django_db

CONTENT = {"name": "Ferry", "persona": "You plan journeys."}
# Recorded by tools and turns under way; their own tests look at the rows.
ELSEWHERE = {
    Action.TOOL_CALLED: "tests/tools/test_execution.py",
    Action.TOOL_DENIED: "tests/tools/test_execution.py",
    Action.TOOL_AUTHORISED: "tests/tools/test_execution.py",
    Action.APPROVAL_REQUESTED: "tests/approvals",
    Action.APPROVAL_SETTLED: "tests/approvals",
    Action.STEER_ACCEPTED: "tests/turns/test_steering.py",
    Action.TURN_TAKEN_OVER: "tests/turns/test_admission.py",
    Action.DEPLOYMENT_TESTED: "tests/gateway/test_connection_test.py",
    Action.AUDIT_EXPORTED: "tests/audit/test_admin.py",
    Action.OVERFLOW: "tests/audit/test_closed_codes.py",
}
Act = Callable[[], object]


def new_deployment() -> Deployment:
    return Deployment(
        name=f"model {secrets.token_hex(4)}", base_url="http://127.0.0.1:9/v1", model="m"
    )


def agent(alice: Member) -> Any:
    return versions.create(actor=alice, content=CONTENT)


def shipped(alice: Member, ada: Member) -> Act:
    bundle = next(bundle for bundle in bundling.shipped())
    return lambda: bundling.reconcile(bundle)


def returned(alice: Member, ada: Member) -> Act:
    bundle = bundling.shipped()[0]
    bundling.reconcile(bundle)
    bundling.reconcile_all([])
    return lambda: bundling.reconcile(bundle)


def removed(alice: Member, ada: Member) -> Act:
    bundling.reconcile(bundling.shipped()[0])
    return lambda: bundling.reconcile_all([])


def published(alice: Member, ada: Member) -> Act:
    made = agent(alice)
    return lambda: publication.publish(actor=ada, agent_id=made.agent_id)


def withdrawn(alice: Member, ada: Member) -> Act:
    made = agent(alice)
    publication.publish(actor=ada, agent_id=made.agent_id)
    return lambda: publication.withdraw(actor=ada, agent_id=made.agent_id)


def new_token(alice: Member, ada: Member) -> Act:
    return lambda: tokens.create(actor=alice, name="x", scope=TokenScope.READ, days=1)


def revoked_token(alice: Member, ada: Member) -> Act:
    token, _ = tokens.create(actor=alice, name="x", scope=TokenScope.READ, days=1)
    return lambda: tokens.revoke(actor=alice, token_id=token.id)


def appended(alice: Member, ada: Member) -> Act:
    made = agent(alice)
    return lambda: versions.append(
        actor=alice,
        agent_id=made.agent_id,
        content={**CONTENT, "persona": "You row."},
        expected_version=1,
    )


def deleted_agent(alice: Member, ada: Member) -> Act:
    made = agent(alice)
    return lambda: versions.delete(actor=alice, agent_id=made.agent_id)


def deleted_conversation(alice: Member, ada: Member) -> Act:
    conversation = inputs.open_conversation(member=alice)
    return lambda: keeping.delete(member=alice, conversation_id=conversation.id)


def stopped(alice: Member, ada: Member) -> Act:
    prepare()
    admitted = took(asked(alice))
    where = admitted.identity.conversation_id
    return lambda: inputs.stop(member=alice, conversation_id=where)


def ended(alice: Member, ada: Member) -> Act:
    prepare()
    admitted = took(asked(alice))
    return lambda: answers.settle(admitted, Pending(), Settle(Terminal.COMPLETED), Spent())


def changed_deployment(alice: Member, ada: Member) -> Act:
    row = new_deployment()
    deployments.save(actor=ada.principal, deployment=row, secret_entered=False)
    row.model = "other"
    return lambda: deployments.save(actor=ada.principal, deployment=row, secret_entered=False)


def new_role(alice: Member, ada: Member) -> Act:
    row = new_deployment()
    deployments.save(actor=ada.principal, deployment=row, secret_entered=False)
    return lambda: deployments.assign_role(
        actor=ada.principal, role=Role.CHAT, deployment_id=row.id
    )


def changed_budget(alice: Member, ada: Member) -> Act:
    row = Budget(member=alice, amount=10)
    budgets.save(actor=ada.principal, budget=row)
    row.amount = 20
    return lambda: budgets.save(actor=ada.principal, budget=row)


def created(alice: Member, **more: Any) -> Any:
    return writing.create(actor=alice, draft=writing.Draft("Plan", "text", "06:40"), **more)


def updated(alice: Member, ada: Member) -> Act:
    made = created(alice).artifact_id
    return lambda: writing.update(
        actor=alice, artifact_id=made, content="07:10", expected_version=1
    )


def put_away(alice: Member, ada: Member) -> Act:
    made = created(alice).artifact_id
    return lambda: writing.delete(actor=alice, artifact_id=made)


def begun(alice: Member, run: writing.RunWrite) -> StagedArtifact:
    return staging.begin(
        actor=alice, title="Plan", kind="text", language="", conversation_id=None, run=run
    )


def claimed() -> writing.RunWrite:
    run_id = uuid4()
    claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=f"tests-{run_id.hex[:8]}")
    (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=f"tests-{run_id.hex[:8]}")
    return writing.RunWrite(run_id, claim.fence, "1:1", "agent:x")


def staged(alice: Member, ada: Member) -> Act:
    run = claimed()
    return lambda: begun(alice, run)


def discarded(alice: Member, ada: Member) -> Act:
    run = claimed()
    row = begun(alice, run)
    return lambda: staging.discard(actor=alice, staged_id=row.id, run=run)


# What is done: how it is prepared, and the action its one row carries.
TABLE: dict[str, tuple[Callable[[Member, Member], Act], Action]] = {
    "sign in": (
        lambda alice, ada: lambda: user_logged_in.send(Member, request=None, user=alice),
        Action.SIGN_IN,
    ),
    "sign out": (
        lambda alice, ada: lambda: user_logged_out.send(Member, request=None, user=alice),
        Action.SIGN_OUT,
    ),
    "fail to sign in": (
        lambda alice, ada: lambda: authenticate(username=alice.username, password="no"),
        Action.SIGN_IN_FAILED,
    ),
    "change a password": (
        lambda alice, ada: (
            lambda: accounts.set_password(
                actor=ada.principal, member=alice, password="another long one"
            )
        ),
        Action.PASSWORD_CHANGED,
    ),
    "add a person": (
        lambda alice, ada: (
            lambda: accounts.create(
                actor=ada.principal, username="new", password="long enough", role=roles.MEMBER
            )
        ),
        Action.MEMBER_CHANGED,
    ),
    "change a role": (
        lambda alice, ada: (
            lambda: accounts.assign(actor=ada.principal, member=alice, role=roles.OPERATOR)
        ),
        Action.MEMBER_CHANGED,
    ),
    "switch a person off": (
        lambda alice, ada: (
            lambda: accounts.change(
                actor=ada.principal, member=alice, display_name="Alice", is_active=False
            )
        ),
        Action.MEMBER_CHANGED,
    ),
    "change preferences": (
        lambda alice, ada: lambda: preferences.change(actor=alice, chosen={"plain_speak": True}),
        Action.MEMBER_CHANGED,
    ),
    "create a token": (new_token, Action.TOKEN_CREATED),
    "revoke a token": (revoked_token, Action.TOKEN_REVOKED),
    "create an agent": (lambda alice, ada: lambda: agent(alice), Action.AGENT_CREATED),
    "append a version": (appended, Action.AGENT_VERSION_APPENDED),
    "delete an agent": (deleted_agent, Action.AGENT_DELETED),
    "bring in a bundle": (shipped, Action.AGENT_VERSION_APPENDED),
    "bring a bundle back": (returned, Action.BUNDLE_RECONCILED),
    "retire a bundle": (removed, Action.AGENT_DELETED),
    "open an agent to everyone": (published, Action.AGENT_SHARED),
    "close an agent again": (withdrawn, Action.AGENT_UNSHARED),
    "delete a conversation": (deleted_conversation, Action.CONVERSATION_DELETED),
    "stop": (stopped, Action.STOP_REQUESTED),
    "end a turn": (ended, Action.TURN_ENDED),
    "add a deployment": (
        lambda alice, ada: (
            lambda: deployments.save(
                actor=ada.principal, deployment=new_deployment(), secret_entered=False
            )
        ),
        Action.DEPLOYMENT_CREATED,
    ),
    "change a deployment": (changed_deployment, Action.DEPLOYMENT_CHANGED),
    "let a deployment answer": (new_role, Action.MODEL_ROLE_CHANGED),
    "set a budget": (
        lambda alice, ada: (
            lambda: budgets.save(actor=ada.principal, budget=Budget(member=alice, amount=10))
        ),
        Action.BUDGET_CREATED,
    ),
    "change a budget": (changed_budget, Action.BUDGET_CHANGED),
    "switch a family of tools off": (
        lambda alice, ada: (
            lambda: policies.decide(
                actor=ada.principal, family=policies.families()[0], mode=PolicyMode.OFF
            )
        ),
        Action.TOOL_POLICY_CHANGED,
    ),
    "create an artifact": (lambda alice, ada: lambda: created(alice), Action.ARTIFACT_CREATED),
    "update an artifact": (updated, Action.ARTIFACT_UPDATED),
    "delete an artifact": (put_away, Action.ARTIFACT_DELETED),
    "begin an artifact of parts": (staged, Action.ARTIFACT_STAGED),
    "give an artifact of parts up": (discarded, Action.ARTIFACT_UNSTAGED),
}


@pytest.mark.req("AUD-003", "AUD-007")
@pytest.mark.parametrize("name", TABLE)
def test_it_writes_exactly_one_row(name: str, alice: Member, ada: Member) -> None:
    begin, action = TABLE[name]
    act = begin(alice, ada)
    known = set(AuditEvent.objects.values_list("id", flat=True))
    act()
    rows = AuditEvent.objects.exclude(id__in=known)
    assert list(rows.values_list("action", flat=True)) == [str(action)]


@pytest.mark.req("AUD-009")
@pytest.mark.parametrize("name", TABLE)
def test_without_its_row_it_does_not_happen(
    name: str, alice: Member, ada: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, _ = TABLE[name]
    act = begin(alice, ada)
    before = held()
    monkeypatch.setattr(funnel, "WRITE", "INSERT INTO no_such_table {rows}")
    with pytest.raises(Error), transaction.atomic():
        act()
    assert held() == before


def test_every_action_that_is_recorded_anywhere_is_in_the_table() -> None:
    recorded = {
        Action[node.attr]
        for source in runtime_sources()
        if not source.path.startswith("audit/")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Action"
    }
    assert [place for place in ELSEWHERE.values() if not (ROOT / place).exists()] == []
    assert recorded - {action for _, action in TABLE.values()} - set(ELSEWHERE) == set()
