"""How much fits into a model's window. The one place where tokens are estimated.

Exact counts are the provider's, and come after the request; what is decided before it is decided
with these.
"""

from collections.abc import Iterable
from typing import Any, Final

from audit.limits import limit

CHARACTERS_PER_TOKEN: Final = 3  # cautious for English and code
MINIMUM_CHARACTERS: Final = 4_000
FULL_AT: Final = 0.9  # of the history's budget; the rest is room for the turn at hand
WORTH: Final = 0.25  # of the budget must go away, or summing up would not help
KEPT_TOKENS = limit(
    "turn.kept_messages",
    20_000,
    "count",
    "Tokens of a person's newest messages kept word for word when older ones are summed up.",
)


def tokens_of(characters: int) -> int:
    """The estimate for a text of so many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def characters_of(messages: Iterable[dict[str, Any]]) -> int:
    """What messages weigh: their texts and the arguments of their calls."""
    return sum(
        len(message["content"] or "")
        + sum(len(call["function"]["arguments"]) for call in message.get("tool_calls", ()))
        for message in messages
    )


def estimate(messages: Iterable[dict[str, Any]]) -> int:
    """The tokens a request with these messages is taken to have."""
    return tokens_of(characters_of(messages))


def budget_characters(context_window: int, max_output_tokens: int) -> int:
    """How much history fits beside the system prompt and the answer."""
    tokens = context_window - max_output_tokens - context_window // 8
    return max(MINIMUM_CHARACTERS, tokens * CHARACTERS_PER_TOKEN)


def is_full(characters: int, budget: int) -> bool:
    """Whether history of so many characters should be summed up before more is added."""
    return characters >= budget * FULL_AT


def is_worth_it(characters: int, budget: int) -> bool:
    """Whether so many characters that a summary replaces make room."""
    return characters >= budget * WORTH
