"""What calls are about to keep, shown and journaled while their model writes it.

Live text goes out at once, a durable frame now and then, and one with the end of the text in the
commit that lets the call run. Why something becomes a checkpoint is `artifacts.checkpoints`.
"""

import time
from collections.abc import Sequence

from agents.engine.events import CallRequested, ModelAnswered
from agents.gateway.events import ToolCallDelta
from agents.guardrails.chain import Guard
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from agents.turns import toolcalls
from agents.turns.admission import Admitted
from agents.turns.checkpointing import Checkpoint, Checkpoints
from agents.turns.live import LiveTurn
from agents.turns.offers import StepOffer
from artifacts.checkpoints import (
    ArtifactGenerationCheckpoints,
    Generation,
    State,
    Watch,
    checkpoint_generation,
)
from audit.refusals import Refusal
from tools.boundary.contract import Json, ToolCall, ToolDescriptor
from tools.boundary.memory import RunMemory


class Building:
    """The building of one turn; used by one task. Costs nothing while no call is written."""

    def __init__(
        self,
        admitted: Admitted,
        live: LiveTurn,
        guard: Guard,
        memory: RunMemory,
        checkpoints: Checkpoints,
    ) -> None:
        self._admitted = admitted
        self._live = live
        self._guard = guard
        self._memory = memory
        self._checkpoints = checkpoints
        self._earlier = [
            call
            for event in admitted.past.events
            if isinstance(event, ModelAnswered)
            for call in event.calls
        ]
        self._asked = 0, StepOffer("", {})
        self._step: ArtifactGenerationCheckpoints | None = None
        self._is_over = True
        self._gone: list[Generation] = []

    def begin(self, step: int, offer: StepOffer) -> None:
        """A model is asked for a step."""
        self._asked = step, offer
        self._step, self._is_over = None, False

    def observe(self, delta: ToolCallDelta) -> None:
        """A call is written on; never waits."""
        if self._step is None:
            self._step = self._watched()
        generation, said, is_due = self._step.observe(delta.index, delta.name, delta.text)
        if generation is None:
            return
        if generation.is_shown:
            self._live.build(generation.segment, said)
        if is_due:
            self._put(generation)

    def restart(self) -> None:
        """The attempt failed and the model is asked once more."""
        if self._step is not None:
            self._step.restart()
            self._live.built()

    def answered(self, calls: Sequence[CallRequested]) -> None:
        """The answer is over and came to these calls."""
        self._earlier += calls
        self._is_over = True
        if self._step is not None:
            self._step.close(tuple(call.name for call in calls))
            self._gone += self._step.given_up()
            self._live.built()

    def dropped(self) -> list[Draft]:
        """The ends of what no call came of, to be journaled with what follows. Checkpoints must
        have been drained.
        """
        gone, self._gone = self._gone, []
        return [draft for one in gone if one.is_shown for draft in _drafts(one, "dropped")]

    async def written(self, calls: Sequence[ToolCall]) -> list[Draft]:
        """The text that calls are made with, as far as it is not durable, to be journaled with
        the calls. Checkpoints must have been drained.
        """
        drafts: list[Draft] = []
        for call in calls:
            descriptor = self._asked[1].tools.get(call.name)
            if descriptor is None or descriptor.generated is None or call.arguments is None:
                continue
            self._step = self._step or self._watched()
            generation = self._step.final(call.ordinal, descriptor, call.arguments)
            if generation is not None and await self._is_told(generation, call.arguments):
                drafts += _drafts(generation, "written")
        return drafts

    def _watched(self) -> ArtifactGenerationCheckpoints:
        step, offer = self._asked
        return ArtifactGenerationCheckpoints(
            Watch(
                offered=offer.tools,
                call_id=lambda place: toolcalls.id_of(self._live.turn_id, step, place),
                may_repeat=self._may_repeat,
                is_repeat=self._is_repeat,
                clean=self._guard.arguments,
                masking=self._guard.masking,
                segment=self._live.next_build,
                clock=time.monotonic,
            )
        )

    def _may_repeat(self, descriptor: ToolDescriptor, members: Json) -> bool:
        """Whether the arguments so far are those of an earlier call that would not be run twice."""
        if not descriptor.suppress_identical_repeat:
            return False
        so_far = {(name, toolcalls.digest(value)) for name, value in members.items()}
        return any(
            call.name == descriptor.name and so_far <= set(call.fields) for call in self._earlier
        )

    def _is_repeat(self, descriptor: ToolDescriptor, arguments: Json) -> bool:
        """Whether the ledger would answer the call; asking it counts no attempt."""
        snapshot = self._asked[1].snapshot_id
        digest = toolcalls.digest(arguments)
        return self._memory.ledger.peek(descriptor, digest, snapshot) is not None

    def _put(self, generation: Generation) -> None:
        """Have what is new of a generation journaled; it is live from its first frame on."""
        reached = -1

        async def make() -> list[Draft]:
            nonlocal reached
            members = self._guard.arguments(generation.reader.members)
            if generation.is_off or not await self._is_told(generation, members):
                return []
            if generation.is_shown and generation.characters == generation.durable:
                return []
            reached = generation.characters
            return _drafts(generation, "building")

        def written() -> None:
            if reached < 0:
                return
            generation.durable = reached
            begins, generation.is_shown = not generation.is_shown, True
            if begins and not (self._is_over or generation.is_off):
                self._live.build(generation.segment, generation.text)

        self._checkpoints.put(Checkpoint(make, written))

    async def _is_told(self, generation: Generation, arguments: Json) -> bool:
        """Find out, once, what the text becomes; False where it becomes nothing."""
        if generation.described is None:
            try:
                generation.described = await in_database(
                    generation.generated.describe, self._admitted.identity, arguments
                )
            except Refusal:
                generation.is_off = True
        return not generation.is_off


def _drafts(generation: Generation, state: State) -> list[Draft]:
    frames = checkpoint_generation(generation, state)
    return [Draft(Kind.ARTIFACT_BUILDING, frame) for frame in frames]
