"""A worker that lost its run changes nothing, whatever it tries: every write path there is.

The paths are read from the source: a function that takes a claim, a fence or the identity of a
run and is not below is a path nobody has thought about.
"""

import ast
import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from agents.conversations import steers
from agents.engine.effects import Settle, Terminal
from agents.gateway import budgets
from agents.gateway.budgets import Amount
from agents.gateway.models import Budget
from agents.journal import append as journal
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.members.models import Member
from agents.turns import answers, authority, parking, steering
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from artifacts import outputs, staging, writing
from artifacts.editing import Hunk
from artifacts.models import StagedArtifact
from artifacts.writing import RunWrite
from tests.artifacts.envelopes import ferries
from tests.boundaries.source import Source, runtime_sources
from tests.state import held
from tests.turns.admitting import asked, prepare, took
from tools.boundary import clearance, permission
from tools.boundary.contract import ArtifactOutput, Ports, ToolCall
from tools.boundary.execution import handle_tool_exec
from tools.effects import claims, reservations
from tools.effects.claims import Claim, LeaseLost

pytestmark = pytest.mark.django_db

TELLING = {"claim", "fence", "admitted", "claims", "run", "identity"}
PLACES = ("agents/journal/", "agents/turns/", "agents/gateway/budgets", "tools/", "artifacts/")
NOTICE = Draft(Kind.NOTICE, {"message": "late", "code": "late"})
ANSWER = Draft(Kind.ASSISTANT_MESSAGE, {"text": "late", "segment": 0}, {"step": 1})
# Paths that prove nothing themselves, and who does so for them.
INSIDE = {
    "agents/gateway/budgets.py settle": "in the transaction of `answers.commit`",
    "tools/boundary/approvals.py consume": "in the transaction of `clearance.clear`",
    "tools/boundary/approvals.py stage": "in the transaction of `parking.park`",
    "tools/effects/reservations.py begin": "in a transaction that has proved the fence",
    "tools/boundary/authority.py decide": "reached through `handle_tool_exec`",
    "agents/turns/compaction.py run": "its one write is `answers.settle`",
    "agents/turns/compaction.py sum_up": "writes nothing",
    "agents/turns/refusing.py refuse": "an audit row about what was not done",
    "agents/turns/recovery.py rebuild": "reads",
    "agents/turns/authority.py now": "reads",
    "tools/boundary/approvals.py digest_of": "reads",
    "tools/boundary/authority.py row_details": "reads",
    "tools/boundary/outputs.py kept": "its one write is `artifacts.outputs.keep`",
    "tools/builtin/acting.py member_of": "reads",
    "tools/builtin/artifact_answers.py run_of": "reads",
    "tools/builtin/artifact_naming.py target_of": "reads",
    "tools/builtin/artifact_staging.py of_draft": "reads",
    "tools/builtin/artifact_watching.py new": "reads",
    "tools/builtin/artifact_watching.py next_version": "reads",
    "tools/builtin/artifact_watching.py part": "reads",
    "tools/effects/claims.py prove": "is the proof",
}


@dataclass
class World:
    """A run that changed hands, seen by the worker that lost it."""

    old: Admitted
    new: Admitted
    member: Member

    @property
    def claim(self) -> Claim:
        return self.old.claim

    @property
    def write(self) -> RunWrite:
        return RunWrite(self.claim.run_id, self.claim.fence, "call-1", "agent:late")


@pytest.fixture
def world(alice: Member) -> World:
    prepare()
    Budget.objects.create(member=alice, amount=1_000_000)
    accepted = asked(alice)
    old = took(accepted, lease_s=-1)
    new = took(accepted)
    steers.accept(
        member=alice,
        conversation_id=new.identity.conversation_id,
        turn_id=new.claim.run_id,
        message="Shorter.",
        key=uuid4().hex,
    )
    return World(old, new, alice)


def call(name: str = "create_artifact") -> ToolCall:
    arguments = {"title": "Plan", "kind": "text", "content": "06:40"}
    return ToolCall(
        call_id="call-1",
        step=1,
        ordinal=0,
        name=name,
        arguments=arguments,
        unreadable=None,
        provider_id="p",
    )


def ports(world: World) -> Ports:
    async def here(work: Callable[..., Any], *values: Any) -> Any:
        return work(*values)

    return Ports(authority=authority.now, in_database=here, offered=world.old.offered)


def executed(world: World) -> object:
    return asyncio.run(handle_tool_exec(call(), world.old.identity, ports(world)))


def cleared(world: World) -> object:
    own = ports(world)
    permitted = permission.permit(call(), own, own.authority(world.old.identity))
    assert isinstance(permitted, permission.Permitted)
    return clearance.clear(call(), world.old.identity, permitted)


