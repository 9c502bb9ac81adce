"""When text that a model writes becomes a checkpoint, for any tool that declares such text."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from artifacts.checkpoints import (
    CHECKPOINT_BYTES,
    CHECKPOINT_S,
    ArtifactGenerationCheckpoints,
    Generation,
    Watch,
    checkpoint_generation,
)
from audit import canonical
from audit.credentials import Masking
from tools.boundary.contract import (
    Described,
    Generated,
    Json,
    RunIdentity,
    Tier,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolResult,
)
from tools.boundary.facts import CallFacts
from tools.boundary.projection import as_payload
from tools.boundary.repeats import RunLedger

SONG = {"name": "Tide", "mood": "calm", "verses": "The sea, the sea. " * 3}


async def sing(context: ToolContext, arguments: Json) -> ToolResult:
    """Never called: only what is written of a call matters here."""
    raise NotImplementedError


def of_song(identity: RunIdentity, arguments: Json) -> Described:
    return Described(arguments["name"], arguments["mood"])


SING = ToolDescriptor(
    name="sing",
    label="Singing",
    description="Sing.",
    parameters={"properties": {"verses": {"type": "string", "maxLength": 50_000}}},
    kind=ToolKind.WRITE,
    tier=Tier.WRITE,
    family="songs",
    execute=sing,
    project_for_model=as_payload,
    project_for_member=as_payload,
    suppress_identical_repeat=True,
    generated=Generated("verses", ("name", "mood"), of_song),
)


@dataclass
class Step:
    """A model step that writes songs, and the ledger of the run it belongs to."""

    snapshot: str = "step-2"
    ledger: RunLedger = field(default_factory=RunLedger)
    earlier: list[Json] = field(default_factory=list)
    now: float = 0.0
    peeked: int = 0

    def __post_init__(self) -> None:
        numbers: Iterator[int] = iter(range(99))
        self.checkpoints = ArtifactGenerationCheckpoints(
            Watch(
                offered={"sing": SING, "hum": replace(SING, name="hum", generated=None)},
                call_id=lambda place: f"turn-2-{place}",
                may_repeat=lambda _, so_far: any(
                    so_far.items() <= one.items() for one in self.earlier
                ),
                is_repeat=self.is_repeat,
                clean=lambda made: made,
                masking=Masking,
                segment=lambda: next(numbers),
                clock=lambda: self.now,
            )
        )

    def is_repeat(self, descriptor: ToolDescriptor, arguments: Json) -> bool:
        self.peeked += 1
        digest = canonical.digest(arguments)
        return self.ledger.peek(descriptor, digest, self.snapshot) is not None

    def sung(self, song: Json) -> None:
        """An earlier step has sung this."""
        facts = CallFacts(
            call_id=str(uuid4()),
            tool="sing",
            outcome="success",
            arguments_digest=canonical.digest(song),
            step_snapshot_id="step-1",
        )
        self.ledger.observe(SING, facts, "{}", {})
        self.earlier.append(song)

    def write(self, raw: str, place: int = 0, size: int = 7, name: str = "sing") -> list[Json]:
        """Write a call in pieces; what became durable, as a host that is never late would do."""
        frames: list[Json] = []
        for start in range(0, len(raw), size):
            piece = raw[start : start + size]
            generation, _, is_due = self.checkpoints.observe(place, name, piece)
            if generation is not None and is_due:
                frames += durable(generation, "building")
        return frames

    def final(self, song: Json, place: int = 0) -> list[Json]:
        generation = self.checkpoints.final(place, SING, song)
        return [] if generation is None else durable(generation, "written")


def durable(generation: Generation, state: Any) -> list[Json]:
    members = generation.reader.members or SONG
    generation.described = of_song(None, members)  # type: ignore[arg-type]  # it asks nobody
    frames = checkpoint_generation(generation, state)
    generation.durable, generation.is_shown = generation.characters, True
    return frames


def song_of(characters: int) -> Json:
    return {**SONG, "verses": ("Sea \U0001f6a2 and sky. " * characters)[:characters]}


@pytest.mark.req("STR-005")
def test_the_source_advances_through_bounded_pieces_and_a_final_one() -> None:
    song = song_of(30_000)
    step = Step()
    frames = [*step.write(json.dumps(song), size=500), *step.final(song)]
    assert frames[0] == {
        "call_id": "turn-2-0",
        "tool": "sing",
        "title": "Tide",
        "kind": "calm",
        "segment": 0,
        "characters": frames[0]["characters"],
        "offset": 0,
        "text": frames[0]["text"],
        "state": "building",
    }
    assert frames[0]["characters"] < 500
    assert "".join(frame["text"] for frame in frames) == song["verses"]
    assert [after["offset"] for _, after in pairwise(frames)] == [
        frame["characters"] for frame in frames[:-1]
    ]
    assert all(len(frame["text"].encode()) <= CHECKPOINT_BYTES for frame in frames)
    assert [frame["state"] for frame in frames] == ["building"] * (len(frames) - 1) + ["written"]
    assert 4 <= len(frames) <= 10


@pytest.mark.req("STR-006")
@pytest.mark.parametrize("size", [1, 9, 1_000])
def test_all_of_the_text_is_durable_as_soon_as_the_arguments_are_whole(size: int) -> None:
    step = Step()
    frames = step.write(json.dumps(SONG), size=size)
    assert "".join(frame["text"] for frame in frames) == SONG["verses"]
    assert {frame["call_id"] for frame in frames} == {"turn-2-0"}
    assert {frame["state"] for frame in frames} == {"building"}
    (last,) = step.final(SONG)
    assert (last["text"], last["state"], last["characters"]) == ("", "written", len(SONG["verses"]))


@pytest.mark.req("STR-005")
def test_slow_text_becomes_durable_after_a_while_and_not_before() -> None:
    step, raw = Step(), json.dumps(SONG)
    assert len(step.write(raw[:70])) == 1
    assert step.write(raw[70:80]) == []
    step.now += CHECKPOINT_S
    (frame,) = step.write(raw[80:82], size=1)[:1]
    assert (SONG["verses"].startswith(frame["text"]), frame["text"] != "") == (True, True)
    assert step.write(raw[82:84], size=1) == []


@pytest.mark.req("STR-005")
def test_a_call_that_was_never_seen_being_written_has_its_final_snapshot() -> None:
    step = Step()
    frames = step.final(song_of(20_000))
    assert "".join(frame["text"] for frame in frames) == song_of(20_000)["verses"]
    assert frames[-1]["state"] == "written"
    assert all(len(frame["text"].encode()) <= CHECKPOINT_BYTES for frame in frames)


@pytest.mark.req("BND-039")
@pytest.mark.parametrize("size", [1, 9, 1_000])
def test_a_call_that_has_been_done_opens_nothing_and_counts_nothing(size: int) -> None:
    step = Step()
    step.sung(SONG)
    assert step.write(json.dumps(SONG), size=size) == []
    assert step.peeked == 1
    assert step.final(SONG) == []
    done = step.ledger.peek(SING, canonical.digest(SONG), step.snapshot)
    assert done is not None
    assert not step.ledger._repeats


@pytest.mark.req("BND-039")
def test_what_differs_from_an_earlier_call_opens_as_soon_as_it_does() -> None:
    step = Step()
    step.sung(SONG)
    other = {**SONG, "name": "Ebb"}
    early = step.write(json.dumps(other)[:40])
    assert [frame["title"] for frame in early] == ["Ebb"]
    late = Step()
    late.sung(SONG)
    longer = {**SONG, "verses": SONG["verses"] + "Again."}
    assert late.write(json.dumps(longer)[:-5]) == []
    (frame,) = late.write(json.dumps(longer)[-5:])
    assert (frame["text"], frame["offset"]) == (longer["verses"], 0)


@pytest.mark.req("BND-039")
def test_siblings_of_one_step_are_both_shown() -> None:
    step = Step(snapshot="step-1")
    step.sung(SONG)
    step.earlier.clear()
    assert step.write(json.dumps(SONG)) != []
    assert step.write(json.dumps(SONG), place=1) != []
    assert {frame["call_id"] for place in (0, 1) for frame in step.final(SONG, place)} == {
        "turn-2-0",
        "turn-2-1",
    }


def drop(step: Step, *names: str) -> list[str]:
    step.checkpoints.close(names)
    return [generation.call_id for generation in step.checkpoints.given_up()]


@pytest.mark.parametrize(
    ("act", "dropped"),
    [
        (lambda step: drop(step, "sing"), []),
        (lambda step: drop(step), ["turn-2-0"]),
        (lambda step: drop(step, "hum"), ["turn-2-0"]),
    ],
    ids=["the call came", "no call came", "another call came"],
)
def test_what_no_call_comes_of_is_given_up(
    act: Callable[[Step], list[str]], dropped: list[str]
) -> None:
    step = Step()
    step.write(json.dumps(SONG)[:60])
    assert act(step) == dropped
    assert drop(step) == [] or dropped == []


def test_a_repeated_attempt_begins_anew_under_another_number() -> None:
    step, raw = Step(), json.dumps(SONG)
    (first,) = step.write(raw[:60])
    step.checkpoints.restart()
    again = step.write(raw)
    assert (first["segment"], again[0]["segment"], again[0]["offset"]) == (0, 1, 0)
    assert drop(step, "sing") == []
    assert "".join(frame["text"] for frame in [*again, *step.final(SONG)]) == SONG["verses"]


def test_text_that_came_out_differently_is_told_from_its_beginning() -> None:
    step = Step()
    step.write(json.dumps(SONG))
    changed = {**SONG, "verses": "Something else."}
    (frame,) = step.final(changed)
    assert (frame["segment"], frame["offset"], frame["text"]) == (1, 0, "Something else.")


def test_a_credential_is_masked_before_it_is_shown() -> None:
    secret = "sk-" + "a1B2" * 12
    step = Step()
    frames = step.write(json.dumps({**SONG, "verses": f"Key {secret} end. " + "x" * 9_000}))
    told = "".join(frame["text"] for frame in frames)
    assert secret[:12] not in told
    assert told.startswith("Key ")


@pytest.mark.parametrize("raw", ['{"name": "Tide", "verses": "a', '{"name": ', "no JSON", "[]"])
def test_nothing_opens_before_it_is_known_what_it_becomes(raw: str) -> None:
    step = Step()
    assert step.write(raw) == []
    assert step.write(json.dumps(SONG), name="hum", place=1) == []
    assert step.write(json.dumps(SONG), name="invented", place=2) == []


def test_text_beyond_what_the_tool_takes_is_not_shown() -> None:
    step = Step()
    frames = step.write(json.dumps(song_of(60_000)), size=4_000)
    assert frames[-1]["characters"] <= 50_000
