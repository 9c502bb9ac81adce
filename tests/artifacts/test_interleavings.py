"""A person and an agent edit one artifact at the same time, in every order that comes up.

Real threads on PostgreSQL. Each writer adds lines of its own and changes its own ones, reading
anew whenever it was too late. Whatever the order, no line that was once saved is lost.
"""

import random
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import connection, transaction

from agents.members.models import Member
from artifacts import editing, reading, writing
from artifacts.editing import Hunk
from artifacts.models import ArtifactVersion
from artifacts.writing import Draft, RunWrite
from audit.refusals import Conflict
from tests.patience import promised, until

ROUNDS: Final = 100
EDITS: Final = 3  # of each writer in a round


class Writer:
    """Somebody who adds lines and rewrites the last of their own; keeps count of what was late."""

    def __init__(self, name: str, chance: random.Random, write: Callable[..., Any]) -> None:
        self.name = name
        self.chance = chance
        self.write = write
        self.mine: list[str] = []
        self.late = 0

    def edit(self, member: Member, artifact_id: UUID, number: int) -> None:
        """One edit, made again on the newest version until it is in time."""
        while True:
            base = reading.version(member, artifact_id)
            lines = [line.text for line in editing.split(base.content).lines]
            hunk, mine = self._hunk(lines, number)
            try:
                self.write(base, hunk)
            except Conflict:
                self.late += 1
                continue
            self.mine = mine
            return

    def _hunk(self, lines: list[str], number: int) -> tuple[Hunk, list[str]]:
        added = f"{self.name} {number}"
        if self.mine and self.chance.random() < 0.4:
            place = lines.index(self.mine[-1]) + 1
            changed = f"{self.mine[-1]}, changed in {number}"
            hunk = Hunk("PUT", first=place, last=place, lines=(changed, added))
            return hunk, [*self.mine[:-1], changed, added]
        after = self.chance.randrange(len(lines) + 1)
        return Hunk("PUT", after=after, lines=(added,)), [*self.mine, added]


@pytest.mark.req("ART-004", "ART-006")
def test_a_hundred_interleavings_of_a_person_and_an_agent_lose_no_line(
    committed_db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run(lease_s=3_600)
    rounds = []
    for seed in range(ROUNDS):
        made = writing.create(actor=alice, draft=Draft("Notes", "text", "first\nlast\n"))
        rounds.append((made.artifact.id, _writers(alice, made.artifact.id, run, seed)))
    _together(alice, rounds)
    for artifact_id, writers in rounds:
        _check(alice, artifact_id, *writers)
    late = sum(writer.late for _, writers in rounds for writer in writers)
    assert late > 0, "they never met, so nothing was tried"


def _writers(alice: Member, artifact_id: UUID, run: RunWrite, seed: int) -> tuple[Writer, Writer]:
    """The person saves whole or by hunks, the agent by hunks under its fence."""
    calls = (f"{artifact_id}:{number}" for number in range(1_000))

    def by_person(base: ArtifactVersion, hunk: Hunk) -> None:
        if base.number % 2:
            writing.update(
                actor=alice,
                artifact_id=artifact_id,
                content=editing.apply(base.content, [hunk]),
                expected_version=base.number,
            )
        else:
            _by_hunk(alice, base, hunk, None)

    def by_agent(base: ArtifactVersion, hunk: Hunk) -> None:
        call = RunWrite(run.run_id, run.fence, next(calls), run.principal)
        _by_hunk(alice, base, hunk, call)

    return (
        Writer("person", random.Random(seed), by_person),
        Writer("agent", random.Random(seed + ROUNDS), by_agent),
    )


def _by_hunk(member: Member, base: ArtifactVersion, hunk: Hunk, run: RunWrite | None) -> None:
    writing.edit(
        actor=member,
        artifact_id=base.artifact_id,
        base_version=base.number,
        tag=base.tag,
        hunks=[hunk],
        run=run,
    )


def _together(alice: Member, rounds: Sequence[tuple[UUID, tuple[Writer, Writer]]]) -> None:
    """One thread writes all the person's parts, one all the agent's; they begin a round at once."""
    start = threading.Barrier(2)
    faults: list[BaseException] = []

    def work(place: int) -> None:
        try:
            for artifact_id, writers in rounds:
                start.wait(promised(60))
                for number in range(EDITS):
                    writers[place].edit(alice, artifact_id, number)
        except BaseException as fault:
            faults.append(fault)
            start.abort()
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(promised(300))
    assert not faults, faults[0]


def _check(alice: Member, artifact_id: UUID, person: Writer, agent: Writer) -> None:
    """All edits are there, each in a version of its own, and every version builds on the last."""
    newest = reading.version(alice, artifact_id)
    lines = [line.text for line in editing.split(newest.content).lines]
    assert newest.number == 1 + 2 * EDITS
    assert sorted(lines) == sorted(["first", "last", *person.mine, *agent.mine])
    rows = ArtifactVersion.objects.filter(artifact_id=artifact_id).order_by("number")
    texts = [[line.text for line in editing.split(row.content).lines] for row in rows]
    for before, after in pairwise(texts):
        kept = [line for line in before if line in after]
        assert len(before) - len(kept) <= 1  # at most the line that was rewritten
        assert [line for line in after if line in before] == kept


@pytest.mark.req("ART-006")
def test_a_writer_who_waits_for_another_is_told_what_that_one_wrote(
    committed_db: None, alice: Member
) -> None:
    made = writing.create(actor=alice, draft=Draft("Notes", "text", "one\ntwo\n"))
    held, told = threading.Event(), []

    def late() -> None:
        try:
            held.wait(promised(30))
            _by_hunk(alice, made, Hunk("PUT", first=2, last=2, lines=("dos",)), None)
        except Conflict as conflict:
            told.append(conflict)
        finally:
            connection.close()

    waiting = threading.Thread(target=late)
    waiting.start()
    with transaction.atomic():
        _by_hunk(alice, made, Hunk("PUT", first=1, last=1, lines=("uno",)), None)
        held.set()
        until(_somebody_waits, "the other writer to wait")
    waiting.join(promised(30))
    (conflict,) = told
    assert conflict.current == 2
    assert conflict.details["diff"] == "@@ -1,2 +1,2 @@\n-one\n+uno\n two"
    assert reading.version(alice, made.artifact.id).content == "uno\ntwo\n"


def _somebody_waits() -> bool:
    """Whether another session waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return cursor.fetchone() is not None
