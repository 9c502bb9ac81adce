"""What runs equals what was shown and approved, and it runs once."""

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any, Final

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from agents.conversations import inputs
from agents.members.models import Member
from agents.turns import decisions
from audit import canonical
from audit.reasons import Reason
from audit.refusals import Conflict
from tests.approvals.asking import PLAN, Asked, asked_about
from tools.boundary import approvals, clearance, registry
from tools.boundary.clearance import Begun
from tools.boundary.contract import Parked, RunIdentity, Target, ToolCall, ToolDescriptor
from tools.boundary.failures import Denial
from tools.boundary.models import Approval, ApprovalState, PolicyMode
from tools.boundary.permission import Permitted
from tools.effects.claims import LeaseLost
from tools.effects.models import RunClaim

MUTATIONS: Final = 500
RACES: Final = 50  # of each of six kinds


def clear(
    identity: RunIdentity,
    arguments: dict[str, Any],
    *,
    call_id: str = "call-0",
    mode: PolicyMode = PolicyMode.APPROVAL,
    **changes: Any,
) -> Permitted | Denial | Parked | Begun:
    """The call as the boundary asks for clearance, in a transaction of its own."""
    descriptor: ToolDescriptor = replace(registry.resolve("create_artifact"), **changes)
    permitted = Permitted(descriptor, arguments, canonical.digest(arguments), mode, ())
    call = ToolCall(call_id, 1, 0, descriptor.name, arguments)
    with transaction.atomic():
        return clearance.clear(call, identity, permitted)


def approve(asked: Asked) -> None:
    decisions.decide(
        member=asked.member,
        approval_id=asked.row.id,
        decision="approve",
        digest=asked.row.digest,
    )


def approved(member: Member) -> Asked:
    """A run that goes on with its call approved."""
    asked = asked_about(member)
    approve(asked)
    asked.resume()
    return asked


def mutated(chance: random.Random) -> dict[str, Any]:
    """One change to what was approved: a byte, a value, a field, the tool, or whose call it is."""
    title, content = str(PLAN["title"]), str(PLAN["content"])
    at = chance.randrange(len(content))
    other = chr(ord(content[at]) ^ (1 << chance.randrange(5)))
    changes: list[dict[str, Any]] = [
        {"arguments": {**PLAN, "content": content[:at] + other + content[at + 1 :]}},
        {"arguments": {**PLAN, "content": content[:at] + content[at + 1 :]}},
        {"arguments": {**PLAN, "content": content + chance.choice([" ", "\n", ".", "é", "é"])}},
        {"arguments": {**PLAN, "title": title + chr(chance.randrange(33, 126))}},
        {"arguments": {**PLAN, "kind": chance.choice(["code", "Text", "text ", ""])}},
        {"arguments": {**PLAN, f"extra{chance.randrange(99)}": chance.choice([None, 0, "", {}])}},
        {"arguments": {key: PLAN[key] for key in chance.sample(sorted(PLAN), 2)}},
        {"arguments": {**PLAN, "content": chance.choice([None, 8, ["08:15 ferry"], {"a": 1}])}},
        {"name": f"create_artifact{chance.randrange(99)}"},
        {"version": chance.randrange(2, 1_000)},
        {"agent": chance.getrandbits(64)},
        {"member": chance.randrange(1, 2**31)},
        {"target": f"version {chance.randrange(999)}"},
    ]
    return chance.choice(changes)


@pytest.mark.req("UIX-004")
@pytest.mark.django_db
def test_five_hundred_changes_after_the_approval_are_all_refused(alice: Member) -> None:
    chance = random.Random(30)
    asked = approved(alice)
    for _ in range(MUTATIONS):
        change = mutated(chance)
        identity, changes = asked.identity, {}
        if "version" in change:
            identity = replace(identity, agent_version=change["version"])
        if "agent" in change:
            identity = replace(identity, agent_id=type(identity.agent_id)(int=change["agent"]))
        if "member" in change and change["member"] != alice.pk:
            identity = replace(identity, member_id=change["member"])
        if "name" in change:
            changes["name"] = change["name"]
        if "target" in change:
            changes["target"] = lambda *_, text=change["target"]: Target("Plan", text)
        ruling = clear(identity, change.get("arguments", PLAN), **changes)
        assert isinstance(ruling, Denial), change
        assert (ruling.reason, ruling.ends_turn) == (
            Reason.APPROVAL_MISMATCH,
            Reason.APPROVAL_MISMATCH,
        )
    assert asked.state == "approved"
    assert isinstance(clear(asked.identity, dict(reversed(PLAN.items()))), Permitted)
    assert (asked.state, asked.now().fence) == ("consumed", asked.identity.fence)


@pytest.mark.django_db
def test_the_target_is_looked_at_again_when_the_call_is_made(alice: Member) -> None:
    for version, runs in (("3", True), ("4", False)):
        asked = asked_about(alice, target=Target("“Plan”", "3"))
        approve(asked)
        asked.resume()
        found = Target("“Plan”", version)
        ruling = clear(asked.identity, PLAN, target=lambda *_, found=found: found)
        assert isinstance(ruling, Permitted) == runs


