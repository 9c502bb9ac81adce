"""Messages to a running turn: accepted while it lives, applied once in order, or refused once."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.db.models.functions import Now

from agents.conversations import inputs, steers
from agents.conversations.models import Input, Steer
from agents.engine.effects import Settle, Terminal
from agents.journal import replay
from agents.members.models import Member
from agents.turns import answers, steering
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from agents.turns.models import Turn
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tests.turns.admitting import asked, prepare, took
from tools.effects.claims import Claim, LeaseLost
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ground() -> None:
    prepare()


@pytest.fixture
def turn(alice: Member) -> Admitted:
    """A turn that is being worked for alice."""
    return took(asked(alice))


def tell(member: Member, turn: Admitted, text: str, **more: Any) -> steers.Accepted:
    told = {
        "conversation_id": turn.identity.conversation_id,
        "turn_id": turn.claim.run_id,
        "key": secrets.token_hex(8),
        **more,
    }
    return steers.accept(member=member, message=text, **told)


def frames(turn: Admitted, *kinds: str) -> list[dict[str, Any]]:
    return [entry.data for entry in replay.of_run(turn.claim.run_id) if entry.kind in kinds]


def state(accepted: steers.Accepted) -> tuple[str, str]:
    row = Steer.objects.get(id=accepted.steer_id)
    return row.state, row.reason


def settle(turn: Admitted, terminal: Terminal, reason: str = "") -> None:
    answers.settle(turn, Pending(), Settle(terminal, reason), Spent())


def taken_over(claim: Claim) -> Claim:
    """The same run under its next worker's fence."""
    RunClaim.objects.filter(run_id=claim.run_id).update(fence=F("fence") + 1)
    return Claim(claim.run_id, claim.fence + 1, claim.attempts + 1)


@pytest.mark.req("INP-001", "INP-002")
def test_a_live_turn_is_told_once_for_a_key(alice: Member, turn: Admitted) -> None:
    first = tell(alice, turn, "Only morning ones.", key="k1")
    again = tell(alice, turn, "Only morning ones.", key="k1")
    assert (again.steer_id, again.number, again.created) == (first.steer_id, first.number, False)
    with pytest.raises(Refusal) as refused:
        tell(alice, turn, "Only evening ones.", key="k1")
    assert refused.value.reason is Reason.IDEMPOTENCY_CONFLICT
    assert frames(turn, "steer_accepted") == [
        {
            "steer_id": str(first.steer_id),
            "message": "Only morning ones.",
            "turn_id": str(turn.claim.run_id),
        }
    ]


@pytest.mark.req("INP-002")
@pytest.mark.parametrize(
    "change",
    [
        {"lease_until": Now() - timedelta(milliseconds=1)},
        {"lease_until": None, "state": "queued"},
        {"lease_until": None, "state": "waiting"},
        {"settled_at": Now()},
        {"stop_requested_at": Now()},
    ],
    ids=["lease run out", "given back", "waiting", "settled", "told to stop"],
)
def test_a_turn_without_a_live_lease_is_told_nothing(
    alice: Member, turn: Admitted, change: dict[str, Any]
) -> None:
    RunClaim.objects.filter(run_id=turn.claim.run_id).update(**change)
    with pytest.raises(Conflict) as refused:
        tell(alice, turn, "Only morning ones.")
    assert refused.value.reason is Reason.TURN_NOT_LIVE
    assert not Steer.objects.filter(run_id=turn.claim.run_id).exists()


@pytest.mark.req("INP-002")
def test_only_the_turns_own_member_in_its_own_conversation_tells_it(
    alice: Member, charlie: Member, turn: Admitted
) -> None:
    with pytest.raises(NotFound):
        tell(charlie, turn, "Mine.")
    elsewhere = inputs.open_conversation(member=alice).id
    with pytest.raises(Conflict):
        tell(alice, turn, "Here.", conversation_id=elsewhere)
    hers = inputs.open_conversation(member=charlie).id
    with pytest.raises(Conflict):
        tell(charlie, turn, "Mine.", conversation_id=hers)


def test_a_run_that_sums_up_cannot_be_told_anything(alice: Member, turn: Admitted) -> None:
    Input.objects.filter(run_id=turn.claim.run_id).update(kind="compaction")
    with pytest.raises(Conflict):
        tell(alice, turn, "Only morning ones.")


@pytest.mark.parametrize("text", ["", "  \n", "x" * 32_001])
def test_a_message_that_cannot_be_is_refused(alice: Member, turn: Admitted, text: str) -> None:
    with pytest.raises(Invalid):
        tell(alice, turn, text)


def test_more_than_ten_do_not_wait(alice: Member, turn: Admitted) -> None:
    for number in range(10):
        tell(alice, turn, f"{number}")
    with pytest.raises(Refusal) as refused:
        tell(alice, turn, "one more")
    assert refused.value.reason is Reason.LIMIT_REACHED
    assert len(steering.take(turn.claim)) == 10


