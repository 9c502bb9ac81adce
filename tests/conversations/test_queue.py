"""What waits for its turn: listed, changed, taken back, or told to the running turn."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models.functions import Now

from agents.conversations import inputs, queue, search, steers
from agents.conversations.inputs import Accepted
from agents.conversations.models import Conversation, Input, Steer
from agents.journal import replay
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tests.conversations.conftest import Ask
from tools.effects import claims
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


def worked(accepted: Accepted) -> None:
    """As if a worker had begun it."""
    RunClaim.objects.filter(run_id=accepted.run_id).update(
        state="running", fence=1, lease_until=Now() + timedelta(minutes=1)
    )
    Input.objects.filter(id=accepted.input_id).update(status="active")


@pytest.fixture
def place(alice: Member, conversation: Conversation) -> dict[str, Any]:
    return {"member": alice, "conversation_id": conversation.id}


@pytest.fixture
def three(ask: Ask) -> list[Accepted]:
    """One that is worked and two that wait."""
    accepted = [ask(text, text) for text in ("one", "two", "three")]
    worked(accepted[0])
    return accepted


def listed(place: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item["input_id"], item["message"]) for item in queue.listed(**place)]


def frames(accepted: Accepted) -> list[tuple[str, Any]]:
    return [(entry.kind, entry.data) for entry in replay.of_run(accepted.run_id)][1:]


@pytest.mark.req("INP-004")
def test_what_waits_is_listed_in_order(place: dict[str, Any], three: list[Accepted]) -> None:
    assert queue.listed(**place) == [
        {"input_id": str(each.input_id), "message": text, "position": each.position}
        for each, text in zip(three[1:], ("two", "three"), strict=True)
    ]


def test_what_waits_can_be_changed_and_says_so(
    place: dict[str, Any], three: list[Accepted]
) -> None:
    queue.edit(**place, input_id=three[1].input_id, message="second")
    queue.edit(**place, input_id=three[1].input_id, message="second")
    assert listed(place) == [(str(three[1].input_id), "second"), (str(three[2].input_id), "three")]
    assert frames(three[1]) == [("queue_changed", {"items": queue.listed(**place)})]
    assert Input.objects.get(id=three[1].input_id).message == "second"


@pytest.mark.parametrize("text", ["", " ", "x" * 32_001])
def test_a_message_that_cannot_be_is_refused(
    place: dict[str, Any], three: list[Accepted], text: str
) -> None:
    with pytest.raises(Invalid):
        queue.edit(**place, input_id=three[1].input_id, message=text)


def test_what_waits_can_be_taken_back_once(place: dict[str, Any], three: list[Accepted]) -> None:
    for _ in range(2):
        queue.withdraw(**place, input_id=three[1].input_id)
    assert listed(place) == [(str(three[2].input_id), "three")]
    assert [kind for kind, _ in frames(three[1])] == ["agent_run_cancelled", "queue_changed"]
    assert frames(three[1])[0][1]["reason"] == "withdrawn"
    claim = RunClaim.objects.get(run_id=three[1].run_id)
    assert claim.settled_at is not None
    assert Input.objects.get(id=three[1].input_id).status == "cancelled"


def test_what_comes_next_does_not_follow_on_what_was_taken_back(
    place: dict[str, Any], three: list[Accepted], ask: Ask
) -> None:
    queue.withdraw(**place, input_id=three[2].input_id)
    following = ask("four", "four")
    assert Input.objects.get(id=following.input_id).parent_id == three[1].input_id


@pytest.mark.parametrize("act", ["edit", "withdraw", "tell"])
def test_what_is_worked_cannot_be_changed(
    place: dict[str, Any], three: list[Accepted], act: str
) -> None:
    more = {"message": "else"} if act == "edit" else {}
    with pytest.raises(Conflict) as refused:
        getattr(queue, act)(**place, input_id=three[0].input_id, **more)
    assert refused.value.reason is Reason.CONFLICT
    assert frames(three[0]) == []


@pytest.mark.parametrize("act", ["edit", "withdraw", "tell"])
def test_nobody_else_finds_it(
    place: dict[str, Any], three: list[Accepted], charlie: Member, act: str
) -> None:
    more = {"message": "else"} if act == "edit" else {}
    with pytest.raises(NotFound):
        getattr(queue, act)(**{**place, "member": charlie}, input_id=three[1].input_id, **more)
    with pytest.raises(NotFound):
        queue.listed(**{**place, "member": charlie})


def test_what_waits_can_be_told_to_the_running_turn_instead(
    place: dict[str, Any], three: list[Accepted]
) -> None:
    told = [queue.tell(**place, input_id=three[1].input_id) for _ in range(2)]
    assert told[0].steer_id == told[1].steer_id
    steer = Steer.objects.get(id=told[0].steer_id)
    assert (steer.run_id, steer.message, steer.state) == (three[0].run_id, "two", "pending")
    assert frames(three[1])[0][1]["reason"] == "steered"
    assert listed(place) == [(str(three[2].input_id), "three")]


def test_without_a_running_turn_nothing_is_lost(place: dict[str, Any], ask: Ask) -> None:
    waiting = ask("one", "one")
    with pytest.raises(Conflict) as refused:
        queue.tell(**place, input_id=waiting.input_id)
    assert refused.value.reason is Reason.TURN_NOT_LIVE
    assert listed(place) == [(str(waiting.input_id), "one")]
    worked(waiting)
    RunClaim.objects.filter(run_id=waiting.run_id).update(lease_until=Now())
    second = ask("two", "two")
    with pytest.raises(Conflict):
        queue.tell(**place, input_id=second.input_id)
    assert listed(place) == [(str(second.input_id), "two")]


def test_a_stop_ends_what_waits_here_and_now(place: dict[str, Any], three: list[Accepted]) -> None:
    assert set(inputs.stop(**place)) == {each.run_id for each in three}
    assert [frames(each) for each in three[1:]] == [
        [
            (
                "agent_run_cancelled",
                {
                    "reason": "stopped",
                    "message": "Stopped.",
                    "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
                },
            )
        ]
    ] * 2
    assert listed(place) == []
    assert frames(three[0]) == []
    assert inputs.stop(**place) == [three[0].run_id]
    assert claims.claim("tests", limit=10, lease_s=1) == []


def test_search_does_not_find_words_that_were_changed_or_taken_back(
    place: dict[str, Any], ask: Ask, alice: Member
) -> None:
    worked(ask("one", "one"))
    waiting = [ask(text, text) for text in ("apricots", "peaches", "plums")]
    queue.edit(**place, input_id=waiting[0].input_id, message="cherries")
    queue.withdraw(**place, input_id=waiting[1].input_id)
    found = {
        word: len(search.search(member=alice, text=word, limit=5))
        for word in ("apricots", "peaches", "plums")
    }
    assert found == {"apricots": 0, "peaches": 0, "plums": 1}


def steered(place: dict[str, Any], turn: Accepted, text: str = "Only mornings.") -> UUID:
    return steers.accept(**place, turn_id=turn.run_id, message=text, key=text).steer_id


@pytest.mark.req("INP-004")
def test_what_a_turn_was_told_is_asked_afterwards_once(
    place: dict[str, Any], three: list[Accepted]
) -> None:
    steer_id = steered(place, three[0])
    asked = queue.put(**place, steer_id=steer_id)
    queue.edit(**place, input_id=asked.input_id, message="Mornings, please.")
    again = queue.put(**place, steer_id=steer_id)
    assert (again.input_id, again.position) == (asked.input_id, asked.position)
    assert (asked.created, again.created) == (True, False)
    assert listed(place)[2:] == [(str(asked.input_id), "Mornings, please.")]
    row = Steer.objects.get(id=steer_id)
    assert (row.state, row.reason) == ("rejected", "withdrawn")
    assert [kind for kind, _ in frames(three[0])] == ["steer_accepted", "steer_rejected"]
    assert not RunClaim.objects.get(run_id=asked.run_id).settled_at


def test_a_turn_is_still_told_what_there_is_no_room_to_ask(
    place: dict[str, Any], three: list[Accepted], ask: Ask
) -> None:
    steer_id = steered(place, three[0])
    for number in range(int(inputs.MAX_OPEN_INPUTS) - len(three)):
        ask(f"more {number}", f"more {number}")
    with pytest.raises(Refusal) as refused:
        queue.put(**place, steer_id=steer_id)
    assert refused.value.reason is Reason.LIMIT_REACHED
    assert Steer.objects.get(id=steer_id).state == "pending"
    assert [kind for kind, _ in frames(three[0])] == ["steer_accepted"]


@pytest.mark.parametrize("state", ["claimed", "applied"])
def test_what_the_turn_has_already_is_not_asked_again(
    place: dict[str, Any], three: list[Accepted], state: str
) -> None:
    steer_id = steered(place, three[0])
    Steer.objects.filter(id=steer_id).update(
        state=state, claimed_until=Now() + timedelta(minutes=1) if state == "claimed" else None
    )
    with pytest.raises(Conflict):
        queue.put(**place, steer_id=steer_id)
    assert len(listed(place)) == 2


def test_what_was_withdrawn_is_not_asked(place: dict[str, Any], three: list[Accepted]) -> None:
    steer_id = steered(place, three[0])
    steers.withdraw(**place, steer_id=steer_id)
    with pytest.raises(Conflict):
        queue.put(**place, steer_id=steer_id)
    assert len(listed(place)) == 2


def test_nobody_else_asks_what_was_told(
    place: dict[str, Any], three: list[Accepted], charlie: Member
) -> None:
    steer_id = steered(place, three[0])
    for foreign in (
        {**place, "member": charlie, "steer_id": steer_id},
        {**place, "steer_id": uuid4()},
    ):
        with pytest.raises(NotFound):
            queue.put(**foreign)
    assert Steer.objects.get(id=steer_id).state == "pending"
