"""Taking a run: what is frozen, what it costs, what is looked at again, and what cannot start."""

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from guardian.shortcuts import assign_perm, remove_perm

from agents.conversations.models import Input
from agents.definitions import versions
from agents.engine.effects import Settle, Terminal
from agents.engine.events import Began
from agents.gateway.events import Completed
from agents.journal import replay
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.models import Entry
from agents.members.models import Member
from agents.turns import admission, answers, driver
from agents.turns.answers import ModelCallEnded, Pending, Spent
from agents.turns.models import Turn
from agents.turns.transcript import Transcripts
from audit.models import AuditEvent
from audit.reasons import Reason
from tests.turns.admitting import asked, prepare, take, took
from tools.boundary import policies
from tools.boundary.models import PolicyMode
from tools.effects import claims
from tools.effects.claims import LeaseLost
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db

# In a test's transaction, begin and commit are a savepoint and its release.
STATEMENTS_TO_TAKE = 10
STATEMENTS_TO_TAKE_NOTHING = 3
STATEMENTS_TO_SETTLE = 9


@pytest.fixture(autouse=True)
def ground() -> None:
    prepare()


def kinds(run_id: UUID) -> list[str]:
    return [entry.kind for entry in replay.of_run(run_id)]


def answer() -> Completed:
    return Completed(text="Hello", thinking="", calls=(), end="complete", usage=None, failure=None)


def settle(admitted: object, terminal: Terminal = Terminal.COMPLETED, reason: str = "") -> None:
    answers.settle(admitted, Pending(), Settle(terminal, reason), Spent())  # type: ignore[arg-type]


def test_taking_freezes_what_the_turn_will_use(alice: Member) -> None:
    accepted = asked(alice)
    admitted = took(accepted)
    turn = Turn.objects.get(id=accepted.run_id)
    version = turn.agent_version
    assert (admitted.claim.fence, admitted.refused) == (1, None)
    assert admitted.past.events == (Began(),)
    assert admitted.persona == version.content["persona"]
    assert turn.snapshot["offered"] == list(admitted.offered)
    assert turn.snapshot["agent_digest"] == version.digest
    assert kinds(accepted.run_id) == ["input_accepted", "agent_run_started"]
    assert Input.objects.get(id=accepted.input_id).status == "active"


@pytest.mark.req("AGT-009")
def test_a_later_edit_does_not_reach_a_turn_that_runs(alice: Member) -> None:
    agent = versions.create(actor=alice, content={"name": "A", "persona": "Old."}).agent
    accepted = asked(alice, agent=str(agent.id))
    took(accepted, lease_s=-1)
    versions.append(
        actor=alice,
        agent_id=agent.id,
        content={"name": "A", "persona": "New."},
        expected_version=1,
    )
    again = took(accepted)
    assert (again.claim.fence, again.persona, again.identity.agent_version) == (2, "Old.", 1)


def test_taking_and_settling_cost_a_fixed_number_of_statements(alice: Member) -> None:
    counts = []
    claims.claim("tests", limit=10_000, lease_s=30)  # whatever lies about
    for _ in range(2):
        accepted = asked(alice)
        with CaptureQueriesContext(connection) as taking:
            admitted = took(accepted)
        pending = Pending(
            [Draft(Kind.ASSISTANT_MESSAGE, {"text": "Hello", "segment": 0}, {"step": 1})],
            [ModelCallEnded(1, answer())],
        )
        with CaptureQueriesContext(connection) as settling:
            answers.settle(admitted, pending, Settle(Terminal.COMPLETED), Spent())
        counts.append((len(taking), len(settling)))
        shown = [[query["sql"][:70] for query in part] for part in (taking, settling)]
    assert counts == [(STATEMENTS_TO_TAKE, STATEMENTS_TO_SETTLE)] * 2, shown


def test_looking_for_work_in_vain_costs_one_statement(alice: Member) -> None:
    claims.claim("tests", limit=10_000, lease_s=30)
    with CaptureQueriesContext(connection) as queries:
        assert admission.take("tests", lease_s=30, transcripts=Transcripts()) is None
    assert len(queries) == STATEMENTS_TO_TAKE_NOTHING


