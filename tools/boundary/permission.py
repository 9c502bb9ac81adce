"""Whether a call is permitted: the questions in their fixed order, each with its own words.

Every question is answered from the database, the frozen offer and the tool's own description;
nothing a model writes into its arguments answers any of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from audit import canonical
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import Refusal
from tools.boundary import policies, schemas
from tools.boundary.contract import (
    Authority,
    Json,
    Ports,
    ToolCall,
    ToolDescriptor,
    ToolOutcome,
)
from tools.boundary.exposure import within
from tools.boundary.failures import Denial
from tools.boundary.models import PolicyMode

ARGUMENT_BYTES = limit(
    "tool.arguments", 1_048_576, "bytes", "Size of the arguments of one tool call, as JSON."
)

By = Literal["policy", "ceiling", "member", "budget", "approval", "offer", "schema", "repeat"]
Answered = Literal["allowed", "denied", "narrowed", "needs_approval"]

# Who speaks where a rule of the turn, and no question, kept a call from running.
RULES: Final[dict[Reason, By]] = {
    Reason.REPEAT_REFUSED: "repeat",
    Reason.REPAIR_EXHAUSTED: "repeat",
    Reason.CALL_ID_REUSED: "repeat",
    Reason.OUTPUT_TRUNCATED: "schema",
    Reason.BATCH_STOPPED: "member",
    Reason.BUDGET_EXHAUSTED: "budget",
}


@dataclass(frozen=True)
class Question:
    """One call, with what was found out about it so far."""

    call: ToolCall
    ports: Ports
    authority: Authority | None
    mode: PolicyMode = policies.UNDECIDED

    @property
    def descriptor(self) -> ToolDescriptor:
        """The offered tool; only for questions after the one whether it is offered."""
        return self.ports.offered[self.call.name]

    @property
    def proven(self) -> Authority:
        """What the run may do; only for questions after the one whether that is proven."""
        assert self.authority is not None, "asked before authority was proven"
        return self.authority


@dataclass(frozen=True)
class Permitted:
    """A call that may run as far as rights go. `why` lists the answers in their order."""

    descriptor: ToolDescriptor
    arguments: Json
    arguments_digest: str
    mode: PolicyMode
    why: tuple[Json, ...]


def answer(by: By, outcome: Answered, text: str, code: Reason | None = None) -> Json:
    """One line of the reasons people may read."""
    return {"by": by, "outcome": outcome, "code": str(code or ""), "text": text}


def reasons_of(outcome: ToolOutcome) -> tuple[Json, ...]:
    """What people may read of why a call did not simply run; nothing for one that did.

    Where nobody was asked, because a rule of the turn kept the call from the boundary, that rule is
    the one line.
    """
    if outcome.denial is None or any(line["code"] == outcome.denial for line in outcome.why):
        return outcome.why
    by = RULES.get(outcome.denial, "policy")
    told = str(outcome.member_view.get("message", ""))
    return (*outcome.why, answer(by, "denied", told, outcome.denial))


def permit(call: ToolCall, ports: Ports, authority: Authority | None) -> Permitted | Denial:
    """Ask the questions until one is answered with no."""
    question = Question(call, ports, authority)
    why: list[Json] = []
    for by, ask in QUESTIONS:
        if by == "policy":  # read only for a call that came so far
            question = replace(question, mode=policies.mode_of(question.descriptor.family))
        ruling = ask(question)
        if isinstance(ruling, Denial):
            why.append(answer(by, "denied", ruling.words, ruling.reason))
            return replace(ruling, why=tuple(why))
        why.append(answer(by, "allowed", ruling))
    arguments = call.arguments or {}
    return Permitted(
        question.descriptor, arguments, canonical.digest(arguments), question.mode, tuple(why)
    )


def _member(question: Question) -> str | Denial:
    if question.authority is None:
        return Denial(
            Reason.DECISION_UNREACHABLE,
            "The right to act could not be proven.",
            told="It could not be proven that you may use this agent here.",
        )
    return "You may use this agent here."


def _first_time(question: Question) -> str | Denial:
    memory = question.ports.memory
    if memory is not None and memory.has_settled(question.call.call_id):
        return Denial(Reason.CALL_ID_REUSED, "This call has its result already.")
    return "The call is made for the first time."


def _offer(question: Question) -> str | Denial:
    if question.call.name not in question.ports.offered:
        return _not_offered(question)
    if question.call.name not in question.proven.tool_names:
        return Denial(
            Reason.POLICY_REFUSED,
            "This tool is no longer allowed in this turn.",
            told="The agent has lost this tool since its turn began.",
        )
    return "The agent was offered this tool."


def _not_offered(question: Question) -> Denial:
    """What the run could have been offered is told apart from a name the model made up."""
    name, memory = question.call.name, question.ports.memory
    names = ", ".join(question.ports.offered) or "none"
    detail, told = f"There is no tool of this name here. Offered are: {names}.", ""
    if memory is not None and name in memory.health.withdrawn:
        detail = f"This tool failed too often in this turn. Offered are: {names}."
        told = "This tool failed too often in this turn, so it is not used any more."
    elif memory is not None and name in memory.catalogue:
        detail = f"This tool was not shown to you in this step. Offered are: {names}."
        told = "The agent has this tool and was not shown it in this step."
    return Denial(Reason.TOOL_NOT_OFFERED, detail, told=told)


def _policy(question: Question) -> str | Denial:
    family = question.descriptor.family
    if question.mode is PolicyMode.OFF:
        return Denial(
            Reason.POLICY_REFUSED,
            "This tool is switched off.",
            told=f"An administrator has switched off the tools of the family {family}.",
        )
    if policies.asks(question.descriptor, question.mode):
        if question.mode is PolicyMode.APPROVAL:
            return f"An administrator wants you to approve changes by the family {family}."
        return "Sensitive tools always need your approval."
    return f"The tools of the family {family} are switched on."


def _ceiling(question: Question) -> str | Denial:
    tier, ceiling = question.descriptor.tier, question.proven.ceiling
    if not within(tier, ceiling):
        return Denial(
            Reason.POLICY_REFUSED,
            f"This tool needs the {tier} tier; the agent may go up to {ceiling}.",
            told=f"This tool may {_may(tier)}; this agent may only {_may(ceiling)}.",
        )
    return f"The agent may {_may(ceiling)}."


def _may(tier: str) -> str:
    return {"read": "read", "write": "change things", "sensitive": "make sensitive changes"}[tier]


def _schema(question: Question) -> str | Denial:
    call = question.call
    if call.arguments is None:
        return _invalid(question, call.unreadable or "The arguments are not a JSON object.")
    try:
        text = canonical.dump(call.arguments)
    except Refusal as refusal:
        return _invalid(question, refusal.message)
    if len(text.encode()) > ARGUMENT_BYTES:
        return _invalid(question, f"The arguments are larger than {ARGUMENT_BYTES:,} bytes.")
    problems = schemas.problems(question.descriptor.parameters, call.arguments)
    if problems:
        return _invalid(question, "The arguments do not fit the tool.", *problems)
    return "The call has the form the tool expects."


def _invalid(question: Question, detail: str, *problems: schemas.Problem) -> Denial:
    return Denial(
        Reason.INVALID_ARGUMENTS,
        detail,
        problems=problems,
        expected_schema=schemas.advertised(question.descriptor.parameters),
    )


# The order is part of the contract: authority, permissions, ceiling, and only then the arguments.
QUESTIONS: Final[tuple[tuple[By, Callable[[Question], str | Denial]], ...]] = (
    ("member", _member),
    ("repeat", _first_time),
    ("offer", _offer),
    ("policy", _policy),
    ("ceiling", _ceiling),
    ("schema", _schema),
)
