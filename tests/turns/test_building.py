"""What a call is about to keep is seen and journaled while its model writes it, in whole turns."""

import asyncio
import json
import secrets
from itertools import pairwise
from typing import Any

import pytest

from agents.conversations.inputs import Accepted
from agents.journal.models import Entry
from agents.journal.offloading import in_database
from agents.members.models import Member
from agents.turns.driver import Interruption
from agents.turns.live import LivePublisher
from artifacts.checkpoints import CHECKPOINT_BYTES
from artifacts.models import Artifact
from artifacts.writing import Draft, create
from tests.patience import until
from tests.turns.conftest import Desk
from tests.turns.working import begun

pytestmark = pytest.mark.stack


def plan(text: str, title: str = "Plan") -> str:
    return json.dumps({"title": title, "kind": "markdown", "content": text})


def piece(raw: str, **more: Any) -> str:
    """A fragment of the step's first call, as it goes over the wire, as a line of a script."""
    call = {"index": 0, "function": {"arguments": raw}, **more}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    return "raw: " + json.dumps(f"data: {json.dumps(chunk)}\n\n")


def opening(raw: str, name: str = "create_artifact") -> str:
    return piece(raw, id="c1", type="function", function={"name": name, "arguments": raw})


def held(raw: str, cut: int, gate: str, name: str = "create_artifact") -> str:
    """A step whose one call is written up to a cut, then waits at a gate."""
    rest = [piece(raw[cut:]), "finish: tool_calls"]
    return "\n".join([opening(raw[:cut], name), f"hold: {gate}", *rest])


def call(raw: str, name: str = "create_artifact") -> str:
    return f"call: {name} {raw}"


def frames(desk: Desk, asked: Accepted) -> list[dict[str, Any]]:
    """What was journaled of artifacts being built."""
    return [entry.data for entry in desk.entries(asked) if entry.kind == "artifact_building"]


def shape(frame: dict[str, Any]) -> tuple[Any, ...]:
    return frame["call_id"], frame["title"], frame["kind"], frame["segment"], frame["state"]


def written(found: list[dict[str, Any]]) -> str:
    """The text that frames of one segment make."""
    assert all(len(frame["text"].encode()) <= CHECKPOINT_BYTES for frame in found)
    assert all(one["characters"] == two["offset"] for one, two in pairwise(found))
    return "".join(frame["text"] for frame in found)


@pytest.mark.req("STR-005", "STR-006")
def test_an_artifact_is_seen_while_it_is_written_and_whole_before_its_call_runs(
    desk: Desk,
) -> None:
    gate, word = secrets.token_hex(8), secrets.token_hex(8)
    text = f"# Tides\n{word} " + "high and low " * 1_000
    raw = plan(text)
    script = f"{held(raw, 200, gate)}\nthen:\nsay: Saved.\n"
    with desk.listening() as wait_for:
        asked = desk.ask(script)
        first = desk.seen(asked, ["artifact_building"])
        wait_for(word)
    call_id = f"{asked.run_id.hex[:12]}-1-0"
    assert shape(first.data) == (call_id, "Plan", "markdown", 0, "building")
    assert (first.data["tool"], "tool_started" in desk.kinds(asked)) == ("create_artifact", False)
    desk.stack.release(gate)
    assert desk.ended(asked).kind == "agent_run_completed"
    found = frames(desk, asked)
    assert written(found) == text
    assert [frame["state"] for frame in found[-2:]] == ["building", "written"]
    kinds = [kind for kind in desk.kinds(asked) if kind != "artifact_building"]
    assert kinds[2:] == [
        *("tool_started", "tool_ended", "artifact_saved"),
        *("assistant_message", "agent_run_completed"),
    ]
    every = desk.kinds(asked)
    last = len(every) - 1 - every[::-1].index("artifact_building")
    assert every[last + 1] == "tool_started"
    assert {entry.run_id for entry in desk.entries(asked)} == {asked.run_id}