def test_a_takeover_needs_the_agent_to_be_usable_still(alice: Member, bob: Member) -> None:
    agent = versions.create(actor=bob, content={"name": "B", "persona": "P."}).agent
    assign_perm("definitions.use_agent", alice, agent)
    accepted = asked(alice, agent=str(agent.id))
    took(accepted, lease_s=-1)
    remove_perm("definitions.use_agent", alice, agent)
    assert took(accepted).refused == Reason.AGENT_UNAVAILABLE


def test_a_takeover_after_a_stop_ends_as_cancelled(alice: Member) -> None:
    accepted = asked(alice)
    first = took(accepted, lease_s=-1)
    claims.request_stop(first.identity.conversation_id)
    again = took(accepted)
    assert again.refused == Reason.STOPPED
    assert driver.refusal(Reason.STOPPED) == Settle(Terminal.CANCELLED, "stopped")


@pytest.mark.req("INP-019")
def test_after_three_lost_workers_the_turn_ends(alice: Member) -> None:
    accepted = asked(alice)
    for attempt in range(1, claims.MAX_ATTEMPTS + 1):
        admitted = took(accepted, lease_s=-1)
        assert (admitted.claim.attempts, admitted.refused) == (attempt, None)
    last = took(accepted)
    assert last.refused == Reason.ATTEMPTS_EXHAUSTED
    settle(last, Terminal.FAILED, Reason.ATTEMPTS_EXHAUSTED)
    assert take(accepted) is None
    assert kinds(accepted.run_id)[-1] == "agent_run_failed"


def test_every_takeover_is_recorded(alice: Member) -> None:
    accepted = asked(alice)
    took(accepted, lease_s=-1)
    took(accepted)
    rows = AuditEvent.objects.filter(run_id=accepted.run_id, action="turn_taken_over")
    assert [row.details for row in rows] == [{"attempt": 2, "fence": 2}]


def test_the_lost_worker_can_settle_nothing(alice: Member) -> None:
    accepted = asked(alice)
    old = took(accepted, lease_s=-1)
    took(accepted)
    with pytest.raises(LeaseLost):
        settle(old)
    Turn.objects.filter(id=accepted.run_id, terminal="").get()


def test_a_run_that_cannot_be_started_does_not_stop_the_others(alice: Member) -> None:
    poisoned, healthy = asked(alice), asked(alice)
    lane = RunClaim.objects.get(run_id=poisoned.run_id).lane
    # An entry beyond the head, which no operation makes: starting runs into the constraint.
    Entry.objects.create(stream_id=lane, position=2, kind=Kind.NOTICE, data={})
    assert take(poisoned) is None
    took(healthy)
    row = RunClaim.objects.get(run_id=poisoned.run_id)
    assert (row.attempts, row.lease_until is not None) == (1, True)


def test_a_person_switched_off_or_an_agent_deleted_in_between_refuses_the_turn(
    alice: Member, bob: Member
) -> None:
    agent = versions.create(actor=bob, content={"name": "B", "persona": "P."}).agent
    by_alice, by_bob = asked(alice), asked(bob, agent=str(agent.id))
    versions.delete(actor=bob, agent_id=agent.id)
    Member.objects.filter(pk=alice.pk).update(is_active=False)
    assert took(by_alice).refused == Reason.ACCOUNT_INACTIVE
    refused = took(by_bob)
    assert (refused.refused, refused.offered, refused.connection) == (
        Reason.AGENT_UNAVAILABLE,
        {},
        None,
    )
    settle(refused, Terminal.FAILED, Reason.AGENT_UNAVAILABLE)
    assert kinds(by_bob.run_id) == ["input_accepted", "agent_run_failed"]


def test_a_family_that_is_switched_off_is_not_offered(alice: Member) -> None:
    before = took(asked(alice)).offered
    assert {tool.family for tool in before.values()} == {"baseline", "artifacts"}
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.OFF)
    after = took(asked(alice)).offered
    assert after == {name: tool for name, tool in before.items() if tool.family == "baseline"}
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL)
    assert took(asked(alice)).offered == before
