"""Which answer of a model is kept, and how often it is asked again for one that is not. Pure.

Four kinds of answers are dropped: blank ones, those the output limit cut before anything was said,
those that run into a correction rule, and those that pass over a tool the member required. What
was dropped never enters history; each kind has bounds of its own, and none uses up a model step.
"""

from dataclasses import dataclass, field, replace

from agents.engine import bounds, correction
from agents.engine.effects import CallModel, Nudge, Settle, Terminal
from agents.engine.events import End, ModelAnswered

EMPTY_RESPONSES = "provider_empty_response_exhausted"
OUTPUT_TRUNCATED = "output_truncated"
REQUIRED_TOOL_BLOCKED = "required_tool_blocked"


@dataclass(frozen=True)
class Sampling:
    """How often answers were dropped.

    `payload` and `blanks` count blank answers to one request, `blanks_in_a_row` those to any;
    `continuations`, `reminders` and `corrections` count for the whole turn.
    """

    payload: str = ""
    blanks: int = 0
    blanks_in_a_row: int = 0
    continuations: int = 0
    reminders: int = 0
    corrections: dict[str, int] = field(default_factory=dict)


def judge(
    sampling: Sampling, answered: ModelAnswered
) -> tuple[Sampling, CallModel | Settle | None]:
    """What has to be done instead of taking the answer; None takes it."""
    if answered.end is End.FAILED:
        return sampling, Settle(Terminal.FAILED, answered.failure)
    if not answered.calls and not answered.has_text:
        if answered.end is End.TRUNCATED:
            return _cut_before_anything(sampling, answered)
        return _blank(sampling, answered)
    heard = replace(sampling, payload="", blanks=0, blanks_in_a_row=0)
    if answered.rule == correction.REQUIRED_TOOL:
        return _passed_over(heard, answered)
    done = heard.corrections.get(answered.rule, 0)
    if answered.rule and done < bounds.MAX_CORRECTIONS:
        corrections = {**heard.corrections, answered.rule: done + 1}
        again = CallModel(answered.step, Nudge.RULE, answered.rule)
        return replace(heard, corrections=corrections), again
    return heard, None


def _blank(sampling: Sampling, answered: ModelAnswered) -> tuple[Sampling, CallModel | Settle]:
    """A request is asked again until its retries are spent, and then once more: that one is the
    last. However the requests differ, twice the retries in a row end the turn too.
    """
    same = answered.payload == sampling.payload
    blank = replace(
        sampling,
        payload=answered.payload,
        blanks=sampling.blanks + 1 if same else 1,
        blanks_in_a_row=sampling.blanks_in_a_row + 1,
    )
    spent = blank.blanks > 1 + bounds.EMPTY_RESPONSE_RETRIES
    if spent or blank.blanks_in_a_row >= 2 * bounds.EMPTY_RESPONSE_RETRIES:
        return blank, Settle(Terminal.FAILED, EMPTY_RESPONSES)
    return blank, CallModel(answered.step)


def _cut_before_anything(
    sampling: Sampling, answered: ModelAnswered
) -> tuple[Sampling, CallModel | Settle]:
    if sampling.continuations >= bounds.MAX_CONTINUATIONS:
        return sampling, Settle(Terminal.FAILED, OUTPUT_TRUNCATED)
    continued = replace(sampling, continuations=sampling.continuations + 1)
    return continued, CallModel(answered.step, Nudge.CONTINUE)


def _passed_over(
    sampling: Sampling, answered: ModelAnswered
) -> tuple[Sampling, CallModel | Settle | None]:
    """An answer without the required call is held back; calls of other tools come to the boundary
    the second time, which refuses them for good.
    """
    if sampling.reminders >= bounds.MAX_REQUIRED_REMINDERS:
        if answered.calls:
            return sampling, None
        return sampling, Settle(Terminal.FAILED, REQUIRED_TOOL_BLOCKED)
    reminded = replace(sampling, reminders=sampling.reminders + 1)
    return reminded, CallModel(answered.step, Nudge.REQUIRED)