@pytest.mark.req("STR-005")
def test_an_update_is_named_after_what_it_changes(desk: Desk) -> None:
    kept = create(actor=desk.member, draft=Draft("Menu", "text", "Soup"))
    raw = json.dumps(
        {"artifact_id": str(kept.artifact_id), "expected_version": 1, "content": "Soup, bread"}
    )
    asked = desk.answered(f"{call(raw, 'update_artifact')}\nthen:\nsay: Done.\n")
    found = frames(desk, asked)
    assert shape(found[-1])[1:] == ("Menu", "text", found[-1]["segment"], "written")
    assert found[-1]["artifact_id"] == str(kept.artifact_id)
    assert written(found) == "Soup, bread"


def test_what_is_not_the_members_is_not_named(desk: Desk, charlie: Member) -> None:
    theirs = create(actor=charlie, draft=Draft("Secret plan", "text", "x"))
    raw = json.dumps(
        {"artifact_id": str(theirs.artifact_id), "expected_version": 1, "content": "y"}
    )
    asked = desk.answered(f"{call(raw, 'update_artifact')}\nthen:\nsay: No.\n")
    assert frames(desk, asked) == []
    assert "Secret plan" not in json.dumps([entry.data for entry in desk.entries(asked)])


@pytest.mark.req("BND-039", "STR-006")
def test_a_create_that_was_done_opens_nothing_again(desk: Desk) -> None:
    gate, raw = secrets.token_hex(8), plan("Once only.")
    steps = [call(raw), held(raw, len(raw) - 4, gate), "say: Done."]
    asked = desk.ask("\nthen:\n".join(steps))
    until(lambda: desk.stack.held(gate), "the model waits")
    desk.stack.release(gate)
    assert desk.ended(asked).kind in ("agent_run_completed", "agent_run_salvaged")
    results = [entry.data for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    assert [result["result"].get("repeat_suppressed") for result in results] == [None, True]
    assert {frame["call_id"] for frame in frames(desk, asked)} == {results[0]["call_id"]}
    assert Artifact.objects.filter(owner=desk.member, title="Plan").count() == 1


def test_a_changed_call_is_shown_although_it_begins_alike(desk: Desk) -> None:
    steps = [call(plan("One.")), call(plan("Two.")), "say: Done."]
    asked = desk.answered("\nthen:\n".join(steps))
    found = frames(desk, asked)
    texts: dict[str, str] = {}
    for frame in found:
        texts[frame["call_id"]] = texts.get(frame["call_id"], "") + frame["text"]
    assert list(texts.values()) == ["One.", "Two."]
    assert len({frame["segment"] for frame in found}) == 2


def test_two_calls_of_one_step_are_built_side_by_side(desk: Desk) -> None:
    asked = desk.answered(f"{call(plan('Same.'))}\n{call(plan('Same.'))}\nthen:\nsay: Both.\n")
    ends = [shape(frame) for frame in frames(desk, asked) if frame["state"] == "written"]
    assert [end[0].rsplit("-", 1)[1] for end in ends] == ["0", "1"]
    assert ends[0][3] != ends[1][3]


async def stopped(desk: Desk, publisher: LivePublisher, why: Interruption) -> list[Entry]:
    """The journal of a turn that was interrupted while an artifact was being written."""
    gate, raw = secrets.token_hex(8), plan("Never finished, never kept.")
    asked = await in_database(desk.ask, f"{held(raw, 80, gate)}\nthen:\nsay: Never.\n")
    turn = await begun(asked, publisher)
    await in_database(desk.seen, asked, ["artifact_building"])
    turn.interrupt(why)
    await turn.task
    await asyncio.to_thread(desk.stack.release, gate)
    return await in_database(desk.entries, asked)


@pytest.mark.parametrize(
    ("why", "end"),
    [
        (Interruption.STOP, "agent_run_cancelled"),
        (Interruption.SILENCE, "agent_run_failed"),
    ],
)
async def test_a_turn_that_ends_meanwhile_keeps_nothing_and_says_so(
    alone: Desk, publisher: LivePublisher, why: Interruption, end: str
) -> None:
    entries = await stopped(alone, publisher, why)
    assert entries[-1].kind == end
    assert "tool_started" not in [entry.kind for entry in entries]
    kept = Artifact.objects.filter(owner=alone.member)
    assert not await in_database(kept.exists)


async def test_the_next_worker_writes_the_same_call_anew(
    alone: Desk, publisher: LivePublisher
) -> None:
    gate, raw = secrets.token_hex(8), plan("Begun twice, kept once.")
    asked = await in_database(alone.ask, f"{held(raw, 80, gate)}\nthen:\nsay: Kept.\n")
    lost = await begun(asked, publisher)
    await in_database(alone.seen, asked, ["artifact_building"])
    lost.interrupt(Interruption.DRAIN)
    await lost.task
    await asyncio.to_thread(alone.stack.release, gate)
    turn = await begun(asked, publisher)
    await turn.task
    found = await in_database(frames, alone, asked)
    assert len({frame["call_id"] for frame in found}) == 1
    old, new = found[0]["segment"], found[-1]["segment"]
    assert old < new
    again = [frame for frame in found if frame["segment"] == new]
    assert written(again) == "Begun twice, kept once."
    assert await in_database(Artifact.objects.filter(owner=alone.member).count) == 1


async def test_an_attempt_that_breaks_off_leaves_no_placeholder(
    alone: Desk, publisher: LivePublisher
) -> None:
    gate, raw = secrets.token_hex(8), plan("Lost with the connection.")
    script = f"{opening(raw[:80])}\nhold: {gate}\nfault: cut times 1\n"
    asked = await in_database(alone.ask, script)
    turn = await begun(asked, publisher)
    await in_database(alone.seen, asked, ["artifact_building"])
    await asyncio.to_thread(alone.stack.release, gate)
    await turn.task
    found = await in_database(frames, alone, asked)
    calls = [
        entry.data["call_id"]
        for entry in await in_database(alone.entries, asked)
        if entry.kind == "tool_ended"
    ]
    assert found[-1]["state"] == "dropped" or found[-1]["call_id"] in calls


def test_a_refused_call_ends_what_was_shown_of_it(desk: Desk) -> None:
    raw = json.dumps({"title": "Plan", "kind": "text", "content": "x", "extra": 1})
    asked = desk.answered(f"{call(raw)}\nthen:\nsay: No.\n")
    (ended,) = [entry.data for entry in desk.entries(asked) if entry.kind == "tool_ended"]
    assert ended["outcome"] != "success"
    assert {frame["call_id"] for frame in frames(desk, asked)} <= {ended["call_id"]}


def test_a_turn_without_calls_builds_nothing(desk: Desk) -> None:
    asked = desk.answered("say: Hello.\n")
    assert desk.kinds(asked)[1:] == [
        "agent_run_started",
        "assistant_message",
        "agent_run_completed",
    ]


LOOK = 'call: search_about {"question": "limits"}'


def started(desk: Desk, asked: Accepted) -> list[tuple[str, str, str]]:
    """What the browser is told of calls: name, kind of frame, state or outcome."""
    names = {
        entry.data["call_id"]: entry.data["name"]
        for entry in desk.entries(asked)
        if entry.kind == "tool_started"
    }
    return [
        (
            names[entry.data["call_id"]],
            str(entry.kind),
            entry.data.get("state") or entry.data["outcome"],
        )
        for entry in desk.entries(asked)
        if entry.kind in ("tool_started", "tool_ended")
    ]


def test_a_call_runs_from_the_moment_it_is_said_to(desk: Desk) -> None:
    asked = desk.answered(f"{LOOK}\n{call(plan('x'))}\n{LOOK}\nthen:\nsay: Done.\n")
    look, save = "search_about", "create_artifact"
    assert started(desk, asked) == [
        (look, "tool_started", "running"),
        (save, "tool_started", "queued"),
        (look, "tool_started", "queued"),
        (look, "tool_ended", "success"),
        (save, "tool_started", "running"),
        (save, "tool_ended", "success"),
        (look, "tool_started", "running"),
        (look, "tool_ended", "success"),
    ]
    sent = desk.requests("search_about")[-1]["messages"]
    made = [each for message in sent for each in message.get("tool_calls", ())]
    assert len(made) == 3
