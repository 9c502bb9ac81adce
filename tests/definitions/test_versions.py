"""Versions are appended, never changed; agents are retired, never removed."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction
from django.db.models import ProtectedError
from guardian.shortcuts import assign_perm

from agents.definitions import usable, versions
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from audit import canonical
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal


def content(name: str = "Helper", **more: Any) -> dict[str, Any]:
    return {"name": name, "persona": "You help.", **more}


def recorded(agent: Agent) -> list[tuple[str, str, dict[str, Any]]]:
    rows = AuditEvent.objects.filter(subject_kind="agent", subject_id=str(agent.id))
    return [(row.action, row.actor, row.details) for row in rows.order_by("at", "sequence")]


pytestmark = pytest.mark.django_db


def test_a_new_agent_is_private_and_has_its_first_version(alice: Member) -> None:
    version = versions.create(actor=alice, content=content(description="Helps"))
    agent = version.agent
    assert (agent.owner, agent.owner_principal) == (alice, alice.principal)
    assert (agent.audience, agent.protected, agent.head) == ("private", False, 1)
    assert (agent.name, agent.description, agent.mode) == ("Helper", "Helps", "chat")
    assert (version.number, version.digest) == (1, canonical.digest(version.content))
    assert recorded(agent) == [
        ("agent_created", alice.principal, {"version": 1, "digest": version.digest})
    ]


@pytest.mark.req("AGT-005", "AUD-007")
def test_editing_appends_and_keeps_what_was(alice: Member) -> None:
    first = versions.create(actor=alice, content=content())
    second = versions.append(
        actor=alice, agent_id=first.agent_id, content=content("Better"), expected_version=1
    )
    assert (second.number, versions.newest(second.agent)) != (1, first)
    agent = Agent.objects.get(id=first.agent_id)
    assert (agent.head, agent.name) == (2, "Better")
    kept = AgentVersion.objects.get(agent=agent, number=1)
    assert (kept.content, kept.digest) == (first.content, first.digest)
    assert [action for action, _, _ in recorded(agent)] == [
        "agent_created",
        "agent_version_appended",
    ]


def test_a_stale_base_is_a_conflict_that_names_the_newest(alice: Member) -> None:
    agent_id = versions.create(actor=alice, content=content()).agent_id
    versions.append(actor=alice, agent_id=agent_id, content=content(), expected_version=1)
    for stale in (0, 1, 3):
        with pytest.raises(Conflict) as refused:
            versions.append(
                actor=alice, agent_id=agent_id, content=content(), expected_version=stale
            )
        assert refused.value.current == 2
    assert AgentVersion.objects.filter(agent_id=agent_id).count() == 2


@pytest.mark.req("AGT-005")
def test_a_stored_version_cannot_be_changed_or_removed(alice: Member) -> None:
    version = versions.create(actor=alice, content=content())
    for statement in (
        "UPDATE definitions_agentversion SET content = '{}'",
        "DELETE FROM definitions_agentversion",
        "TRUNCATE definitions_agentversion CASCADE",
        "DELETE FROM definitions_agent; SET CONSTRAINTS ALL IMMEDIATE",
        "INSERT INTO definitions_agentversion SELECT * FROM definitions_agentversion"
        " ON CONFLICT (id) DO UPDATE SET content = '{}'",
    ):
        with connection.cursor() as cursor, refusal(), transaction.atomic():
            cursor.execute(statement)
    version.content = {}
    with refusal(), transaction.atomic():
        version.save()
    with refusal(), transaction.atomic():
        AgentVersion.objects.bulk_create(
            [version], update_conflicts=True, update_fields=["content"], unique_fields=["id"]
        )
    with pytest.raises(ProtectedError), transaction.atomic():
        version.agent.delete()
    assert AgentVersion.objects.get(id=version.id).digest == version.digest


@pytest.mark.django_db(databases=["default", "owner"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE definitions_agentversion SET number = 99",
        "DELETE FROM definitions_agentversion",
        "TRUNCATE definitions_agentversion CASCADE",
    ],
)
def test_not_even_the_owner_changes_a_version(statement: str) -> None:
    with (
        connections["owner"].cursor() as cursor,
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(using="owner"),
    ):
        cursor.execute(statement)


def refusal() -> Any:
    return pytest.raises((IntegrityError, ProgrammingError))


def test_a_person_uses_a_name_once_among_living_agents(alice: Member, bob: Member) -> None:
    first = versions.create(actor=alice, content=content())
    with pytest.raises(Invalid) as refused:
        versions.create(actor=alice, content=content())
    assert refused.value.fields == [{"field": "content.name", "reason": "name_taken"}]
    versions.create(actor=bob, content=content())
    versions.delete(actor=alice, agent_id=first.agent_id)
    versions.create(actor=alice, content=content())


def test_a_rename_onto_a_taken_name_is_refused_and_changes_nothing(alice: Member) -> None:
    versions.create(actor=alice, content=content("Taken"))
    agent_id = versions.create(actor=alice, content=content()).agent_id
    with pytest.raises(Invalid):
        versions.append(
            actor=alice, agent_id=agent_id, content=content("Taken"), expected_version=1
        )
    assert (Agent.objects.get(id=agent_id).name, Agent.objects.get(id=agent_id).head) == (
        "Helper",
        1,
    )


def test_somebody_elses_agent_and_a_missing_one_are_refused_alike(
    alice: Member, charlie: Member
) -> None:
    agent_id = versions.create(actor=alice, content=content()).agent_id
    told = {refused_as(charlie, wanted) for wanted in (agent_id, uuid4())}
    assert len(told) == 1


def refused_as(member: Member, agent_id: UUID) -> tuple[object, ...]:
    """What somebody is told who tries to edit and to delete an agent out of reach."""
    with pytest.raises(NotFound) as edit:
        versions.append(actor=member, agent_id=agent_id, content=content(), expected_version=1)
    with pytest.raises(NotFound) as deletion:
        versions.delete(actor=member, agent_id=agent_id)
    return tuple((refused.value.reason, refused.value.message) for refused in (edit, deletion))


def test_bad_content_is_refused_before_anything_is_looked_up(charlie: Member) -> None:
    with pytest.raises(Invalid):
        versions.append(actor=charlie, agent_id=uuid4(), content={}, expected_version=1)


@pytest.mark.req("AGT-009")
def test_a_deleted_agent_disappears_and_its_versions_stay(alice: Member) -> None:
    version = versions.create(actor=alice, content=content())
    versions.delete(actor=alice, agent_id=version.agent_id)
    assert not Agent.objects.visible_to(alice).filter(id=version.agent_id).exists()
    assert usable.newest_version(alice, version.agent_id) is None
    assert AgentVersion.objects.get(id=version.id).content == version.content
    with pytest.raises(NotFound):
        versions.delete(actor=alice, agent_id=version.agent_id)
    assert [action for action, _, _ in recorded(version.agent)] == [
        "agent_created",
        "agent_deleted",
    ]


def test_an_editor_may_edit_but_not_delete(alice: Member, bob: Member) -> None:
    agent_id = versions.create(actor=alice, content=content()).agent_id
    assign_perm("definitions.edit_agent", bob, Agent.objects.get(id=agent_id))
    version = versions.append(
        actor=bob, agent_id=agent_id, content=content(description="By bob"), expected_version=1
    )
    assert version.author_principal == bob.principal
    assert version.agent.owner_principal == alice.principal
    with pytest.raises(Refusal) as refused:
        versions.delete(actor=bob, agent_id=agent_id)
    assert refused.value.reason == Reason.FORBIDDEN


def test_an_editor_learns_nothing_of_the_owners_other_names(alice: Member, bob: Member) -> None:
    versions.create(actor=alice, content=content("Secret merger"))
    agent_id = versions.create(actor=alice, content=content()).agent_id
    assign_perm("definitions.edit_agent", bob, Agent.objects.get(id=agent_id))
    told = []
    for name in ("Secret merger", "Free name"):
        with pytest.raises(Invalid) as refused:
            versions.append(actor=bob, agent_id=agent_id, content=content(name), expected_version=1)
        told.append((refused.value.message, refused.value.fields))
    assert told[0] == told[1]
    assert told[0][1] == [{"field": "content.name", "reason": "forbidden"}]
    assert Agent.objects.get(id=agent_id).head == 1


@pytest.mark.req("AGT-007")
def test_a_share_gives_the_newest_version(alice: Member, bob: Member) -> None:
    agent_id = versions.create(actor=alice, content=content()).agent_id
    assign_perm("definitions.use_agent", bob, Agent.objects.get(id=agent_id))
    versions.append(actor=alice, agent_id=agent_id, content=content("New"), expected_version=1)
    found = usable.newest_version(bob, agent_id)
    assert found is not None
    assert (found.number, found.content["name"]) == (2, "New")
