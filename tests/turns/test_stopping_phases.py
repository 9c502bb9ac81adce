"""Stop in each of eight phases: in time, the partial answer kept, history valid, and on it goes."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections, transaction

from agents.conversations import inputs
from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.journal.frames import TERMINALS
from tests.patience import promised, until
from tests.turns.conftest import Desk
from tools.boundary import policies
from tools.boundary.models import Approval, FamilyPolicy, PolicyMode

pytestmark = pytest.mark.stack

STOP_S = 2.0  # from the press of the button to the terminal
FAMILY = "artifacts"


@dataclass(frozen=True)
class Phase:
    """A turn brought to where it is stopped, and what must be left of it."""

    asked: Accepted
    shown: tuple[str, str] = ("", "")  # the kind of entry and the text that stays


@contextmanager
def nothing_is_read(table: str) -> Iterator[None]:
    """Whoever wants to read the table waits."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def keeper(desk: Desk) -> str:
    """An agent of the member's that may read and keep artifacts."""
    content: dict[str, Any] = {
        "name": f"Keeper {secrets.token_hex(4)}",
        "persona": "Keep things.",
        "capability_ceiling": "write",
        "posture": {"tools": [FAMILY]},
    }
    return str(versions.create(actor=desk.member, content=content).agent_id)


def held(desk: Desk, script: str, **more: Any) -> Accepted:
    """A turn whose model has come to the gate in its script, and waits there."""
    gate = secrets.token_hex(8)
    asked = desk.ask(script.format(gate=gate), **more)
    until(lambda: desk.stack.held(gate), "the model waits")
    return asked


def queued(desk: Desk) -> Phase:
    held(desk, "hold: {gate}\n")
    return Phase(desk.ask("say: Not said.\n"))


def before_first_token(desk: Desk) -> Phase:
    return Phase(held(desk, "hold: {gate}\n"))


def thinking(desk: Desk) -> Phase:
    word = secrets.token_hex(8)
    with desk.listening() as wait_for:
        asked = desk.ask(f"think: {word}\nhold: {word}\n")
        wait_for(word)
    return Phase(asked, ("thinking", word))


def text(desk: Desk) -> Phase:
    word = secrets.token_hex(8)
    with desk.listening() as wait_for:
        asked = desk.ask(f"say: {word}\nhold: {word}\n")
        wait_for(word)
    return Phase(asked, ("assistant_message", word))


def tool_running(desk: Desk) -> Phase:
    asked = desk.ask(
        f'say: Looking.\ncall: read_artifact {{"artifact_id": "{uuid4()}"}}\nthen:\nsay: Read.\n',
        agent=keeper(desk),
    )

    def waits() -> bool:
        with connections["default"].cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted"
                " AND relation = 'artifacts_artifact'::regclass"
            )
            return bool(cursor.fetchone()[0])

    until(waits, "the tool reads")
    return Phase(asked, ("assistant_message", "Looking."))


def approval_pending(desk: Desk) -> Phase:
    asked = desk.ask(
        'call: create_artifact {"title": "T", "kind": "text", "content": "x"}\nthen:\nsay: Kept.\n',
        agent=keeper(desk),
    )
    desk.seen(asked, ["agent_run_waiting"])
    return Phase(asked)


def compaction(desk: Desk) -> Phase:
    gate = secrets.token_hex(8)
    said = desk.ask(f"```script\nhold: {gate}\n```\n")
    until(lambda: desk.stack.held(gate), "the model waits")
    desk.stop()
    desk.ended(said)
    asked = inputs.compact(
        member=desk.member, conversation_id=desk.conversation.id, key=secrets.token_hex(8)
    )
    until(lambda: len(desk.requests(gate)) > 1, "the summary is asked for, and held")
    return Phase(asked)


def retry_back_off(desk: Desk) -> Phase:
    word = secrets.token_hex(8)
    asked = desk.ask(f"fault: status 429 retry-after 50\nsay: {word}\n")
    until(lambda: desk.requests(word), "the model is asked")
    return Phase(asked)


@pytest.fixture
def asking(committed_db: None) -> Iterator[None]:
    """Changes by the family are asked about; as before afterwards."""
    policies.decide(actor="system:tests", family=FAMILY, mode=PolicyMode.APPROVAL)
    yield
    FamilyPolicy.objects.filter(family=FAMILY).delete()


PHASES: dict[Callable[[Desk], Phase], AbstractContextManager[None]] = {
    queued: nullcontext(),
    before_first_token: nullcontext(),
    thinking: nullcontext(),
    text: nullcontext(),
    tool_running: nothing_is_read("artifacts_artifact"),
    approval_pending: nullcontext(),
    compaction: nullcontext(),
    retry_back_off: nullcontext(),
}


@pytest.mark.req("INP-012", "INP-004")
@pytest.mark.parametrize(
    ("reach", "meanwhile"), PHASES.items(), ids=[phase.__name__ for phase in PHASES]
)
def test_a_stop_ends_the_turn_and_the_next_message_works(
    asking: None,
    desk: Desk,
    reach: Callable[[Desk], Phase],
    meanwhile: AbstractContextManager[None],
) -> None:
    with meanwhile:
        phase = reach(desk)
        pressed = time.monotonic()
        desk.stop()
        end = desk.ended(phase.asked)
        assert time.monotonic() - pressed < promised(STOP_S)
    desk.stop()
    assert (end.kind, end.data["reason"]) == ("agent_run_cancelled", "stopped")
    assert [kind for kind in desk.kinds(phase.asked) if kind in TERMINALS] == [end.kind]
    assert not Approval.objects.visible_to(desk.member).filter(state="pending").exists()
    kind, shown = phase.shown
    kept = [entry.data["text"] for entry in desk.entries(phase.asked) if entry.kind == kind]
    assert kept == [shown] * bool(kind)

    mark = secrets.token_hex(8)
    following = desk.ask(f"say: {mark}\n")
    assert desk.ended(following).kind == "agent_run_completed"
    assert pairs(desk.requests(mark)[-1]["messages"])


def pairs(messages: list[dict[str, Any]]) -> bool:
    """Whether each call is followed by its results, in order, and no result stands alone."""
    called = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return called == answered
