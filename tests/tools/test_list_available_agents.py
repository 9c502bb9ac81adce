"""list_available_agents: a roster that is safe to show."""

import json

import pytest

from agents.definitions import versions
from agents.definitions.models import Agent
from agents.journal.offloading import in_database
from agents.members.models import Member
from tests.tools.conftest import Run
from tools.builtin import agents


@pytest.mark.req("AGT-018", "TST-002")
async def test_it_names_usable_agents_with_description_and_mode_only(run: Run, bob: Member) -> None:
    def make(member: Member, name: str) -> Agent:
        content = {
            "name": name,
            "description": f"{name} helps.",
            "persona": "A persona nobody else reads.",
        }
        return versions.create(actor=member, content=content).agent

    await in_database(make, run.member, "Archivist")
    await in_database(make, bob, "Bob's own")
    outcome = await run.call("list_available_agents")
    view = json.loads(outcome.model_view)
    assert view["outcome"] == "success"
    assert view["more"] == 0
    by_name = {agent["name"]: agent for agent in view["agents"]}
    assert by_name["Archivist"] == {
        "name": "Archivist",
        "description": "Archivist helps.",
        "mode": "chat",
        "this_is_you": False,
    }
    assert by_name["Kaizen"]["this_is_you"] is True
    assert "Bob's own" not in by_name
    assert "persona" not in outcome.model_view
    assert outcome.member_view == {"message": f"You can use {len(by_name)} agents."}


@pytest.mark.parametrize(("counted", "more", "words"), [(4, 2, "at least 4"), (9, 3, "5")])
async def test_it_shows_the_first_and_counts_the_others_up_to_a_bound(
    counted: int, more: int, words: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "MAX_AGENTS", 2)
    monkeypatch.setattr(agents, "MAX_COUNTED", counted)
    for name in "ABCD":
        content = {"name": name, "persona": "You help."}
        await in_database(versions.create, actor=run.member, content=content)
    outcome = await run.call("list_available_agents")
    view = json.loads(outcome.model_view)
    assert [agent["name"] for agent in view["agents"]] == ["Kaizen", "A"]  # the shipped one first
    assert view["more"] == more
    assert outcome.member_view == {"message": f"You can use {words} agents."}