def updated(world: World) -> object:
    made = writing.create(actor=world.member, draft=writing.Draft("Plan", "text", "a"))
    world.base = held()  # type: ignore[attr-defined]  # what was made on the way is not the write
    return writing.update(
        actor=world.member,
        artifact_id=made.artifact_id,
        content="b",
        expected_version=1,
        run=world.write,
    )


def edited(world: World) -> object:
    made = writing.create(actor=world.member, draft=writing.Draft("Plan", "text", "a\n"))
    world.base = held()  # type: ignore[attr-defined]  # as above
    return writing.edit(
        actor=world.member,
        artifact_id=made.artifact_id,
        base_version=1,
        tag=made.tag,
        hunks=[Hunk("PUT", first=1, last=1, lines=("late",))],
        run=world.write,
    )


def staged(world: World, step: Callable[..., object], **values: Any) -> object:
    """A step of the staged writer after a part that the newer worker has written."""
    new = RunWrite(world.claim.run_id, world.new.claim.fence, "call-0", "agent:new")
    row = begun(world, new)
    part = staging.append(actor=world.member, staged_id=row.id, ordinal=1, content="a", run=new)
    world.base = held()  # type: ignore[attr-defined]  # as above
    given = {name: part.receipt if name == "receipt" else value for name, value in values.items()}
    return step(actor=world.member, staged_id=row.id, run=world.write, **given)


def begun(world: World, run: RunWrite) -> StagedArtifact:
    return staging.begin(
        actor=world.member,
        title="Plan",
        kind="text",
        language="",
        conversation_id=None,
        run=run,
    )


def budgeted(world: World) -> object:
    amount = Amount(tokens=100, money=0)
    return budgets.reserve(
        world.member.pk,
        holder_id=world.claim.run_id,
        fence=world.claim.fence,
        most=amount,
        certain=amount,
    )


PATHS: dict[str, Callable[[World], object]] = {
    "agents/gateway/budgets.py reserve": budgeted,
    "agents/journal/append.py append": lambda w: journal.append(
        w.old.identity.conversation_id, [NOTICE], claim=w.claim
    ),
    "agents/turns/answers.py commit": lambda w: answers.commit(w.old, Pending([ANSWER])),
    "agents/turns/answers.py settle": lambda w: answers.settle(
        w.old, Pending([ANSWER]), Settle(Terminal.COMPLETED), Spent()
    ),
    "agents/turns/parking.py park": lambda w: parking.park(w.old, []),
    "agents/turns/steering.py take": lambda w: steering.take(w.claim),
    "agents/turns/steering.py apply": lambda w: steering.apply(w.claim, steering.take(w.new.claim)),
    "artifacts/writing.py create": lambda w: writing.create(
        actor=w.member, draft=writing.Draft("Plan", "text", "late"), run=w.write
    ),
    "artifacts/writing.py update": updated,
    "artifacts/writing.py edit": edited,
    "artifacts/outputs.py keep": lambda w: outputs.keep(
        w.old.identity, "call-1", (ArtifactOutput(ferries()),)
    ),
    "artifacts/staging.py begin": lambda w: begun(w, w.write),
    "artifacts/staging.py append": lambda w: staged(w, staging.append, ordinal=2, content="late"),
    "artifacts/staging.py finalize": lambda w: staged(w, staging.finalize, parts=1, receipt=""),
    "artifacts/staging.py discard": lambda w: staged(w, staging.discard),
    "tools/boundary/clearance.py clear": cleared,
    "tools/boundary/clearance.py close": lambda w: clearance.close(call(), w.old.identity),
    "tools/boundary/execution.py handle_tool_exec": executed,
    "tools/effects/claims.py renew": lambda w: claims.renew([w.claim], lease_s=999),
    "tools/effects/claims.py release": lambda w: claims.release(w.claim.run_id, w.claim.fence),
    "tools/effects/claims.py settle": lambda w: claims.settle(w.claim.run_id, w.claim.fence),
    "tools/effects/claims.py park": lambda w: claims.park(w.claim.run_id, w.claim.fence),
    "tools/effects/reservations.py reserve": lambda w: reservations.reserve(w.claim, "call-1"),
}


@pytest.mark.req("INP-019")
@pytest.mark.parametrize("path", PATHS)
def test_a_worker_that_lost_its_run_changes_nothing(world: World, path: str) -> None:
    before = held()
    with suppress(LeaseLost), transaction.atomic():
        PATHS[path](world)
        before = getattr(world, "base", before)
    assert held() == before


def public_writers(sources: list[Source]) -> set[str]:
    """Functions others may call that are told which run they write for."""
    return {
        f"{source.path} {node.name}"
        for source in sources
        if source.path.startswith(PLACES)
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and {each.arg for each in (*node.args.args, *node.args.kwonlyargs)} & TELLING
    }


def test_every_path_is_tried_or_says_who_proves_for_it() -> None:
    found = public_writers(list(runtime_sources()))
    assert found - set(PATHS) - set(INSIDE) == set()
    assert (set(PATHS) | set(INSIDE)) - found == set()
