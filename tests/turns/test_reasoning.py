"""Long reasoning is journaled while it goes on: in order, bounded, and before all that follows."""

import asyncio
import secrets
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError

from agents.journal.frames import Kind
from agents.turns import answers, checkpointing
from agents.turns.checkpointing import Checkpoints
from agents.turns.live import LivePublisher, LiveTurn
from agents.turns.reasoning import CHECKPOINT, LONGEST, WAITING, Reasoning
from tests.patience import until
from tests.turns.conftest import Desk
from tools.effects.claims import LeaseLost


@pytest.mark.stack
@pytest.mark.req("STR-007")
def test_long_reasoning_is_there_before_the_answer(desk: Desk) -> None:
    gate = secrets.token_hex(8)
    asked = desk.ask(
        f"think-tokens: 4000\nhold: {gate}\nthink: {gate}\nsay: So.\ncall: search_about"
        ' {"question": "limits"}\nthen:\nsay: Done.\n'
    )
    desk.seen(asked, ["thinking"])
    until(lambda: desk.stack.held(gate), "the model waits")
    desk.stack.release(gate)
    desk.ended(asked)
    kinds = desk.kinds(asked)
    thoughts = [entry.data for entry in desk.entries(asked) if entry.kind == "thinking"]
    assert len(thoughts) >= 2  # how many depends on what came in one read
    assert [thought["segment"] for thought in thoughts] == list(range(len(thoughts)))
    assert "".join(thought["text"] for thought in thoughts).endswith(gate)
    assert len("".join(thought["text"] for thought in thoughts)) > 2 * LONGEST
    last = len(kinds) - 1 - kinds[::-1].index("thinking")
    assert last < kinds.index("assistant_message") < kinds.index("tool_started")


class Journal:
    """Stands where drafts are committed; a gate keeps the first commit waiting."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.drafts: list[dict[str, Any]] = []
        self.opened = asyncio.Event()
        self._fault = fault

    async def commit(self, function: Any, admitted: Any, pending: Any, drafts: Any) -> None:
        assert function is answers.commit
        await self.opened.wait()
        if self._fault is not None:
            raise self._fault
        self.drafts += [draft.data for draft in drafts]


def thinking() -> tuple[Reasoning, Checkpoints, LiveTurn]:
    live = LiveTurn(LivePublisher(), uuid4(), uuid4())
    checkpoints = Checkpoints(None)  # type: ignore[arg-type]  # only handed on
    return Reasoning(checkpoints, live), checkpoints, live


@pytest.mark.req("STR-007")
async def test_deltas_wait_for_no_checkpoint_and_few_of_them_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = Journal()
    monkeypatch.setattr(checkpointing, "to_its_end", journal.commit)
    thoughts, checkpoints, live = thinking()
    for number in range(WAITING + 3):
        thoughts.add(1, f"{number}" * (CHECKPOINT - 1) + "\n")
        await asyncio.sleep(0)
    assert journal.drafts == []
    assert live.numbers["thinking"] == WAITING
    assert live.text("thinking").startswith(f"{WAITING}")
    journal.opened.set()
    assert await checkpoints.drained() == []
    assert [(draft["segment"], draft["text"][0]) for draft in journal.drafts] == [
        (number, f"{number}") for number in range(WAITING)
    ]


@pytest.mark.parametrize(
    ("text", "cut"), [("x" * (CHECKPOINT - 2) + "\n", False), ("x" * LONGEST, True)]
)
async def test_a_segment_is_cut_where_a_line_ends_or_when_it_is_too_long(
    monkeypatch: pytest.MonkeyPatch, text: str, cut: bool
) -> None:
    journal = Journal()
    journal.opened.set()
    monkeypatch.setattr(checkpointing, "to_its_end", journal.commit)
    thoughts, checkpoints, _ = thinking()
    thoughts.add(1, text)
    await checkpoints.drained()
    assert bool(journal.drafts) is cut


async def test_what_the_database_does_not_take_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for fault in (OperationalError("gone"), LeaseLost("run")):
        journal = Journal(fault)
        journal.opened.set()
        monkeypatch.setattr(checkpointing, "to_its_end", journal.commit)
        thoughts, checkpoints, _ = thinking()
        thoughts.add(1, "x" * LONGEST)
        if isinstance(fault, LeaseLost):
            with pytest.raises(LeaseLost):
                await checkpoints.drained()
        else:
            (draft,) = await checkpoints.drained()
            assert (draft.kind, draft.data["segment"]) == (Kind.THINKING, 0)
