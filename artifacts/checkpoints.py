"""What a call is about to keep, followed while its model writes it.

Which argument holds the text is the tool's to declare (`Generated`); nothing here knows a tool.
Decides what becomes a checkpoint and when. Writing it down and showing it is the host's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from audit.canonical import storable
from audit.credentials import Masking
from audit.limits import limit
from tools.boundary.contract import Described, Generated, Json, ToolDescriptor
from tools.boundary.partial import PartialArguments

CHECKPOINT_BYTES = limit(
    "artifact.checkpoint", 8_192, "bytes", "Text of what is being written in one durable frame."
)
CHECKPOINT_S: Final = 2.0  # what was written is durable at the latest when more comes after this

State = Literal["building", "written", "dropped"]


@dataclass(frozen=True)
class Watch:
    """What the checkpoints of one model step ask of the run's host.

    `call_id` names the call at a place of the step. `may_repeat` says whether arguments that are
    complete so far are those of an earlier call, `is_repeat` whether a call with exactly these
    arguments has been done; it counts nothing. `clean` masks values, `masking` a text in pieces.
    `segment` gives the number of the next text, `clock` seconds that only rise.
    """

    offered: Mapping[str, ToolDescriptor]
    call_id: Callable[[int], str]
    may_repeat: Callable[[ToolDescriptor, Json], bool]
    is_repeat: Callable[[ToolDescriptor, Json], bool]
    clean: Callable[[Json], Json]
    masking: Callable[[], Masking]
    segment: Callable[[], int]
    clock: Callable[[], float]


class Generation:
    """The text of one call as far as it has been written.

    `described` is what it becomes, None until somebody has looked. `durable` counts characters
    that are in the journal, `is_shown` says that a frame is. One that `is_off` opens nothing.
    """

    def __init__(self, call_id: str, descriptor: ToolDescriptor, generated: Generated) -> None:
        self.call_id = call_id
        self.descriptor = descriptor
        self.generated = generated
        self.reader = PartialArguments(generated.content)
        self.described: Described | None = None
        self.segment = -1
        self.durable = 0
        self.characters = 0
        self.is_shown = False
        self.is_off = False
        self.checked_at = 0.0
        self.most = _bound(descriptor, generated)
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        """All of it so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, said: str) -> None:
        """The text goes on."""
        self._parts.append(said)
        self.characters += len(said)

    def begin(self, segment: int) -> None:
        """The text is told from its beginning, under a number of its own."""
        self.segment, self.durable = segment, 0

    def become(self, text: str, segment: Callable[[], int]) -> None:
        """The text is this and complete; what was told of another one does not count."""
        told = self.text if self.is_shown else ""
        self._parts, self.characters = [text], len(text)
        if self.segment < 0 or not text.startswith(told):
            self.begin(segment())


