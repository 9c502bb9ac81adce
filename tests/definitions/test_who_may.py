"""Who may see, use, copy, edit and own an agent; decided in SQL, superusers not exempt."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from guardian.shortcuts import assign_perm, remove_perm

from agents.definitions import versions
from agents.definitions.models import Agent, AgentVersion, Audience
from agents.members.models import Member

pytestmark = pytest.mark.django_db

ANSWERS = ("usable_by", "duplicable_by", "readable_by", "editable_by", "owned_by")
OWNER = (True, True, True, True, True)
NOBODY = (False, False, False, False, False)
SHARES = {
    "use_agent": (True, False, False, False, False),
    "duplicate_agent": (True, True, True, False, False),
    "edit_agent": (True, False, True, True, False),
}


@pytest.fixture
def agent(alice: Member) -> Agent:
    return versions.create(actor=alice, content={"name": "Helper", "persona": "You help."}).agent


def answers(member: Member, agent: Agent) -> tuple[bool, ...]:
    reached = tuple(
        getattr(Agent.objects, question)(member).filter(id=agent.id).exists()
        for question in ANSWERS
    )
    assert Agent.objects.visible_to(member).filter(id=agent.id).exists() == reached[0]
    return reached


def by_person(member: Member, permission: str, agent: Agent) -> None:
    assign_perm(f"definitions.{permission}", member, agent)


def by_group(member: Member, permission: str, agent: Agent) -> None:
    group = Group.objects.create(name=f"group of {member.pk}")
    member.groups.add(group)
    assign_perm(f"definitions.{permission}", group, agent)


def test_the_owner_may_everything_and_others_nothing(
    agent: Agent, alice: Member, charlie: Member
) -> None:
    assert (answers(alice, agent), answers(charlie, agent)) == (OWNER, NOBODY)


@pytest.mark.req("AGT-014", "REPO-001")
@pytest.mark.parametrize("share", [by_person, by_group])
@pytest.mark.parametrize("permission", list(SHARES))
def test_a_share_gives_what_it_says(
    agent: Agent,
    bob: Member,
    charlie: Member,
    permission: str,
    share: Callable[[Member, str, Agent], None],
) -> None:
    share(bob, permission, agent)
    assert (answers(bob, agent), answers(charlie, agent)) == (SHARES[permission], NOBODY)


def test_several_shares_add_up(agent: Agent, bob: Member) -> None:
    by_person(bob, "duplicate_agent", agent)
    by_group(bob, "edit_agent", agent)
    assert answers(bob, agent) == (True, True, True, True, False)


def test_a_revoked_share_gives_nothing(agent: Agent, bob: Member) -> None:
    by_person(bob, "edit_agent", agent)
    remove_perm("definitions.edit_agent", bob, agent)
    assert answers(bob, agent) == NOBODY


def test_leaving_the_group_ends_its_share(agent: Agent, bob: Member) -> None:
    by_group(bob, "edit_agent", agent)
    bob.groups.clear()
    assert answers(bob, agent) == NOBODY


def test_a_share_of_one_agent_opens_no_other(agent: Agent, alice: Member, bob: Member) -> None:
    other = versions.create(actor=alice, content={"name": "Other", "persona": "No."}).agent
    by_person(bob, "edit_agent", agent)
    assert answers(bob, other) == NOBODY


def test_an_agent_for_everyone_may_be_used_but_not_read(agent: Agent, charlie: Member) -> None:
    Agent.objects.filter(id=agent.id).update(audience=Audience.EVERYONE)
    assert answers(charlie, agent) == SHARES["use_agent"]


def test_a_protected_agent_for_everyone_may_be_copied(agent: Agent, charlie: Member) -> None:
    Agent.objects.filter(id=agent.id).update(audience=Audience.EVERYONE, protected=True)
    assert answers(charlie, agent) == SHARES["duplicate_agent"]


def test_a_superuser_is_not_exempt(agent: Agent, ada: Member) -> None:
    Member.objects.filter(pk=ada.pk).update(is_superuser=True)
    ada.refresh_from_db()
    assert answers(ada, agent) == NOBODY


def test_model_permissions_without_an_object_open_nothing(agent: Agent, bob: Member) -> None:
    assign_perm("definitions.edit_agent", bob)
    assert bob.has_perm("definitions.edit_agent")
    assert answers(bob, agent) == NOBODY


def test_other_permissions_on_the_object_are_not_shares(agent: Agent, bob: Member) -> None:
    for permission in ("view_agent", "change_agent", "delete_agent"):
        by_person(bob, permission, agent)
    assert answers(bob, agent) == NOBODY


def test_a_deleted_agent_is_out_of_everybodys_reach(
    agent: Agent, alice: Member, bob: Member
) -> None:
    by_person(bob, "edit_agent", agent)
    versions.delete(actor=alice, agent_id=agent.id)
    assert (answers(alice, agent), answers(bob, agent)) == (NOBODY, NOBODY)


def test_two_ways_to_an_agent_list_it_once(agent: Agent, bob: Member) -> None:
    for permission in SHARES:
        by_person(bob, permission, agent)
    by_group(bob, "use_agent", agent)
    assert list(Agent.objects.visible_to(bob).filter(id=agent.id)) == [agent]
    assert Agent.objects.visible_to(bob).filter(id=agent.id).count() == 1


@pytest.mark.req("REPO-001")
@pytest.mark.parametrize("question", [*ANSWERS, "visible_to"])
def test_one_query_answers_however_many_shares_there_are(
    alice: Member, bob: Member, question: str
) -> None:
    for number in range(8):
        shared = versions.create(
            actor=alice, content={"name": f"Agent {number}", "persona": "x"}
        ).agent
        by_person(bob, "edit_agent", shared)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        list(getattr(Agent.objects, question)(bob))
    assert len(queries) == 1


def test_versions_follow_their_agent(agent: Agent, bob: Member, charlie: Member) -> None:
    by_person(bob, "edit_agent", agent)
    found: Any = AgentVersion.objects
    assert found.visible_to(bob).filter(agent=agent).count() == 1
    assert found.visible_to(charlie).filter(agent=agent).count() == 0


def test_using_an_agent_does_not_show_its_versions(agent: Agent, bob: Member) -> None:
    by_person(bob, "use_agent", agent)
    assert list(AgentVersion.objects.visible_to(bob).filter(agent=agent)) == []