@pytest.mark.django_db
def test_a_hundred_replays_use_nothing_twice(alice: Member) -> None:
    asked = approved(alice)
    assert isinstance(clear(asked.identity, PLAN), Permitted)
    for attempt in range(100):
        if attempt % 3 == 0:  # another worker, under a newer fence
            RunClaim.objects.filter(run_id=asked.identity.run_id).update(
                lease_until=Now() - timedelta(seconds=1)
            )
            asked.resume()
        if attempt % 3 == 1:  # the same call made by the model once more
            again = clear(asked.identity, PLAN, call_id=f"call-{attempt}")
            assert isinstance(again, Parked)
            assert not again.asked
        else:
            assert isinstance(clear(asked.identity, PLAN), Begun)
    other = asked_about(alice)
    with pytest.raises(Conflict):  # its question is another one
        decisions.decide(
            member=alice, approval_id=asked.row.id, decision="deny", digest=other.row.digest
        )
    assert (asked.state, other.state) == ("consumed", "pending")


@pytest.mark.django_db
def test_a_hundred_approvals_that_ran_out_are_refused(alice: Member) -> None:
    for _ in range(100):
        asked = approved(alice)
        asked.lapse()
        ruling = clear(asked.identity, PLAN)
        assert isinstance(ruling, Denial)
        assert (ruling.reason, ruling.ends_turn) == (
            Reason.APPROVAL_EXPIRED,
            Reason.APPROVAL_EXPIRED,
        )
        assert asked.state == "approved"


@pytest.mark.django_db
@pytest.mark.parametrize("state", [each for each in ApprovalState if each != "approved"])
def test_only_an_approved_call_can_be_used(state: ApprovalState, alice: Member) -> None:
    asked = approved(alice)
    Approval.objects.filter(id=asked.row.id).update(state=state)
    used = approvals.consume(asked.now(), fence=asked.identity.fence, digest=asked.row.digest)
    assert used is Reason.APPROVAL_SETTLED
    assert (asked.state, asked.now().fence) == (state, None)


@pytest.mark.django_db
def test_a_denial_stands_when_nobody_would_be_asked_any_more(alice: Member) -> None:
    asked = asked_about(alice)
    decisions.decide(
        member=alice, approval_id=asked.row.id, decision="deny", digest=asked.row.digest
    )
    asked.resume()
    ruling = clear(asked.identity, PLAN, mode=PolicyMode.ON)
    assert isinstance(ruling, Denial)
    assert ruling.reason is Reason.MEMBER_DENIED


@pytest.mark.django_db
def test_a_worker_that_lost_the_run_uses_no_approval(alice: Member) -> None:
    asked = approved(alice)
    lost = replace(asked.identity, fence=asked.identity.fence - 1)
    with pytest.raises(LeaseLost):
        clear(lost, PLAN)
    assert asked.state == "approved"


def both(first: Callable[[], Any], second: Callable[[], Any]) -> list[Any]:
    """Do two things at the same moment; each answers with its value or what it raised."""
    barrier = Barrier(2)

    def act(what: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return what()
        except Conflict as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(act, (first, second)))


def won(answers: Sequence[Any]) -> list[bool]:
    return [not isinstance(answer, Conflict | Denial | Begun) for answer in answers]


def decision(asked: Asked, what: Any) -> Callable[[], Any]:
    return lambda: decisions.decide(
        member=asked.member, approval_id=asked.row.id, decision=what, digest=asked.row.digest
    )


@pytest.mark.parametrize(
    "pair", [("approve", "deny"), ("approve", "withdraw"), ("deny", "withdraw")]
)
def test_of_two_decisions_at_once_one_counts(
    pair: tuple[str, str], committed_db: None, alice: Member
) -> None:
    for _ in range(RACES):
        asked = asked_about(alice)

        def taken_back(asked: Asked = asked) -> Any:
            return decisions.withdraw(member=asked.member, approval_id=asked.row.id)

        acts = [taken_back if what == "withdraw" else decision(asked, what) for what in pair]
        answers = both(*acts)
        assert sorted(won(answers)) == [False, True]
        (winner,) = [answer for answer in answers if not isinstance(answer, Conflict)]
        assert asked.state == winner.state
        assert asked.claim.state == "queued"


def test_two_questions_answered_at_once_let_their_run_go_on(
    committed_db: None, alice: Member
) -> None:
    for _ in range(RACES):
        asked = asked_about(alice, PLAN, {**PLAN, "title": "Other"})
        acts = [
            lambda row=row: decisions.decide(
                member=alice, approval_id=row.id, decision="approve", digest=row.digest
            )
            for row in asked.rows
        ]
        assert won(both(*acts)) == [True, True]
        assert asked.claim.state == "queued"


def test_of_a_decision_and_the_end_of_its_time_one_counts(
    committed_db: None, alice: Member
) -> None:
    for _ in range(RACES):
        asked = asked_about(alice)
        Approval.objects.filter(id=asked.row.id).update(
            expires_at=Now() + timedelta(milliseconds=2)
        )
        answers = both(decision(asked, "approve"), decisions.expire_due)
        if won(answers)[0]:
            assert asked.state == "approved"
        else:
            decisions.expire_due()
            assert asked.state == "expired"
        assert asked.claim.state == "queued"


def test_two_workers_at_once_make_an_approved_call_once(committed_db: None, alice: Member) -> None:
    for _ in range(RACES):
        asked = approved(alice)

        def make(asked: Asked = asked) -> Any:
            return clear(asked.identity, PLAN)

        assert sorted(won(both(make, make))) == [False, True]
        assert asked.state == "consumed"


def test_of_a_stop_and_the_call_one_comes_first(committed_db: None, alice: Member) -> None:
    for _ in range(RACES):
        asked = approved(alice)

        def stop(asked: Asked = asked) -> Any:
            return inputs.stop(member=alice, conversation_id=asked.identity.conversation_id)

        made, _ = won(both(lambda asked=asked: clear(asked.identity, PLAN), stop))
        assert asked.state == ("consumed" if made else "superseded")
