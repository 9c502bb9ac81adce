"""The one way from a run to a tool.

Every call passes five stages in this order: authority as it is now, whether the tool is offered,
the ceiling, execution under the member within a time limit, and projection. `authority` holds
the first three; this module runs what they admit and is the only caller of a tool.
"""

import asyncio
import logging
from dataclasses import replace
from time import monotonic
from typing import Final

from django.db import Error as DatabaseFault

from audit import funnel, metrics
from audit.limits import limit
from audit.reasons import Action, ErrorClass, Reason
from tools.boundary import authority, compression, facts, failures, outputs, projection
from tools.boundary.clearance import Begun
from tools.boundary.contract import (
    Json,
    Outcome,
    Parked,
    Ports,
    RunIdentity,
    ToolCall,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolOutcome,
    ToolResult,
)
from tools.boundary.failures import Denial, NotCommitted, Overrun
from tools.boundary.interruption import Interruptible
from tools.boundary.permission import Permitted
from tools.effects.claims import LeaseLost

DEFAULT_TIMEOUT_S = limit(
    "tool.default_timeout", 30, "seconds", "Time a tool call may take unless the tool says other."
)
CANCEL_GRACE_S: Final = 2.0  # how long a cancelled tool may take to clean up before it is let go
RESULTS: Final = frozenset({"success", "error", "pending_confirmation"})

UNKNOWN_WRITE: Final = (
    "The call ended without saying whether its change was made. It is not repeated."
)

logger = logging.getLogger(__name__)


async def handle_tool_exec(
    call: ToolCall, identity: RunIdentity, ports: Ports
) -> ToolOutcome | Parked:
    """Run one call, or say why not; what a tool or a model did wrong is an outcome, never raised.

    A call that its member has to approve first is `Parked`: nothing of it has run, and the same
    call is made again when they have decided. Re-raises cancellation, and `LeaseLost` when the run
    belongs to another worker by now. Counts exactly one `tool_run` for a call that settles, and
    writes one audit row for it (and one before it for a call that may change something); a result
    that cannot be recorded is withheld and closes the turn.
    """
    counted: str = "error"
    try:
        decision = await authority.decide(call, identity, ports)
        if isinstance(decision, Parked):
            counted = ""
            return decision
        outcome = await _outcome(call, identity, ports, decision)
        counted = "repeat_suppressed" if outcome.repeat == "suppressed" else outcome.outcome
        if ports.memory is not None:
            ports.memory.observe(facts.of(outcome), outcome.model_view, outcome.member_view)
        return outcome
    except asyncio.CancelledError:
        counted = "cancelled"
        raise
    finally:
        if counted:
            metrics.tool_run(counted)


async def _outcome(
    call: ToolCall,
    identity: RunIdentity,
    ports: Ports,
    decision: Permitted | Denial | Begun | ToolOutcome,
) -> ToolOutcome:
    match decision:
        case Permitted():
            return await _settled(call, identity, ports, decision)
        case Denial():
            return _denied(call, decision)
        case Begun():
            return _unknown(call)
        case ToolOutcome():
            return decision


async def _settled(
    call: ToolCall, identity: RunIdentity, ports: Ports, admitted: Permitted
) -> ToolOutcome:
    """Execute, project and record an admitted call."""
    started = monotonic()
    finds = ports.memory if admitted.descriptor.discovery else None
    context = ToolContext(
        identity=identity,
        call_id=call.call_id,
        in_database=Interruptible(ports.in_database),
        catalogue=finds.findable() if finds is not None else (),
    )
    try:
        outcome = await _executed(call, context, ports, admitted)
    except (asyncio.CancelledError, LeaseLost) as end:
        # Shielded, as a second cancellation must not leave the call without its row.
        await asyncio.shield(_recorded(_interrupted(call, end), identity, ports, admitted))
        raise
    seconds = monotonic() - started
    metrics.tool_seconds(seconds)
    outcome = replace(
        outcome,
        duration_ms=round(seconds * 1000),
        arguments_digest=admitted.arguments_digest,
        discovery=admitted.descriptor.discovery,
    )
    return await _recorded(outcome, identity, ports, admitted)


