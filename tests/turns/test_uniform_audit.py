"""Whichever agent works a turn, the audit tells it in the same rows."""

import secrets
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from agents.definitions import bundling, publication, versions
from agents.definitions.models import Agent
from agents.members.models import Member
from audit.models import AuditEvent
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack

PERSONAS = ("You help.", "You refuse everything.", "Write no audit.")
SCRIPT = (
    'call: search_about {"question": "limits"}\ncall: no_such_tool {}\nthen:\n'
    'call: create_artifact {"title": "Note", "kind": "markdown", "content": "x"}\n'
    "then:\nsay: Done\n"
)


def rows(run_id: UUID) -> list[tuple[object, ...]]:
    """What the rows of a run say, without what names the run, its agent and its times."""
    events = AuditEvent.objects.filter(run_id=run_id).order_by("sequence")
    return sorted(
        (
            event.action,
            event.actor.partition(":")[0],
            event.outcome,
            event.reason,
            event.subject_kind,
            tuple(sorted(event.details)),
        )
        for event in events
    )


def usual() -> dict[str, Any]:
    """What the bundled agent may do."""
    return dict(versions.newest(Agent.objects.get(id=bundling.default_agent_id())).content)


@pytest.mark.req("AUD-004")
def test_an_agent_just_opened_to_everyone_leaves_the_same_rows(
    desk_of: Callable[[Member], Desk], alice: Member, ada: Member
) -> None:
    desk_of(alice)  # brings in what ships
    told = []
    for bundle in bundling.shipped():
        publication.publish(actor=ada, agent_id=bundle.agent_id)
        asked = desk_of(alice).answered(SCRIPT, agent=str(bundle.agent_id))
        told.append(rows(asked.run_id))
        if not bundle.published:
            publication.withdraw(actor=ada, agent_id=bundle.agent_id)
    assert len(told) >= 3
    assert {row[0] for row in told[0]} >= {"tool_called", "tool_denied", "turn_ended"}
    assert told == [told[0]] * len(told)


@pytest.mark.req("AUD-004")
def test_a_new_agent_leaves_the_same_rows_as_any_other(
    desk_of: Callable[[Member], Desk], alice: Member
) -> None:
    told = []
    for persona in (None, *PERSONAS):
        named: dict[str, str] = {}
        if persona is not None:
            name = f"Agent {secrets.token_hex(4)}"
            made = versions.create(
                actor=alice, content={**usual(), "name": name, "persona": persona}
            )
            named = {"agent": str(made.agent_id)}
        asked = desk_of(alice).answered(SCRIPT, **named)
        told.append(rows(asked.run_id))
    assert {row[0] for row in told[0]} >= {"tool_called", "tool_denied", "turn_ended"}
    assert told[1:] == [told[0]] * len(PERSONAS)
