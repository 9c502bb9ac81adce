"""Counters and histograms with closed labels. A label never carries an id, a name or free text."""

from collections.abc import Collection

from prometheus_client import Counter, Histogram

from audit.reasons import Action, Outcome, Reason

TERMINALS = frozenset({"completed", "salvaged", "failed", "cancelled"})
# How a model's stream ended, as the gateway reports it, or that the turn gave it up.
MODEL_OUTCOMES = frozenset({"complete", "tool_calls", "truncated", "failed", "cancelled"})
OUTCOMES = frozenset(Outcome)
ACTIONS = frozenset(Action)
FIRST_TOKEN_BUCKETS_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_tool_runs = Counter("kaizen_tool_run", "Tool calls by outcome.", ["outcome"])
_model_calls = Counter("kaizen_model_call", "Model calls by outcome.", ["outcome"])
_turns_ended = Counter("kaizen_turn_ended", "Turns by terminal.", ["terminal"])
_audit_events = Counter("kaizen_audit_event", "Committed audit rows by action.", ["action"])
_first_token = Histogram(
    "kaizen_first_token_seconds",
    "From accepting an input to the first token of its answer.",
    buckets=FIRST_TOKEN_BUCKETS_S,
)
_tool_seconds = Histogram("kaizen_tool_seconds", "Run time of executed tool calls.")


def tool_run(outcome: Outcome | str) -> None:
    """Count one tool invocation; exactly once each."""
    _tool_runs.labels(outcome=_label(outcome, OUTCOMES)).inc()


def model_call(outcome: str) -> None:
    """Count one model call; `outcome` is one of `MODEL_OUTCOMES`."""
    _model_calls.labels(outcome=_label(outcome, MODEL_OUTCOMES)).inc()


def turn_ended(terminal: str) -> None:
    """Count one settled turn; `terminal` is one of `TERMINALS`."""
    _turns_ended.labels(terminal=_label(terminal, TERMINALS)).inc()


def audit_event(action: Action | str) -> None:
    """Count one committed audit row. Called by the funnel only."""
    _audit_events.labels(action=_label(action, ACTIONS)).inc()


def first_token(seconds: float) -> None:
    """Observe the time from accepting an input to its first token."""
    _first_token.observe(seconds)


def tool_seconds(seconds: float) -> None:
    """Observe the run time of one executed tool call."""
    _tool_seconds.observe(seconds)


def _label(value: str, closed: Collection[str]) -> str:
    """An unknown label would grow without bound in the metrics store; it becomes `overflow`."""
    return str(value) if value in closed else str(Reason.OVERFLOW)
