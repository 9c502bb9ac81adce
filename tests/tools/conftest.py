"""A run of alice's agent that can call tools, on the real database."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from agents.conversations import inputs
from agents.definitions import bundling
from agents.definitions.models import Agent
from agents.journal.offloading import in_database
from agents.members.models import Member
from artifacts import outputs
from audit.models import AuditEvent
from audit.reasons import Action
from tools.boundary import exposure
from tools.boundary.contract import (
    Authority,
    Json,
    KeepOutputs,
    Ports,
    RunIdentity,
    Tier,
    ToolCall,
    ToolDescriptor,
    ToolKind,
    ToolOutcome,
    ToolResult,
)
from tools.boundary.execution import handle_tool_exec
from tools.boundary.memory import RunMemory
from tools.boundary.projection import as_payload
from tools.effects import claims

EVERYTHING = frozenset({"artifacts"})
NO_ARGUMENTS: Json = {}
EMPTY_SCHEMA: Json = {"type": "object", "additionalProperties": False, "properties": {}}


@dataclass
class Run:
    """A claimed run. `authority` is asked before each call and may be replaced in between."""

    member: Member
    identity: RunIdentity
    offered: dict[str, ToolDescriptor]
    authority: Callable[[RunIdentity], Authority | None]
    ordinal: int = 0
    compress: bool = False
    keep_outputs: KeepOutputs | None = outputs.keep
    memory: RunMemory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = RunMemory(self.offered)

    async def call(
        self,
        name: str,
        arguments: Json | None = NO_ARGUMENTS,
        unreadable: str | None = None,
        *,
        snapshot: str = "",
    ) -> ToolOutcome:
        """Make one call of its own id; `snapshot` names the step it comes from."""
        self.ordinal += 1
        return await self.make(
            ToolCall(
                call_id=f"{self.identity.run_id}:1:{self.ordinal}",
                step=1,
                ordinal=self.ordinal,
                name=name,
                arguments=arguments,
                unreadable=unreadable,
                step_snapshot_id=snapshot,
            )
        )

    async def make(self, call: ToolCall) -> ToolOutcome:
        ports = Ports(
            authority=self.authority,
            in_database=in_database,
            offered=self.offered,
            memory=self.memory,
            compress=self.compress,
            keep_outputs=self.keep_outputs,
        )
        return await handle_tool_exec(call, self.identity, ports)

    def offer(self, tool: ToolDescriptor) -> None:
        """Add a tool to the step and allow it."""
        self.offered[tool.name] = tool
        names = frozenset(self.offered)
        self.authority = lambda identity: Authority(names, Tier.SENSITIVE)

    async def rows(self) -> list[tuple[str, str, str]]:
        """Action, outcome and reason of this run's audit rows about tools, in order."""
        tools = [Action.TOOL_CALLED, Action.TOOL_DENIED, Action.TOOL_AUTHORISED]
        return await in_database(
            lambda: list(
                AuditEvent.objects.filter(run_id=self.identity.run_id, action__in=tools)
                .order_by("at", "sequence")
                .values_list("action", "outcome", "reason")
            )
        )


@pytest.fixture
def start_run(committed_db: None) -> Callable[..., Run]:
    """Open a conversation for a person and claim a run in it: `start_run(alice)`."""

    def start(member: Member, *, families: frozenset[str] = EVERYTHING) -> Run:
        conversation = inputs.open_conversation(member=member)
        run_id, queue = uuid4(), f"tests-{secrets.token_hex(6)}"
        claims.enqueue(run_id, lane=conversation.id, ordinal=1, queue=queue)
        (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=queue)
        identity = RunIdentity(
            run_id=run_id,
            fence=claim.fence,
            member_id=member.pk,
            conversation_id=conversation.id,
            agent_id=default_agent(),
            agent_version=1,
        )
        grant: dict[str, Any] = {"families": families, "ceiling": Tier.WRITE, "surface": "chat"}
        return Run(
            member=member,
            identity=identity,
            offered={tool.name: tool for tool in exposure.offer(**grant)},
            authority=lambda _: Authority(exposure.names_allowed(**grant), Tier.WRITE),
        )

    return start


def default_agent() -> UUID:
    """The bundled agent, brought in where no test has done so yet."""
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    return Agent.objects.get(id=bundling.default_agent_id()).id


@pytest.fixture
def run(start_run: Callable[..., Run], alice: Member) -> Run:
    """A run of alice with every family."""
    return start_run(alice)


@pytest.fixture
def make_tool() -> Callable[..., ToolDescriptor]:
    """A tool made for one test: `make_tool(execute, kind=ToolKind.WRITE)`."""

    def make(execute: Any = None, **changes: Any) -> ToolDescriptor:
        async def nothing(context: Any, arguments: Json) -> ToolResult:
            return ToolResult("success", {})

        kind = changes.get("kind", ToolKind.READ)
        values: dict[str, Any] = {
            "name": "made_for_a_test",
            "label": "Testing",
            "description": "Does what the test says.",
            "parameters": EMPTY_SCHEMA,
            "kind": kind,
            "tier": Tier.READ if kind is ToolKind.READ else Tier.WRITE,
            "family": "baseline",
            "execute": execute or nothing,
            "project_for_model": as_payload,
            "project_for_member": lambda result: {"message": "done"},
        }
        return ToolDescriptor(**{**values, **changes})

    return make
