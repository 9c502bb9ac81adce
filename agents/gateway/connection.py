"""Everything one model call needs to reach its server, resolved on our side, not by a caller."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from audit.limits import limit

CONNECT_S = limit("model.connect", 10, "seconds", "Longest time to connect to a model server.")
FIRST_BYTE_S = limit(
    "model.first_byte", 110, "seconds", "Longest wait for the first byte of a model's answer."
)
IDLE_S = limit("model.idle", 60, "seconds", "Longest silence in the middle of a model's answer.")
TOTAL_S = limit("model.total", 600, "seconds", "Longest time one model answer may take.")

ToolCalls = Literal["native", "constrained", "none"]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """All in seconds."""

    connect_s: float = float(CONNECT_S)
    first_byte_s: float = float(FIRST_BYTE_S)
    idle_s: float = float(IDLE_S)
    total_s: float = float(TOTAL_S)


@dataclass(frozen=True, slots=True)
class Connection:
    """`url` is the address of chat completions. With `unix_socket` the request goes over that
    socket and the host in `url` is only a name. Certificates of https addresses are always
    verified. `key` is the secret itself: it is kept out of every representation.
    """

    deployment_id: UUID
    url: str
    unix_socket: str | None
    model: str
    key: str | None = field(repr=False)
    tool_calls: ToolCalls = "native"
    inline_think_tags: bool = False
    reasoning_starts_open: bool = False
    max_output_tokens: int | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