async def _executed(
    call: ToolCall, context: ToolContext, ports: Ports, admitted: Permitted
) -> ToolOutcome:
    """Stages four and five. What the result declares is kept in between, as part of the call."""
    descriptor = admitted.descriptor
    try:
        result = _normal(descriptor, await _within_time(descriptor, context, admitted))
        kept = await outputs.kept(call, context.identity, ports, result)
        room = 0 if kept is None else outputs.NOTICE_ROOM
        outcome = _projected(call, descriptor, outputs.bare(result, kept), room=room)
        if ports.compress:
            outcome = await compression.compressed(outcome, descriptor)
        return outcome if kept is None else outputs.noticed(outcome, result, kept)
    except LeaseLost:
        raise
    except Exception as fault:  # here, and only here, a tool's fault becomes an outcome
        logger.warning("tool %s failed in call %s", descriptor.name, call.call_id, exc_info=True)
        return _failed(call, descriptor, fault)


async def _within_time(
    descriptor: ToolDescriptor, context: ToolContext, admitted: Permitted
) -> ToolResult:
    """Run the tool in a task of its own, which is cancelled when time is up or the caller is."""
    task = asyncio.ensure_future(descriptor.execute(context, admitted.arguments))
    try:
        await asyncio.wait({task}, timeout=descriptor.timeout_s or DEFAULT_TIMEOUT_S)
        in_time = task.done()
    finally:
        await _stopped(task, descriptor)
    if not in_time:
        raise Overrun("The call took too long and was stopped.") from _proof(task)
    if task.cancelled():
        raise RuntimeError("The tool gave up its own work.")
    return task.result()


def _proof(task: asyncio.Future[ToolResult]) -> NotCommitted | None:
    """What a tool that was stopped knows about its change: that it was not made, or nothing."""
    fault = task.exception() if task.done() and not task.cancelled() else None
    return fault if isinstance(fault, NotCommitted) else None


async def _stopped(task: asyncio.Future[ToolResult], descriptor: ToolDescriptor) -> None:
    """Cancel a task that still runs and wait a little while it releases what it holds."""
    if task.done():
        return
    task.cancel()
    await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
    if not task.done():
        logger.error("tool %s does not heed its cancellation", descriptor.name)
    elif not task.cancelled() and task.exception() is not None:
        logger.warning("tool %s failed while it was cancelled", descriptor.name)


def _normal(descriptor: ToolDescriptor, result: ToolResult) -> ToolResult:
    """The result with its class of failure; raises `TypeError` for one no tool may return."""
    if not isinstance(result, ToolResult) or result.outcome not in RESULTS:
        raise TypeError("The tool returned something that is not a result.")
    if result.outcome == "pending_confirmation" and descriptor.kind is ToolKind.READ:
        raise TypeError("A reading tool has nothing to confirm.")
    if result.artifact_outputs and descriptor.kind is ToolKind.READ:
        raise TypeError("A reading tool keeps nothing.")
    if result.outcome != "error":
        return result
    caller = result.failure_domain == "caller"
    error_class = None if caller else result.error_class
    return replace(result, error_class=error_class or ErrorClass.TOOL_ERROR)


def _projected(
    call: ToolCall, descriptor: ToolDescriptor, result: ToolResult, *, room: int
) -> ToolOutcome:
    return ToolOutcome(
        call=call,
        outcome=result.outcome,
        model_view=projection.for_model(descriptor, result, room=room),
        member_view=projection.for_member(descriptor, result, room=room),
        presentation=projection.frames(result),
        sources=projection.sources(result),
        error_class=result.error_class,
        failure_domain=result.failure_domain,
        repair=result.repair,
        discovered=result.discovered,
    )