class ArtifactGenerationCheckpoints:
    """The generations of one model request; used by one task."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._by_place: dict[int, _Written] = {}
        self._given_up: list[Generation] = []

    def observe(self, place: int, name: str, piece: str) -> tuple[Generation | None, str, bool]:
        """A call at a place of the step goes on. Answers the generation it is of, the text that is
        new, and whether a checkpoint is due.

        Nothing is due before the arguments that tell what the text becomes are complete, nor for
        a call that may turn out to be one that has been done.
        """
        written = self._by_place.get(place)
        if written is None or written.name != name:
            written = self._begun(place, name)
        generation = written.generation
        if generation is None or generation.is_off:
            return None, "", False
        said = self._more(written, generation, piece)
        return generation, said, self._is_due(written, generation)

    def generation(self, place: int) -> Generation | None:
        """What is written at a place of the step."""
        written = self._by_place.get(place)
        return written.generation if written else None

    def restart(self) -> None:
        """The model is asked once more: what it had written counts no longer."""
        self.close(())

    def close(self, names: tuple[str, ...]) -> None:
        """The answer is over and holds calls of these names, in order."""
        for place, written in self._by_place.items():
            stays = place < len(names) and names[place] == written.name
            if not stays and written.generation is not None:
                self._given_up.append(written.generation)
                written.generation.is_off = True
        self._by_place = {
            place: written
            for place, written in self._by_place.items()
            if place < len(names) and names[place] == written.name
        }

    def given_up(self) -> list[Generation]:
        """Generations that no call came of; each once. One whose call is written anew is none of
        them.
        """
        going_on = {
            written.generation.call_id
            for written in self._by_place.values()
            if written.generation is not None
        }
        gone, self._given_up = self._given_up, []
        return [one for one in gone if one.call_id not in going_on]

    def final(self, place: int, descriptor: ToolDescriptor, arguments: Json) -> Generation | None:
        """The generation of a call that is about to be made, with the text it is made with; None
        for one that keeps no text, or has been done.
        """
        generated = descriptor.generated
        content = arguments.get(generated.content) if generated else None
        if generated is None or not isinstance(content, str):
            return None
        known = self.generation(place)
        if known is None or known.descriptor is not descriptor:
            known = Generation(self._watch.call_id(place), descriptor, generated)
        if self._watch.is_repeat(descriptor, arguments):
            known.is_off = True
        if known.is_off:
            return None
        known.become(content, self._watch.segment)
        return known

    def _begun(self, place: int, name: str) -> "_Written":
        """A call is named; one that was named otherwise before is another call now."""
        earlier = self.generation(place)
        if earlier is not None:
            earlier.is_off = True
            self._given_up.append(earlier)
        descriptor = self._watch.offered.get(name)
        generation = None
        if descriptor is not None and descriptor.generated is not None:
            call_id = self._watch.call_id(place)
            generation = Generation(call_id, descriptor, descriptor.generated)
        written = self._by_place[place] = _Written(name, generation, self._watch.masking())
        return written

    def _more(self, written: "_Written", generation: Generation, piece: str) -> str:
        if written.is_complete:
            return ""
        reader = generation.reader
        said = written.masking.feed(storable(reader.feed(piece)))
        if reader.is_whole and reader.has_text:
            written.is_complete = True
            said += written.masking.flush()
        if generation.characters + len(said) > generation.most:
            written.is_complete = True  # the call will be refused; what is shown stays bounded
            said = said[: generation.most - generation.characters]
        if said:
            generation.add(said)
        return said

    def _is_due(self, written: "_Written", generation: Generation) -> bool:
        now = self._watch.clock()
        if not written.is_open:
            written.is_open = self._may_open(generation)
            generation.checked_at = now
            if written.is_open:
                written.is_told = written.is_complete
                generation.begin(self._watch.segment())
            return written.is_open
        left = generation.characters - generation.durable
        passed_s = now - generation.checked_at
        is_due = left >= CHECKPOINT_BYTES or (left > 0 and passed_s >= CHECKPOINT_S)
        if written.is_complete and not written.is_told:
            is_due = written.is_told = True
        if is_due:
            generation.checked_at = now
        return is_due

    def _may_open(self, generation: Generation) -> bool:
        reader, descriptor = generation.reader, generation.descriptor
        if reader.is_broken or not reader.members.keys() >= set(generation.generated.told_by):
            return False
        if reader.is_whole:
            whole = {**reader.members, generation.generated.content: generation.text}
            generation.is_off = self._watch.is_repeat(descriptor, self._watch.clean(whole))
            return not generation.is_off and reader.has_text
        return not self._watch.may_repeat(descriptor, self._watch.clean(reader.members))


@dataclass
class _Written:
    """A call that is being written. `is_open` says that checkpoints of it are due, `is_told` that
    the one was that has all of its text.
    """

    name: str
    generation: Generation | None
    masking: Masking
    is_open: bool = False
    is_complete: bool = False
    is_told: bool = False


def checkpoint_generation(generation: Generation, state: State) -> list[Json]:
    """The frames for what is not durable yet, each within the bound; the last one says `state`.
    Of what was dropped nothing more is told.
    """
    described = generation.described
    assert described is not None, "only what has been described is written down"
    shared: Json = {
        "call_id": generation.call_id,
        "tool": generation.descriptor.name,
        "title": described.title,
        "kind": described.kind,
        "segment": generation.segment,
        **({"language": described.language} if described.language else {}),
        **({"artifact_id": described.artifact_id} if described.artifact_id else {}),
    }
    text, offset = generation.text, generation.durable
    if state == "dropped":
        text = text[:offset]
    frames: list[Json] = []
    while True:
        piece = _bounded(text[offset : offset + int(CHECKPOINT_BYTES)])
        end = offset + len(piece)
        is_last = end == len(text)
        frames.append(
            {
                **shared,
                "characters": end,
                "offset": offset,
                "text": piece,
                "state": state if is_last else "building",
            }
        )
        if is_last:
            return frames
        offset = end


def _bounded(text: str) -> str:
    """The beginning of a text that has at most the bytes of one frame."""
    return text.encode()[: int(CHECKPOINT_BYTES)].decode(errors="ignore")


def _bound(descriptor: ToolDescriptor, generated: Generated) -> int:
    """How many characters the tool takes of what is generated."""
    schema: dict[str, Any] = descriptor.parameters["properties"][generated.content]
    return int(schema["maxLength"])
