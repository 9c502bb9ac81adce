"""The words between the engine's host, the boundary and tools. Pure: no framework, no clock."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from re import Pattern
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar
from uuid import UUID

from audit.reasons import ErrorClass, Reason

if TYPE_CHECKING:
    from tools.boundary.memory import RunMemory

Answer = TypeVar("Answer")
Json = dict[str, Any]


class ToolKind(StrEnum):
    """Whether a call may persist anything, even in the member's own store."""

    READ = "read"
    WRITE = "write"


class Tier(StrEnum):
    """Capability tiers in rising order; a ceiling admits its own tier and those before it."""

    READ = "read"
    WRITE = "write"
    SENSITIVE = "sensitive"


TIER_ORDER = (Tier.READ, Tier.WRITE, Tier.SENSITIVE)


@dataclass(frozen=True)
class RepairDirective:
    """Facts about a failure that steer what the model may do next."""

    retryable: bool
    same_tool_required: bool = False
    locked_arguments: tuple[str, ...] = ()
    substitutable: bool = True


@dataclass(frozen=True)
class Presentation:
    """One frame for people that a result carries, such as a saved artifact."""

    kind: str
    data: Json


@dataclass(frozen=True)
class Canvas:
    """One Markdown page shown inside the conversation. It has no id, no version and no file."""

    title: str
    markdown: str


@dataclass(frozen=True)
class Revision:
    """The artifact that an output is the next version of, and the version it is based on."""

    artifact_id: UUID
    expected_version: int


@dataclass(frozen=True)
class ArtifactOutput:
    """One renderable envelope that a trusted result wants kept; unchecked until it is.

    Without a title the envelope's file name gives it. `revises` None makes a new artifact.
    """

    envelope: Any
    title: str = ""
    revises: Revision | None = None


@dataclass(frozen=True)
class KeptOutputs:
    """What became of a result's declared outputs: one frame for each saved, and how many were not.

    Every declared output is one or the other.
    """

    saved: tuple[Presentation, ...]
    failed: int


@dataclass(frozen=True)
class ToolResult:
    """What a tool returns. Foreseen failures are `error` results; only faults raise.

    `payload` is JSON for the model before projection; `sources` is evidence lineage; `discovered`
    names tools of the run's catalogue that the model should see from its next step on;
    `chat_canvas_outputs` are pages to show, which nothing keeps. `artifact_outputs` are kept once
    the tool has succeeded, and reach neither view; `output_instruction` is what the model is told
    about them unless one could not be saved. Only a writing tool has outputs.
    """

    outcome: Literal["success", "error", "pending_confirmation"]
    payload: Json
    presentation: tuple[Presentation, ...] = ()
    sources: tuple[Json, ...] = ()
    error_class: ErrorClass | None = None
    failure_domain: Literal["tool", "caller"] = "tool"
    repair: RepairDirective | None = None
    discovered: tuple[str, ...] = ()
    chat_canvas_outputs: tuple[Canvas, ...] = ()
    artifact_outputs: tuple[ArtifactOutput, ...] = ()
    output_instruction: str = ""


@dataclass(frozen=True)
class RunIdentity:
    """Whose turn this is. Every field comes from admission, none from model arguments.

    `fence` proves ownership of the run for every write a tool makes. `watched` is False for a run
    that nobody looks at while it works: it asks its member to come before it asks for an approval.
    """

    run_id: UUID
    fence: int
    member_id: int
    conversation_id: UUID
    agent_id: UUID
    agent_version: int
    watched: bool = True


@dataclass(frozen=True)
class Authority:
    """What the run may do at this instant: read again from the database before each call."""

    tool_names: frozenset[str]
    ceiling: Tier


class InDatabase(Protocol):
    """Runs a synchronous database function off the event loop, within a bounded pool."""

    def __call__(
        self, function: Callable[..., Answer], *args: Any, **kwargs: Any
    ) -> Awaitable[Answer]: ...


@dataclass(frozen=True)
class Findable:
    """What a search may read of one tool of the run's frozen catalogue."""

    name: str
    label: str
    description: str
    intent_hints: tuple[str, ...]


@dataclass(frozen=True)
class ToolContext:
    """Everything a tool is handed besides its arguments. `call_id` is ours and never repeats.

    `catalogue` is the run's frozen catalogue without discovery tools themselves.
    """

    identity: RunIdentity
    call_id: str
    in_database: InDatabase
    catalogue: tuple[Findable, ...] = ()


@dataclass(frozen=True)
class Target:
    """What one call would change: `text` names it for people, `version` moves when it does."""

    text: str
    version: str


@dataclass(frozen=True)
class Described:
    """What a generated text becomes. `artifact_id` names what gets another version."""

    title: str
    kind: str
    language: str = ""
    artifact_id: str = ""


