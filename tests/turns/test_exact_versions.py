"""Which version of an agent answered: the newest at the start of a run, and known ever after."""

import secrets
from typing import Any
from uuid import UUID

import pytest

from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.definitions.models import AgentVersion
from agents.members.models import Member
from agents.turns.models import Turn
from audit.models import AuditEvent
from tests.turns.conftest import Desk

pytestmark = pytest.mark.stack


def content(name: str, persona: str) -> dict[str, Any]:
    return {"name": name, "persona": persona}


def told(desk: Desk, asked: Accepted) -> int:
    """The version that the frame of the run's start names."""
    (started,) = [each for each in desk.entries(asked) if each.kind == "agent_run_started"]
    return int(started.data["version"])


def audited(asked: Accepted) -> set[tuple[int, str]]:
    """Versions and digests in the audit of the run."""
    rows = AuditEvent.objects.filter(run_id=asked.run_id, details__has_key="version")
    return {(row.details["version"], row.details["digest"]) for row in rows}


@pytest.mark.req("AGT-007", "AGT-009")
def test_every_run_names_the_version_that_answered_it_for_ever(desk: Desk, alice: Member) -> None:
    name = f"Ferry {secrets.token_hex(4)}"
    agent_id: UUID = versions.create(actor=alice, content=content(name, "Version 1.")).agent_id
    runs: list[Accepted] = []
    for number in (1, 2, 3):
        runs.append(desk.answered(f"say: {number}\n", agent=str(agent_id)))
        versions.append(
            actor=alice,
            agent_id=agent_id,
            content=content(name, f"Version {number + 1}."),
            expected_version=number,
        )
    versions.restore(actor=alice, agent_id=agent_id, version=1, expected_version=4)
    versions.delete(actor=alice, agent_id=agent_id)
    for number, run in enumerate(runs, 1):
        kept = AgentVersion.objects.get(agent_id=agent_id, number=told(desk, run))
        assert kept.number == number
        assert kept.content["persona"] == f"Version {number}."
        assert Turn.objects.get(id=run.run_id).agent_version == kept
        assert audited(run) == {(number, kept.digest)}


@pytest.mark.req("AGT-009")
def test_a_run_is_answered_by_the_version_it_began_with(desk: Desk, alice: Member) -> None:
    name, old, new, word = (secrets.token_hex(8) for _ in range(4))
    agent_id = versions.create(actor=alice, content=content(name, old)).agent_id
    with desk.listening() as wait_for:
        asked = desk.ask(f"say: {word}\nhold: {word}\n", agent=str(agent_id))
        wait_for(word)
    versions.append(actor=alice, agent_id=agent_id, content=content(name, new), expected_version=1)
    next_one = desk.ask(f"say: {word} again\n", agent=str(agent_id))
    (request,) = desk.requests(word)
    assert old in str(request["messages"][0])
    desk.stop()
    desk.ended(asked)
    desk.ended(next_one)
    assert told(desk, asked) == 1
    assert audited(asked) == {(1, AgentVersion.objects.get(agent_id=agent_id, number=1).digest)}
