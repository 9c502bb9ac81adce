"""Room for a call before it is made: in the turn itself, and in every budget."""

from typing import Any, Final

from agents.gateway import budgets
from agents.gateway.budgets import Amount, Exhausted
from agents.gateway.calls import CallSubject
from agents.gateway.connection import Connection
from agents.gateway.events import ModelRequest, Usage
from agents.journal.offloading import in_database
from audit.reasons import Reason

# A rough measure for text in any language and for JSON; the provider's own report settles it.
CHARACTERS_PER_TOKEN: Final = 3
MESSAGE_TOKENS: Final = 8
# What an answer may take where a deployment does not say.
ANSWER_TOKENS: Final = 4_096


async def before_call(
    connection: Connection, subject: CallSubject, request: ModelRequest, *, spent_tokens: int = 0
) -> Reason | None:
    """Why the call may not be made now: `TOKEN_LIMIT`, `BUDGET_EXHAUSTED`, or None when it may.

    `spent_tokens` is what the turn has used so far. Where budgets exist, the most that the call
    can use is held until `calls.record` writes its outcome; where none do, nothing is asked.
    """
    if connection.turn_tokens is not None and spent_tokens >= connection.turn_tokens:
        return Reason.TOKEN_LIMIT
    full = await hold(connection, subject, request)
    return None if full is None else Reason.BUDGET_EXHAUSTED


async def hold(
    connection: Connection, subject: CallSubject, request: ModelRequest
) -> Exhausted | None:
    """Hold the most that the call can use of every budget; the one without room for it, if any,
    and then nothing is held.
    """
    holder_id = subject.holder_id
    if not connection.is_budgeted or subject.member_id is None or holder_id is None:
        return None
    most, certain = expected(connection, request)
    return await in_database(
        budgets.reserve,
        subject.member_id,
        holder_id=holder_id,
        fence=subject.fence,
        most=most,
        certain=certain,
    )


def expected(connection: Connection, request: ModelRequest) -> tuple[Amount, Amount]:
    """The most a call is expected to use, and what its input alone is."""
    prompt = sum(MESSAGE_TOKENS + _tokens(message) for message in request.messages)
    prompt += sum(_tokens(tool.parameters) + _tokens(tool.description) for tool in request.tools)
    answer = request.max_output_tokens or connection.max_output_tokens or ANSWER_TOKENS
    whole, asked = Usage(prompt, answer), Usage(prompt, 0)
    return (
        Amount(prompt + answer, connection.prices.cost(whole)),
        Amount(prompt, connection.prices.cost(asked)),
    )


def _tokens(value: Any) -> int:
    """About how many tokens a text or a structure of texts is."""
    if isinstance(value, str):
        return len(value) // CHARACTERS_PER_TOKEN
    if isinstance(value, dict):
        return sum(_tokens(name) + _tokens(inner) for name, inner in value.items())
    if isinstance(value, list):
        return sum(map(_tokens, value))
    return 1