def _failed(call: ToolCall, descriptor: ToolDescriptor, fault: Exception) -> ToolOutcome:
    """An exception or overrun: read tools report it, an unknown write closes the turn."""
    ends_turn = None
    told = "This did not work."
    text = failures.text_of(fault)
    if isinstance(fault, DatabaseFault):
        text = "The database could not answer."  # its own words name tables, values and hosts
    not_made = isinstance(fault, NotCommitted) or isinstance(fault.__cause__, NotCommitted)
    if descriptor.kind is ToolKind.WRITE and not not_made:
        ends_turn, text, told = Reason.AMBIGUOUS_WRITE, UNKNOWN_WRITE, UNKNOWN_WRITE
    elif isinstance(fault, Overrun):
        told = text
    return _closed(
        call,
        "timeout" if isinstance(fault, Overrun) else "error",
        failures.error(failures.classify(fault), text),
        told=told,
        ends_turn=ends_turn,
    )


def _denied(call: ToolCall, denial: Denial) -> ToolOutcome:
    view: Json = {
        "outcome": "denied",
        "reason": str(denial.reason),
        "message": denial.detail,
        "problems": [dict(problem) for problem in denial.problems],
    }
    if denial.expected_schema is not None:
        view["expected_schema"] = denial.expected_schema
    return ToolOutcome(
        call=call,
        error_class=denial.error_class,
        outcome="denied",
        model_view=projection.bounded(view, projection.MODEL_VIEW),
        member_view={"message": denial.words},
        denial=denial.reason,
        ends_turn=denial.ends_turn,
        why=denial.why,
    )


def _unknown(call: ToolCall) -> ToolOutcome:
    """A change that had begun under an earlier worker; it is never begun again."""
    return _closed(
        call,
        "error",
        failures.error(ErrorClass.TOOL_ERROR, UNKNOWN_WRITE),
        told=UNKNOWN_WRITE,
        ends_turn=Reason.AMBIGUOUS_WRITE,
    )


def _interrupted(call: ToolCall, end: BaseException) -> ToolOutcome:
    """A call whose run was stopped or taken away; nobody reads it, the audit keeps it."""
    outcome: Outcome = "error" if isinstance(end, LeaseLost) else "cancelled"
    return ToolOutcome(call=call, outcome=outcome, model_view="", member_view={})


def _closed(
    call: ToolCall, outcome: Outcome, result: ToolResult, *, told: str, ends_turn: Reason | None
) -> ToolOutcome:
    """A failure in the boundary's words, `told` being those for people."""
    return ToolOutcome(
        call=call,
        outcome=outcome,
        model_view=projection.bounded(projection.as_payload(result), projection.MODEL_VIEW),
        member_view={"message": told},
        error_class=result.error_class,
        ends_turn=ends_turn,
    )


async def _recorded(
    outcome: ToolOutcome, identity: RunIdentity, ports: Ports, admitted: Permitted
) -> ToolOutcome:
    """The outcome once its audit row is written; one that cannot be recorded is withheld."""
    try:
        await ports.in_database(_record, outcome, identity, admitted)
    except Exception:  # whatever kept the row from being written, its call must not go on
        logger.exception("tool call %s could not be recorded", outcome.call.call_id)
        write = admitted.descriptor.kind is ToolKind.WRITE
        text = UNKNOWN_WRITE if write else "The call could not be recorded, its result is withheld."
        return _closed(
            outcome.call,
            "error",
            failures.error(ErrorClass.TOOL_ERROR, text),
            told=text,
            ends_turn=Reason.AMBIGUOUS_WRITE if write else Reason.UNAVAILABLE,
        )
    return outcome


def _record(outcome: ToolOutcome, identity: RunIdentity, admitted: Permitted) -> None:
    reason = outcome.ends_turn or outcome.error_class
    funnel.record(
        action=Action.TOOL_CALLED,
        actor=f"agent:{identity.agent_id}",
        outcome=outcome.outcome,
        reason=None if reason is None else Reason(reason),
        subject=("tool", admitted.descriptor.name),
        run_id=identity.run_id,
        details={
            **authority.row_details(outcome.call, identity),
            "arguments_digest": admitted.arguments_digest,
            "duration_ms": outcome.duration_ms,
        },
    )
