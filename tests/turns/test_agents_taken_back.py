"""An agent that is taken back works no further for those who lose it: at once and everywhere."""

import secrets
import time
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from agents.conversations.inputs import Accepted
from agents.definitions import publication, sharing, versions
from agents.definitions.sharing import Holder, Kind, Right
from agents.journal.frames import TERMINALS
from agents.members import accounts
from agents.members.models import Member
from agents.turns import authority
from audit.refusals import Invalid
from tests.patience import promised
from tests.turns.conftest import Desk
from tools.boundary.contract import RunIdentity

SEEN_S = 5.0  # from taking back to the end of what runs


def agent_of(owner: Member, **more: object) -> UUID:
    name = f"Ferry {secrets.token_hex(4)}"
    return versions.create(actor=owner, content={"name": name, "persona": "Help.", **more}).agent_id


def lend(owner: Member, agent_id: UUID, *members: Member, right: Right = Right.USE) -> None:
    wanted = {Holder(Kind.MEMBER, member.pk): frozenset({right}) for member in members}
    sharing.change(actor=owner, agent_id=agent_id, wanted=wanted)


def streaming(desk: Desk, agent_id: UUID) -> Accepted:
    """A turn that has begun to answer and would never end."""
    word = secrets.token_hex(8)
    with desk.listening() as wait_for:
        asked = desk.ask(f"say: {word}\nhold: {word}\n", agent=str(agent_id))
        wait_for(word)
    return asked


def take_back(owner: Member, agent_id: UUID, bob: Member, ada: Member) -> None:
    lend(owner, agent_id)


def delete(owner: Member, agent_id: UUID, bob: Member, ada: Member) -> None:
    versions.delete(actor=owner, agent_id=agent_id)


def deactivate(owner: Member, agent_id: UUID, bob: Member, ada: Member) -> None:
    accounts.change(actor=ada.principal, member=bob, display_name=bob.display_name, is_active=False)


@pytest.mark.stack
@pytest.mark.req("AGT-014")
@pytest.mark.parametrize("end", [take_back, delete, deactivate])
def test_a_running_answer_ends_within_five_seconds(
    end: Callable[..., None],
    desk_of: Callable[[Member], Desk],
    alice: Member,
    bob: Member,
    ada: Member,
) -> None:
    agent_id, desk = agent_of(alice), desk_of(bob)
    lend(alice, agent_id, bob)
    asked = streaming(desk, agent_id)
    taken_back = time.monotonic()
    end(alice, agent_id, bob, ada)
    terminal = desk.ended(asked)
    assert time.monotonic() - taken_back < promised(SEEN_S)
    assert (terminal.kind, terminal.data["reason"], terminal.data["message"]) == (
        "agent_run_failed",
        "agent_unavailable",
        "This agent is no longer available to you.",
    )
    assert [kind for kind in desk.kinds(asked) if kind in TERMINALS] == ["agent_run_failed"]


@pytest.mark.stack
def test_whoever_keeps_the_agent_is_not_interrupted(
    desk_of: Callable[[Member], Desk], alice: Member, bob: Member, charlie: Member
) -> None:
    agent_id = agent_of(alice)
    lend(alice, agent_id, bob, charlie)
    lost, kept = desk_of(bob), desk_of(charlie)
    ended, going_on = streaming(lost, agent_id), streaming(kept, agent_id)
    lend(alice, agent_id, charlie)
    lost.ended(ended)
    assert not {*kept.kinds(going_on)}.intersection(TERMINALS)
    kept.stop()
    assert kept.ended(going_on).data["reason"] == "stopped"


@pytest.mark.stack
def test_what_still_waits_ends_without_asking_a_model(
    desk_of: Callable[[Member], Desk], alice: Member, bob: Member
) -> None:
    agent_id, desk = agent_of(alice), desk_of(bob)
    lend(alice, agent_id, bob)
    running = streaming(desk, agent_id)
    word = secrets.token_hex(8)
    waiting = desk.ask(f"say: {word}\n")
    lend(alice, agent_id)
    assert desk.ended(running).data["reason"] == "agent_unavailable"
    assert desk.ended(waiting).data["reason"] == "agent_unavailable"
    assert desk.requests(word) == []


def test_the_next_message_is_refused(
    desk_of: Callable[[Member], Desk], alice: Member, bob: Member, ada: Member
) -> None:
    agent_id, desk = agent_of(alice), desk_of(bob)
    publication.publish(actor=ada, agent_id=agent_id)
    desk.stop()
    assert desk.ask("say: hello\n", agent=str(agent_id)).created
    publication.withdraw(actor=alice, agent_id=agent_id)
    for named in (None, str(agent_id)):  # the conversation's agent, and by its id
        with pytest.raises(Invalid) as refused:
            desk.ask("say: hello\n", agent=named)
        assert refused.value.fields == [{"field": "agent", "reason": "not_found"}]
    desk.stop()


@pytest.mark.req("AGT-004")
def test_a_shared_agent_lends_nothing_its_owner_may_do(
    committed_db: None, desk_of: Callable[[Member], Desk], alice: Member, bob: Member
) -> None:
    agent_id = agent_of(alice, capability_ceiling="write", posture={"tools": ["artifacts"]})
    lend(alice, agent_id, bob)
    theirs, mine = desk_of(bob).conversation, desk_of(alice).conversation

    def may(member: Member, conversation: UUID) -> bool:
        return authority.now(identity(member, conversation, agent_id)) is not None

    assert may(alice, mine.id)
    assert may(bob, theirs.id)
    assert not may(bob, mine.id)  # nor does the agent open its owner's conversations
    lend(alice, agent_id)
    assert not may(bob, theirs.id)
    assert may(alice, mine.id)


def identity(member: Member, conversation_id: UUID, agent_id: UUID) -> RunIdentity:
    """A run of a member's, which no worker has."""
    return RunIdentity(
        run_id=uuid4(),
        fence=1,
        member_id=member.pk,
        conversation_id=conversation_id,
        agent_id=agent_id,
        agent_version=1,
    )