@pytest.mark.req("INP-003")
def test_steers_are_applied_once_in_the_order_of_acceptance(alice: Member, turn: Admitted) -> None:
    told = [tell(alice, turn, text) for text in ("first", "second", "third")]
    taken = steering.take(turn.claim)
    assert [steer.message for steer in taken] == ["first", "second", "third"]
    assert [steer.number for steer in taken] == sorted(each.number for each in told)
    answers.commit(turn, Pending(), steers=taken)
    assert steering.take(turn.claim) == []
    answers.commit(turn, Pending(), steers=taken)
    assert frames(turn, "steer_applied") == [{"steer_id": str(each.steer_id)} for each in told]


@pytest.mark.req("INP-003")
def test_what_a_lost_worker_had_claimed_is_applied_once_by_the_next(
    alice: Member, turn: Admitted
) -> None:
    told = tell(alice, turn, "Only morning ones.")
    lost = steering.take(turn.claim)
    claim = taken_over(turn.claim)
    with pytest.raises(LeaseLost):
        answers.commit(turn, Pending(), steers=lost)
    assert steering.take(turn.claim) == []
    taken = steering.take(claim)
    assert [steer.id for steer in taken] == [told.steer_id]
    assert [draft.data for draft in steering.apply(claim, taken)] == [
        {"steer_id": str(told.steer_id)}
    ]
    assert state(told) == ("applied", "")


def test_a_claimed_message_is_its_authors_again_when_handing_over_takes_too_long(
    alice: Member, turn: Admitted
) -> None:
    told = tell(alice, turn, "Only morning ones.")
    place = {"member": alice, "conversation_id": turn.identity.conversation_id}
    taken = steering.take(turn.claim)
    with pytest.raises(Conflict):
        steers.withdraw(**place, steer_id=told.steer_id)
    row = Steer.objects.get(id=told.steer_id)
    assert row.claimed_until is not None
    assert 14 < (row.claimed_until - row.created_at).total_seconds() < 60
    Steer.objects.filter(id=told.steer_id).update(claimed_until=Now() - timedelta(seconds=1))
    steers.withdraw(**place, steer_id=told.steer_id)
    answers.commit(turn, Pending(), steers=taken)
    assert frames(turn, "steer_applied") == []


def test_a_waiting_message_can_be_changed_and_withdrawn(alice: Member, turn: Admitted) -> None:
    place = {"member": alice, "conversation_id": turn.identity.conversation_id}
    one, two = tell(alice, turn, "one"), tell(alice, turn, "two")
    steers.edit(**place, steer_id=one.steer_id, message="first")
    for _ in range(2):
        steers.withdraw(**place, steer_id=two.steer_id)
    assert frames(turn, "steer_rejected") == [
        {"steer_id": str(two.steer_id), "reason": "withdrawn"}
    ]
    assert [data["message"] for data in frames(turn, "steer_accepted")] == ["one", "two", "first"]
    assert [(steer.id, steer.message) for steer in steering.take(turn.claim)] == [
        (one.steer_id, "first")
    ]


def test_nobody_else_changes_a_message(alice: Member, charlie: Member, turn: Admitted) -> None:
    told = tell(alice, turn, "one")
    place = {"member": charlie, "conversation_id": turn.identity.conversation_id}
    with pytest.raises(NotFound):
        steers.edit(**place, steer_id=told.steer_id, message="mine")
    with pytest.raises(NotFound):
        steers.withdraw(**place, steer_id=told.steer_id)


@pytest.mark.req("INP-003")
def test_a_turn_does_not_end_as_usual_while_it_has_been_told_something(
    alice: Member, turn: Admitted
) -> None:
    tell(alice, turn, "Only morning ones.")
    with pytest.raises(steering.SteersWaiting):
        settle(turn, Terminal.COMPLETED)
    steering.take(turn.claim)
    with pytest.raises(steering.SteersWaiting):
        settle(turn, Terminal.COMPLETED)
    assert Turn.objects.get(id=turn.claim.run_id).terminal == ""
    assert frames(turn, "agent_run_completed") == []
    answers.commit(turn, Pending(), steers=steering.take(turn.claim))
    settle(turn, Terminal.COMPLETED)
    assert len(frames(turn, "agent_run_completed")) == 1


@pytest.mark.parametrize(
    ("terminal", "reason"),
    [(Terminal.FAILED, "timeout"), (Terminal.CANCELLED, "stopped")],
)
def test_a_turn_that_fails_or_is_stopped_says_what_it_never_heard(
    alice: Member, turn: Admitted, terminal: Terminal, reason: str
) -> None:
    told = [tell(alice, turn, text) for text in ("one", "two")]
    steering.take(turn.claim)
    settle(turn, terminal, reason)
    assert frames(turn, "steer_rejected") == [
        {"steer_id": str(each.steer_id), "reason": reason} for each in told
    ]
    assert {state(each) for each in told} == {("rejected", reason)}
    kinds = [entry.kind for entry in replay.of_run(turn.claim.run_id)]
    assert kinds[-1] == f"agent_run_{terminal}"
