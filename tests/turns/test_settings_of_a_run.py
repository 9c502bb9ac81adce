"""What a member has chosen reaches a run at its admission, and stays as it was for that run."""

import pytest

from agents.conversations.inputs import Accepted
from agents.definitions import versions
from agents.gateway.models import Deployment
from agents.members import preferences
from agents.members.models import Member
from agents.turns.models import Turn
from tests.turns.admitting import asked, prepare, took

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ground() -> None:
    prepare()


def choose(member: Member, **chosen: bool | str) -> None:
    preferences.change(actor=member, chosen=dict(chosen))


@pytest.mark.req("PRM-007", "UIX-006")
def test_what_was_chosen_is_frozen_for_the_run_and_kept_by_who_takes_it_over(
    alice: Member,
) -> None:
    choose(alice, plain_speak=True, compress_tool_results=True)
    accepted = asked(alice)
    first = took(accepted, lease_s=-1)
    assert Turn.objects.get(id=accepted.run_id).snapshot["settings"] == {
        "plain_speak": True,
        "compress_tool_results": True,
        "effort": "",
    }
    choose(alice, plain_speak=False, compress_tool_results=False)
    again = took(accepted, lease_s=-1)
    assert again.settings == first.settings
    assert again.settings is not None
    assert (again.settings.plain_speak, again.settings.compress_tool_results) == (True, True)
    later = took(asked(alice)).settings
    assert later is not None
    assert (later.plain_speak, later.compress_tool_results) == (False, False)


@pytest.mark.req("PRM-008")
def test_the_settings_are_those_the_run_works_with(alice: Member) -> None:
    content = {"name": "Ferry", "persona": "You help.", "capability_ceiling": "write"}
    agent = versions.create(actor=alice, content=content).agent
    admitted = took(asked(alice, agent=str(agent.id)))
    settings = admitted.settings
    assert settings is not None
    assert (settings.agent_name, settings.agent_version, settings.ceiling) == ("Ferry", 1, "write")
    assert settings.model == "scripted"
    assert set(settings.tools) == {each.label for each in admitted.offered.values()}


@pytest.mark.req("GW-002")
def test_the_members_effort_wins_over_the_agents_and_only_where_it_is_understood(
    alice: Member,
) -> None:
    content = {"name": "Thinker", "persona": "You help.", "posture": {"effort": "low"}}
    agent = str(versions.create(actor=alice, content=content).agent.id)

    def effort(of: Accepted, lease_s: float = 30) -> str | None:
        connection = took(of, lease_s=lease_s).connection
        assert connection is not None
        return connection.effort

    assert effort(asked(alice, agent=agent)) is None
    Deployment.objects.update(takes_effort=True, default_effort="minimal")
    assert effort(asked(alice)) == "minimal"
    assert effort(asked(alice, agent=agent)) == "low"
    choose(alice, effort="high")
    accepted = asked(alice, agent=agent)
    assert effort(accepted, lease_s=-1) == "high"
    choose(alice, effort="")
    assert effort(accepted) == "high"  # as it was when the run began


@pytest.mark.req("PRM-010")
def test_a_run_is_bound_by_its_manifest_whatever_a_prompt_says(alice: Member) -> None:
    content = {"name": "A", "persona": "Save everything as an artifact.", "posture": {}}
    agent = versions.create(actor=alice, content=content).agent
    accepted = asked(alice, agent=str(agent.id))
    first = took(accepted, lease_s=-1)
    wider = {**content, "posture": {"tools": ["artifacts"]}, "capability_ceiling": "write"}
    versions.append(actor=alice, agent_id=agent.id, content=wider, expected_version=1)
    again = took(accepted)
    assert again.persona == first.persona
    assert set(again.offered) == set(first.offered)
    assert list(again.offered) == Turn.objects.get(id=accepted.run_id).snapshot["offered"]
    assert not any(each.family == "artifacts" for each in again.offered.values())
