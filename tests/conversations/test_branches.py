"""Edit, retry and branches: siblings beside what they replace, and one branch that is shown."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models.functions import Now

from agents.conversations import branches, inputs, search
from agents.conversations.inputs import Accepted
from agents.conversations.models import Conversation, Input
from agents.definitions import versions
from agents.journal import replay
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tests.conversations.conftest import Ask
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db


@pytest.fixture
def said(ask: Ask) -> Any:
    """Ask something and have it answered: `said("Hello")`."""

    def say(text: str, **more: Any) -> Accepted:
        accepted = ask(text, uuid4().hex, **more)
        end(accepted)
        return accepted

    return say


def end(accepted: Accepted, status: str = "completed") -> None:
    Input.objects.filter(id=accepted.input_id).update(status=status)
    RunClaim.objects.filter(run_id=accepted.run_id).update(state="settled", settled_at=Now())


def row(accepted: Accepted) -> Input:
    return Input.objects.get(id=accepted.input_id)


def active(conversation: Conversation) -> UUID | None:
    return Conversation.objects.get(id=conversation.id).active_input_id


def accepted_frame(accepted: Accepted) -> dict[str, Any]:
    return replay.of_run(accepted.run_id)[0].data


def test_inputs_follow_on_one_another(said: Any, conversation: Conversation) -> None:
    first, second = said("one"), said("two")
    assert (row(first).parent_id, row(second).parent_id) == (None, first.input_id)
    assert active(conversation) == second.input_id
    assert accepted_frame(second)["parent"] == str(first.input_id)
    assert accepted_frame(second)["replaces"] is None


def test_an_edit_stands_beside_what_it_replaces(said: Any, conversation: Conversation) -> None:
    first, second, third = said("one"), said("two"), said("three")
    edited = said("zwei", replaces=second.input_id)
    assert row(edited).parent_id == first.input_id
    assert row(edited).replaces_id == second.input_id
    frame = accepted_frame(edited)
    assert (frame["parent"], frame["replaces"]) == (str(first.input_id), str(second.input_id))
    assert active(conversation) == edited.input_id
    assert [row(each).message for each in (second, third)] == ["two", "three"]
    following = said("four")
    assert row(following).parent_id == edited.input_id


def test_a_retry_is_asked_of_the_same_agent(
    ask: Ask, alice: Member, conversation: Conversation
) -> None:
    agent_id = versions.create(actor=alice, content={"name": "Ferry", "persona": "Help."}).agent_id
    first = ask("one", "k1", agent=str(agent_id))
    end(first, "failed")
    Conversation.objects.filter(id=conversation.id).update(agent=None)
    again = ask("one", "k2", replaces=first.input_id)
    assert (row(again).agent_id, row(again).message) == (agent_id, "one")


def test_while_an_answer_is_worked_nothing_branches(
    ask: Ask, said: Any, alice: Member, conversation: Conversation
) -> None:
    first = said("one")
    other = said("eins", replaces=first.input_id)
    ask("two", "k2")
    with pytest.raises(Conflict) as refused:
        ask("uno", "k3", replaces=first.input_id)
    assert refused.value.reason is Reason.TURN_OPEN
    with pytest.raises(Conflict):
        branches.select(member=alice, conversation_id=conversation.id, input_id=first.input_id)
    assert Input.objects.filter(conversation=conversation).count() == 3
    assert row(other).replaces_id == first.input_id


def test_a_repeat_of_an_edit_is_the_edit(ask: Ask, said: Any) -> None:
    first = said("one")
    edited = ask("eins", "k2", replaces=first.input_id)
    assert ask("eins", "k2", replaces=first.input_id).input_id == edited.input_id
    with pytest.raises(Refusal) as refused:
        ask("eins", "k2")
    assert refused.value.reason is Reason.IDEMPOTENCY_CONFLICT


@pytest.mark.parametrize("which", ["missing", "of another conversation"])
def test_only_an_input_of_the_conversation_can_be_replaced(
    ask: Ask, alice: Member, conversation: Conversation, which: str
) -> None:
    replaced = uuid4()
    if which != "missing":
        elsewhere = inputs.open_conversation(member=alice)
        replaced = ask("there", "k1", where=elsewhere.id).input_id
    with pytest.raises(Invalid) as refused:
        ask("here", "k2", replaces=replaced)
    assert refused.value.fields == [{"field": "replaces", "reason": "not_found"}]
    with pytest.raises(Invalid):
        branches.select(member=alice, conversation_id=conversation.id, input_id=replaced)


def test_a_branch_is_shown_down_to_its_newest_end(
    said: Any, alice: Member, conversation: Conversation
) -> None:
    place = {"member": alice, "conversation_id": conversation.id}
    root = said("root")
    one, two = said("one"), said("two")
    later = said("zwei", replaces=two.input_id)
    other = said("eins", replaces=one.input_id)
    assert branches.select(**place, input_id=one.input_id) == later.input_id
    assert active(conversation) == later.input_id
    assert row(said("on")).parent_id == later.input_id
    assert branches.select(**place, input_id=other.input_id) == other.input_id
    before = replay.head(conversation.id)
    assert branches.select(**place, input_id=root.input_id) == other.input_id
    assert replay.head(conversation.id) == before


def test_a_choice_of_branch_is_journaled(
    said: Any, alice: Member, conversation: Conversation
) -> None:
    one = said("one")
    said("eins", replaces=one.input_id)
    branches.select(member=alice, conversation_id=conversation.id, input_id=one.input_id)
    last = replay.after(conversation.id, 0)[-1]
    assert (last.kind, last.data) == (
        "notice",
        {"code": "branch_selected", "input_id": str(one.input_id), "end": str(one.input_id)},
    )


def test_nobody_else_chooses(said: Any, charlie: Member, conversation: Conversation) -> None:
    one = said("one")
    with pytest.raises(NotFound):
        branches.select(member=charlie, conversation_id=conversation.id, input_id=one.input_id)


def test_search_finds_every_branch(said: Any, alice: Member) -> None:
    one = said("apricots")
    said("peaches", replaces=one.input_id)
    for word in ("apricots", "peaches"):
        hits = search.search(member=alice, text=word, limit=5)
        assert word in {hit.text for hit in hits}


def test_summing_up_is_a_run_of_its_own(
    said: Any, ask: Ask, alice: Member, conversation: Conversation
) -> None:
    place = {"member": alice, "conversation_id": conversation.id}
    with pytest.raises(Conflict):
        inputs.compact(**place, key="k0")
    said("one")
    accepted = inputs.compact(**place, key="k1")
    assert inputs.compact(**place, key="k1").input_id == accepted.input_id
    assert (row(accepted).kind, row(accepted).message) == ("compaction", "")
    assert accepted_frame(accepted)["kind"] == "compaction"
    with pytest.raises(Conflict) as refused:
        inputs.compact(**place, key="k2")
    assert refused.value.reason is Reason.TURN_OPEN
    end(accepted)
    with pytest.raises(Conflict) as refused:
        inputs.compact(**place, key="k3")
    assert refused.value.reason is Reason.CONFLICT
    assert row(said("two")).parent_id == accepted.input_id