Execute = Callable[[ToolContext, Json], Awaitable[ToolResult]]
# Says in the database, under the member's rights, what a text becomes, from arguments that no
# schema has been held against. Raises `Refusal` where it becomes nothing.
Describe = Callable[[RunIdentity, Json], Described]
# Reads in the database, under the member's rights, what a call would change. Raises `Refusal`.
FindTarget = Callable[[RunIdentity, Json], Target]
ProjectForModel = Callable[[ToolResult], Json]
ProjectForMember = Callable[[ToolResult], Json]
# Keeps, in the database, what a call that succeeded declared: identity, id of the call, outputs.
KeepOutputs = Callable[[RunIdentity, str, tuple[ArtifactOutput, ...]], KeptOutputs]


@dataclass(frozen=True)
class Generated:
    """What in a tool's arguments is text that people may watch while a model writes it.

    `content` names that argument, a bounded string; `told_by` those that must be complete before
    `describe` can say what it becomes.
    """

    content: str
    told_by: tuple[str, ...]
    describe: Describe


@dataclass(frozen=True)
class ToolDescriptor:
    """One tool: its contract towards the model, its limits and its two projections.

    `family` is what a definition may ask for; `baseline` families come to every chat agent.
    `parameters` is a JSON Schema (2020-12) with every bound; bounds of 2,000 and more are taken
    out of what the model sees and enforced at execution. `timeout_s` None means the default.

    `discovery`: it only finds tools, so calling it is no progress. `repeat_exempt`: one result
    takes several calls that may look alike, so identical calls always run. `whole_result`: what
    the model builds on must come word for word, so it is never compressed. `target` finds what a
    call would change, for tools that change something that is there already. `intent_hints` and
    `exact_intent` move an offered tool forward for a message, the second like its own name.
    `generated` says which argument people may watch being written.
    """

    name: str
    label: str
    description: str
    parameters: Json
    kind: ToolKind
    tier: Tier
    family: str
    execute: Execute
    project_for_model: ProjectForModel
    project_for_member: ProjectForMember
    timeout_s: float | None = None
    presentation_only: bool = False
    suppress_identical_repeat: bool = False
    repeat_exempt: bool = False
    discovery: bool = False
    whole_result: bool = False
    target: FindTarget | None = None
    generated: Generated | None = None
    intent_hints: tuple[str, ...] = ()
    exact_intent: Pattern[str] | None = None
    run_artifact_targets_field: str | None = None


@dataclass(frozen=True)
class ToolCall:
    """One call as the model made it, given an id of ours: (run, step, ordinal).

    `arguments` is None when what the model wrote could not be read; `unreadable` then says why.
    `step_snapshot_id` names the frozen offer the call was made from.
    """

    call_id: str
    step: int
    ordinal: int
    name: str
    arguments: Json | None
    unreadable: str | None = None
    provider_id: str = ""
    step_snapshot_id: str = ""


Outcome = Literal[
    "success",
    "error",
    "pending_confirmation",
    "repeat_suppressed",
    "denied",
    "cancelled",
    "timeout",
]


@dataclass(frozen=True)
class ToolOutcome:
    """How one call ended, with both views already bounded.

    `model_view` is the text the model reads; `member_view` what people see. `ends_turn` is set
    when the turn must close (an unknown write, a terminal denial). `arguments_digest` is empty
    when the arguments could not be read. `repeat` says that the tool was not run because the same
    call had been: `suppressed` gives its result again, `refused` is an error. `discovered` names
    tools to show from the next step on, `discovery` that the tool does nothing else. `why` lists,
    for a call that was denied or narrowed, what was asked and who decided it.
    """

    call: ToolCall
    outcome: Outcome
    model_view: str
    member_view: Json
    presentation: tuple[Presentation, ...] = ()
    sources: tuple[Json, ...] = ()
    error_class: ErrorClass | None = None
    failure_domain: Literal["tool", "caller"] = "tool"
    denial: Reason | None = None
    repair: RepairDirective | None = None
    ends_turn: Reason | None = None
    duration_ms: int = 0
    arguments_digest: str = ""
    repeat: Literal["", "suppressed", "refused"] = ""
    discovery: bool = False
    discovered: tuple[str, ...] = ()
    why: tuple[Json, ...] = ()


@dataclass(frozen=True)
class Parked:
    """A call that may not run before its member has decided about it.

    `requested` is what they are asked, ready to be shown. `asked` says that they are being asked
    already, so that nothing is to be staged. The run gives itself up until they have answered.
    """

    call: ToolCall
    approval_id: UUID
    requested: Json
    asked: bool = False


@dataclass(frozen=True)
class Ports:
    """What the boundary asks of the layer above, handed in by the turn's host.

    `authority` re-resolves authority now and answers None when it cannot be proven. `offered` is
    the step's frozen offer. `memory` is what the run's earlier calls left behind; without it no
    repeat is recognised and a search finds nothing. `compress` is the member's setting.
    `keep_outputs` keeps artifacts that results declare; without it all of them count as failed.
    """

    authority: Callable[[RunIdentity], Authority | None]
    in_database: InDatabase
    offered: Mapping[str, ToolDescriptor] = field(default_factory=dict)
    memory: "RunMemory | None" = None
    compress: bool = False
    keep_outputs: KeepOutputs | None = None
