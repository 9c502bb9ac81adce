"""Calls and results as policies see them."""

from typing import Any

from agents.engine.events import CallRequested, Repair, ToolSettled


def call(
    name: str, call_id: str = "c1", *, writes: bool = False, **arguments: str
) -> CallRequested:
    """A call whose digests are its arguments themselves."""
    fields = tuple(sorted(arguments.items()))
    return CallRequested(call_id, name, digest=str(fields), fields=fields, writes=writes)


def settled(made: CallRequested, outcome: Any = "success", **facts: Any) -> ToolSettled:
    """The result of a call."""
    return ToolSettled(made.call_id, outcome, tool=made.name, arguments_digest=made.digest, **facts)


def denied(made: CallRequested, cause: str) -> ToolSettled:
    """The result of a call that was not allowed to run."""
    return settled(made, "denied", denial=cause)


def failed(made: CallRequested, repair: Repair | None = None) -> ToolSettled:
    """The result of a call that ran and failed."""
    return settled(made, "error", error_class="tool_error", repair=repair)
