"""A decision counts once, for the exact call, from the member who is asked."""

from typing import Any

import pytest

from agents.conversations import inputs, keeping
from agents.journal import replay
from agents.members.models import Member
from agents.turns import decisions
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound
from tests.approvals.asking import PLAN, Asked, asked_about

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(alice: Member) -> Asked:
    return asked_about(alice)


def decide(asked: Asked, decision: Any = "approve", **changes: Any) -> Any:
    values = {"member": asked.member, "approval_id": asked.row.id, "digest": asked.row.digest}
    return decisions.decide(**{**values, "decision": decision, **changes})


def settled_frames(asked: Asked) -> list[Any]:
    entries = replay.of_run(asked.identity.run_id)
    return [entry.data for entry in entries if entry.kind == "approval_settled"]


def rows_of(asked: Asked) -> list[tuple[str, str, str]]:
    found = AuditEvent.objects.filter(run_id=asked.identity.run_id, action="approval_settled")
    return list(found.order_by("sequence").values_list("actor", "outcome", "reason"))


@pytest.mark.req("BND-051", "UIX-004")
def test_only_the_member_who_is_asked_can_decide(asked: Asked, bob: Member, ada: Member) -> None:
    for other in (bob, ada):
        with pytest.raises(NotFound):
            decide(asked, member=other)
        with pytest.raises(NotFound):
            decisions.withdraw(member=other, approval_id=asked.row.id)
    asked.member.is_active = False
    with pytest.raises(NotFound):
        decide(asked)
    assert asked.state == "pending"


@pytest.mark.parametrize(
    ("decision", "state", "audited"),
    [
        ("approve", "approved", ("success", "")),
        ("deny", "denied", ("denied", "member_denied")),
    ],
)
def test_a_decision_is_kept_shown_recorded_and_wakes_the_run(
    decision: str, state: str, audited: tuple[str, str], asked: Asked
) -> None:
    assert asked.claim.state == "waiting"
    row = decide(asked, decision, reason="  Too early. ")
    assert (row.state, row.reason, asked.state) == (state, "Too early.", state)
    assert settled_frames(asked) == [
        {
            "approval_id": str(row.id),
            "call_id": "call-0",
            "outcome": state,
            "reason": "Too early.",
        }
    ]
    assert rows_of(asked) == [(asked.member.principal, *audited)]
    assert (asked.claim.state, asked.claim.attempts) == ("queued", 0)


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_the_same_decision_again_answers_the_same_and_another_is_refused(
    decision: str, asked: Asked
) -> None:
    first = decide(asked, decision, reason="No.")
    again = decide(asked, decision)
    assert (again.state, again.reason, again.decided_at) == (
        first.state,
        first.reason,
        first.decided_at,
    )
    with pytest.raises(Conflict) as refused:
        decide(asked, "deny" if decision == "approve" else "approve")
    assert refused.value.reason is Reason.APPROVAL_SETTLED
    assert len(settled_frames(asked)) == len(rows_of(asked)) == 1


def test_another_digest_decides_nothing(asked: Asked) -> None:
    other = asked_about(asked.member, {**PLAN, "content": "08:16 ferry"})
    for digest in (other.row.digest, "", "sha256:0"):
        with pytest.raises(Conflict) as refused:
            decide(asked, digest=digest)
        assert refused.value.reason is Reason.APPROVAL_MISMATCH
    assert asked.state == "pending"


@pytest.mark.req("BND-051")
def test_a_question_lapses_after_fifteen_minutes(asked: Asked) -> None:
    row = asked.row
    assert row.expires_at is not None
    assert 890 < (row.expires_at - row.created_at).total_seconds() <= 900.5
    asked.lapse()
    for decision in ("approve", "deny"):
        with pytest.raises(Conflict) as refused:
            decide(asked, decision)
        assert refused.value.reason is Reason.APPROVAL_EXPIRED
    with pytest.raises(Conflict):
        decisions.withdraw(member=asked.member, approval_id=row.id)
    assert asked.state == "pending"
    assert decisions.expire_due() == 1
    assert (asked.state, asked.claim.state) == ("expired", "queued")
    assert [frame["outcome"] for frame in settled_frames(asked)] == ["expired"]
    assert rows_of(asked) == [("system:approvals", "denied", "approval_expired")]
    assert decisions.expire_due() == 0


