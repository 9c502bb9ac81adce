"""Everything one model call needs to reach its server, resolved on our side, not by a caller."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal
from uuid import UUID

from agents.gateway.events import Usage
from audit.limits import limit

CONNECT_S = limit("model.connect", 10, "seconds", "Longest time to connect to a model server.")
FIRST_BYTE_S = limit(
    "model.first_byte", 110, "seconds", "Longest wait for the first byte of a model's answer."
)
IDLE_S = limit("model.idle", 60, "seconds", "Longest silence in the middle of a model's answer.")
TOTAL_S = limit("model.total", 600, "seconds", "Longest time one model answer may take.")
PROVIDER_RETRIES = limit(
    "model.retries", 2, "count", "How often a failed model request is repeated before it counts."
)

# Money is stored and summed in millionths of its unit.
MILLIONTHS = 1_000_000

ToolCalls = Literal["native", "constrained", "none"]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a server may take to be reached and to begin. In seconds."""

    connect_s: float = float(CONNECT_S)
    first_byte_s: float = float(FIRST_BYTE_S)


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """How a stream is kept: the longest silence in it, the longest it may last, both in seconds,
    and how often it is begun anew. It says nothing about whom to reach, so it travels beside the
    connection, not in it.
    """

    idle_s: float = float(IDLE_S)
    total_s: float = float(TOTAL_S)
    retries: int = int(PROVIDER_RETRIES)


USUAL = Lifecycle()


@dataclass(frozen=True, slots=True)
class TlsPolicy:
    """How the certificate of an https address is judged. `ca_file` is the path of a bundle of
    authorities instead of the usual ones; with `verify` False any certificate will do.
    """

    verify: bool = True
    ca_file: str | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens: of input, of input the provider had cached, of output."""

    input: Decimal = Decimal(0)
    cached: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    @property
    def any(self) -> bool:
        """Whether calls cost anything."""
        return bool(self.input or self.cached or self.output)

    def cost(self, usage: Usage) -> int:
        """What a call cost, in millionths of the unit of money, rounded to the nearest.

        A price for a million tokens in money is a price for one token in millionths of it.
        """
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        exact = (
            self.input * (usage.prompt_tokens - cached)
            + self.cached * cached
            + self.output * usage.completion_tokens
        )
        return int(exact.to_integral_value(ROUND_HALF_UP))


@dataclass(frozen=True, slots=True)
class Connection:
    """`url` is the address of chat completions. With `unix_socket` the request goes over that
    socket and the host in `url` is only a name. `key` is the secret itself: it is kept out of
    every representation. `effort` is what a request asks for that names none, None where the
    server knows no such thing. `turn_tokens` bounds all calls of one turn together. `is_budgeted`
    says that some budget exists, so that a call has to reserve before it is made.
    """

    deployment_id: UUID
    url: str
    unix_socket: str | None
    model: str
    key: str | None = field(repr=False)
    tool_calls: ToolCalls = "native"
    inline_think_tags: bool = False
    reasoning_starts_open: bool = False
    takes_effort: bool = False
    effort: str | None = None
    max_output_tokens: int | None = None
    context_window: int = 0
    turn_tokens: int | None = None
    is_budgeted: bool = False
    prices: Prices = field(default_factory=Prices)
    tls: TlsPolicy = field(default_factory=TlsPolicy)
    timeouts: Timeouts = field(default_factory=Timeouts)
