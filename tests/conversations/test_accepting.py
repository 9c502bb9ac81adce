"""What acceptance writes, whom it answers, and what it refuses."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from guardian.shortcuts import assign_perm, remove_perm

from agents.conversations import inputs, keeping
from agents.conversations.models import Conversation, Input
from agents.definitions import bundling, versions
from agents.definitions.models import Agent
from agents.journal import replay
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound, Refusal
from tests.conversations.conftest import Ask
from tools.effects.models import RunClaim

pytestmark = pytest.mark.django_db

# begin, lock, keys and queue, agent, entry, input, run, conversation, commit
STATEMENTS_A_NEW_INPUT = 9


def agent_of(member: Member, name: str = "Helper", **more: Any) -> Agent:
    content = {"name": name, "persona": "You help.", **more}
    return versions.create(actor=member, content=content).agent


def unusable(ask: Ask, named: str) -> bool:
    """Whether an agent is refused as if it did not exist."""
    with pytest.raises(Invalid) as refused:
        ask("Hello", uuid4().hex, agent=named)
    return refused.value.fields == [{"field": "agent", "reason": "not_found"}]


def test_one_acceptance_writes_the_input_the_entry_and_the_run(
    ask: Ask, alice: Member, conversation: Conversation
) -> None:
    accepted = ask("Hello", "k1")
    row = Input.objects.get(id=accepted.input_id)
    assert (row.message, row.status, row.run_id) == ("Hello", "queued", accepted.run_id)
    (entry,) = replay.after(conversation.id, 0)
    assert (entry.kind, entry.position, entry.run_id, entry.input_id) == (
        "input_accepted",
        accepted.position,
        accepted.run_id,
        accepted.input_id,
    )
    assert entry.data == {
        "kind": "message",
        "message": "Hello",
        "agent": {"id": str(bundling.default_agent_id()), "name": "Kaizen"},
        "author": {"id": str(alice.pk), "name": "Alice"},
        "parent": None,
        "replaces": None,
    }
    run = RunClaim.objects.get(run_id=accepted.run_id)
    assert (run.lane, run.ordinal, run.state) == (conversation.id, accepted.position, "queued")


def test_a_refused_input_writes_nothing(ask: Ask, conversation: Conversation) -> None:
    with pytest.raises(Invalid):
        ask("Hello", "k1", agent=str(uuid4()))
    assert replay.head(conversation.id) == 0
    assert not Input.objects.exists()
    assert not RunClaim.objects.filter(lane=conversation.id).exists()


def test_a_new_input_costs_a_fixed_number_of_statements(ask: Ask) -> None:
    ask("Warm up", "k0")
    with CaptureQueriesContext(connection) as few:
        ask("Hello", "k1")
    for number in range(5):
        ask("More", f"m{number}")
    with CaptureQueriesContext(connection) as many:
        ask("Hello", "k2")
    assert (len(few), len(many)) == (STATEMENTS_A_NEW_INPUT, STATEMENTS_A_NEW_INPUT), [
        query["sql"][:90] for query in few
    ]


@pytest.mark.req("REPO-003")
def test_foreign_deleted_and_missing_conversations_are_refused_alike(
    ask: Ask, alice: Member, charlie: Member, conversation: Conversation
) -> None:
    deleted = inputs.open_conversation(member=charlie)
    keeping.delete(member=charlie, conversation_id=deleted.id)
    told = {refusal(ask, charlie, where) for where in (conversation.id, deleted.id, uuid4())}
    assert len(told) == 1
    assert replay.head(conversation.id) == 0


def refusal(ask: Ask, member: Member, where: UUID) -> tuple[object, ...]:
    with pytest.raises(NotFound) as asked:
        ask("Hello", "k1", member=member, where=where)
    with pytest.raises(NotFound) as stopped:
        inputs.stop(member=member, conversation_id=where)
    return (
        asked.value.reason,
        asked.value.message,
        stopped.value.reason,
        stopped.value.message,
    )


def test_an_agent_is_named_by_id_or_name_and_stays_chosen(
    ask: Ask, alice: Member, conversation: Conversation
) -> None:
    helper = agent_of(alice)
    by_name = ask("Hello", "k1", agent="Helper")
    by_id = ask("Hello", "k2", agent=str(helper.id))
    by_default = ask("Hello", "k3")
    chosen = Input.objects.filter(run_id__in=[by_name.run_id, by_id.run_id, by_default.run_id])
    assert {row.agent_id for row in chosen} == {helper.id}
    conversation.refresh_from_db()
    assert conversation.agent_id == helper.id


def test_unusable_agents_look_missing(ask: Ask, alice: Member, bob: Member) -> None:
    foreign = agent_of(bob, "Private")
    gone = agent_of(alice, "Gone")
    versions.delete(actor=alice, agent_id=gone.id)
    for named in (str(foreign.id), "Private", str(gone.id), "Gone", "Nobody"):
        assert unusable(ask, named), named
    assert unusable(ask, str(uuid4()))
    assert unusable(ask, "")


@pytest.mark.req("AGT-010")
def test_a_conversation_stays_with_agents_of_one_mode(ask: Ask, alice: Member) -> None:
    searching = agent_of(alice, "Finder", mode="search")
    other = agent_of(alice, "Seeker", mode="search")
    assert unusable(ask, "Finder"), "a name means an agent to chat with"
    ask("Where?", "k1", agent=str(searching.id))
    ask("And where now?", "k2", agent=str(other.id))
    assert unusable(ask, str(agent_of(alice, "Helper").id))


@pytest.mark.req("AGT-010")
def test_a_chat_is_not_answered_by_an_agent_that_searches(ask: Ask, alice: Member) -> None:
    ask("Hello", "k1", agent=str(agent_of(alice, "Helper").id))
    searching = agent_of(alice, "Finder", mode="search")
    assert unusable(ask, str(searching.id))
    versions.delete(actor=alice, agent_id=Agent.objects.get(name="Helper").id)
    assert unusable(ask, str(searching.id)), "also when the agent it talked to is gone"


def test_a_name_that_cannot_be_stored_is_refused(ask: Ask) -> None:
    with pytest.raises(Refusal) as refused:
        ask("Hello", "k1", agent="nul \x00")
    assert refused.value.reason == Reason.BAD_JSON


def test_a_shared_agent_serves_until_the_share_ends(ask: Ask, alice: Member, bob: Member) -> None:
    shared = agent_of(bob, "Shared")
    assign_perm("definitions.use_agent", alice, shared)
    assert ask("Hello", "k1", agent=str(shared.id)).created
    remove_perm("definitions.use_agent", alice, shared)
    assert unusable(ask, str(shared.id))
    with pytest.raises(Invalid):  # also as the conversation's own agent
        ask("Hello", "k2")


def test_a_members_own_agent_cannot_stand_in_for_a_bundled_one(ask: Ask, alice: Member) -> None:
    agent_of(alice, "Kaizen")
    accepted = ask("Hello", "k1", agent="Kaizen")
    assert Input.objects.get(id=accepted.input_id).agent_id == bundling.default_agent_id()


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "missing_field"), (" \n\t ", "missing_field"), ("x" * 32_001, "too_long")],
)
def test_a_message_has_words_and_an_end(ask: Ask, text: str, reason: str) -> None:
    with pytest.raises(Invalid) as refused:
        ask(text, "k1")
    assert refused.value.fields == [{"field": "message", "reason": reason}]


def test_the_longest_message_is_kept_whole(ask: Ask) -> None:
    longest = "é" * 32_000
    assert Input.objects.get(id=ask(longest, "k1").input_id).message == longest


@pytest.mark.parametrize("text", ["nul \x00", "half \ud800"])
def test_what_cannot_be_stored_is_refused_with_a_reason(
    ask: Ask, conversation: Conversation, text: str
) -> None:
    with pytest.raises(Refusal) as refused:
        ask(text, "k1")
    assert refused.value.reason == Reason.BAD_JSON
    assert replay.head(conversation.id) == 0


@pytest.mark.parametrize("text", ["\u202eevil", "<script>", "😀" * 50, "'; DROP TABLE x; --"])
def test_anything_else_is_stored_as_it_came(ask: Ask, text: str) -> None:
    assert Input.objects.get(id=ask(text, "k1").input_id).message == text


def test_ten_messages_may_wait(ask: Ask) -> None:
    first, *_ = [ask("Hello", f"k{number}") for number in range(inputs.MAX_OPEN_INPUTS)]
    with pytest.raises(Refusal) as refused:
        ask("Hello", "one more")
    assert refused.value.reason == Reason.LIMIT_REACHED
    assert not ask("Hello", "k0").created  # a repeat is not one more
    Input.objects.filter(id=first.input_id).update(status="completed")
    assert ask("Hello", "one more").created


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  What\n is   this? ", "What is this?"),
        ("word " * 40, "word " * 11 + "word…"),
        ("x" * 80, "x" * 60 + "…"),
    ],
)
def test_the_first_message_gives_the_title(
    ask: Ask, conversation: Conversation, text: str, title: str
) -> None:
    ask(text, "k1")
    ask("Another subject", "k2")
    conversation.refresh_from_db()
    assert conversation.title == title