def test_a_question_that_has_time_is_left_alone(asked: Asked) -> None:
    assert decisions.expire_due() == 0
    assert (asked.state, asked.claim.state) == ("pending", "waiting")


def test_a_question_can_be_taken_back_until_it_is_decided(asked: Asked) -> None:
    row = decisions.withdraw(member=asked.member, approval_id=asked.row.id)
    assert (row.state, asked.claim.state) == ("withdrawn", "queued")
    again = decisions.withdraw(member=asked.member, approval_id=asked.row.id)
    assert again.decided_at == row.decided_at
    with pytest.raises(Conflict) as refused:
        decide(asked)
    assert refused.value.reason is Reason.APPROVAL_SETTLED
    assert [frame["outcome"] for frame in settled_frames(asked)] == ["withdrawn"]
    assert rows_of(asked) == [(asked.member.principal, "cancelled", "member_denied")]


def test_a_run_goes_on_when_all_its_questions_are_answered(alice: Member) -> None:
    asked = asked_about(alice, PLAN, {**PLAN, "title": "Other"})
    first, second = asked.rows
    decide(asked, approval_id=second.id, digest=second.digest)
    assert asked.claim.state == "waiting"
    decide(asked, approval_id=first.id, digest=first.digest)
    assert asked.claim.state == "queued"


def test_a_denial_settles_the_other_questions_of_its_run(alice: Member) -> None:
    asked = asked_about(alice, PLAN, {**PLAN, "title": "Other"})
    first, second = asked.rows
    decide(asked, "deny", approval_id=second.id, digest=second.digest)
    assert (asked.now(first).state, asked.claim.state) == ("superseded", "queued")
    assert [frame["outcome"] for frame in settled_frames(asked)] == ["denied", "superseded"]


@pytest.mark.req("INP-004")
@pytest.mark.parametrize("end", [inputs.stop, keeping.delete])
def test_stopping_settles_what_waits_and_wakes_the_run(end: Any, asked: Asked) -> None:
    for _ in range(2 if end is inputs.stop else 1):
        end(member=asked.member, conversation_id=asked.identity.conversation_id)
    assert (asked.state, asked.claim.state) == ("superseded", "queued")
    assert asked.claim.stop_requested_at is not None
    assert [frame["outcome"] for frame in settled_frames(asked)] == ["superseded"]
    with pytest.raises(Conflict) as refused:
        decide(asked)
    assert refused.value.reason is Reason.APPROVAL_SETTLED


def test_a_reason_is_bounded(asked: Asked) -> None:
    with pytest.raises(Invalid):
        decide(asked, "deny", reason="x" * 501)
    decide(asked, "deny", reason="x" * 500)


@pytest.mark.req("BND-051")
def test_a_call_nobody_watches_is_asked_about_when_its_member_comes(alice: Member) -> None:
    asked = asked_about(alice, watched=False)
    assert (asked.state, asked.row.expires_at) == ("unasked", None)
    with pytest.raises(Conflict) as refused:  # nobody has seen it yet
        decide(asked)
    assert refused.value.reason is Reason.APPROVAL_SETTLED
    assert decisions.expire_due() == 0
    for _ in range(2):
        decisions.answer(member=alice, approval_id=asked.row.id)
    assert (asked.state, asked.claim.state) == ("answered", "queued")
    assert settled_frames(asked) == []
    with pytest.raises(Conflict):
        decisions.answer(member=alice, approval_id=asked_about(alice).row.id)
