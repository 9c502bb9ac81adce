"""Going back and copying: an earlier content becomes a new version, another's a private agent."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from guardian.shortcuts import assign_perm

from agents.definitions import bundling, versions
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal

pytestmark = pytest.mark.django_db


def content(persona: str = "One.", name: str = "Ferry") -> dict[str, Any]:
    return {"name": name, "persona": persona}


@pytest.fixture
def agent_id(alice: Member) -> UUID:
    """An agent of three versions: One, Two, Three."""
    agent_id = versions.create(actor=alice, content=content()).agent_id
    for number, persona in enumerate(("Two.", "Three."), 1):
        versions.append(
            actor=alice, agent_id=agent_id, content=content(persona), expected_version=number
        )
    return agent_id


def personas(agent_id: UUID) -> list[str]:
    rows = AgentVersion.objects.filter(agent_id=agent_id).order_by("number")
    return [row.content["persona"] for row in rows]


@pytest.mark.req("AGT-006")
def test_restoring_appends_the_earlier_content(alice: Member, agent_id: UUID) -> None:
    restored = versions.restore(actor=alice, agent_id=agent_id, version=1, expected_version=3)
    first = AgentVersion.objects.get(agent_id=agent_id, number=1)
    assert (restored.number, restored.digest) == (4, first.digest)
    assert personas(agent_id) == ["One.", "Two.", "Three.", "One."]


@pytest.mark.req("AGT-006")
def test_rolling_back_appends_what_was_before_the_newest(alice: Member, agent_id: UUID) -> None:
    assert versions.rollback(actor=alice, agent_id=agent_id, expected_version=3).number == 4
    assert personas(agent_id)[-1] == "Two."
    versions.rollback(actor=alice, agent_id=agent_id, expected_version=4)  # undoes the undoing
    assert personas(agent_id)[-1] == "Three."


def test_there_is_nothing_before_the_first_version(alice: Member) -> None:
    agent_id = versions.create(actor=alice, content=content()).agent_id
    with pytest.raises(Conflict) as refused:
        versions.rollback(actor=alice, agent_id=agent_id, expected_version=1)
    assert refused.value.reason == Reason.CONFLICT
    assert personas(agent_id) == ["One."]


def test_a_version_that_is_not_there_cannot_be_restored(alice: Member, agent_id: UUID) -> None:
    with pytest.raises(NotFound):
        versions.restore(actor=alice, agent_id=agent_id, version=9, expected_version=3)
    assert len(personas(agent_id)) == 3


@pytest.mark.parametrize("stale", [1, 2, 4])
def test_whoever_comes_late_is_shown_what_changed(
    alice: Member, agent_id: UUID, stale: int
) -> None:
    attempts = (
        lambda: versions.append(
            actor=alice, agent_id=agent_id, content=content("Mine."), expected_version=stale
        ),
        lambda: versions.restore(actor=alice, agent_id=agent_id, version=1, expected_version=stale),
        lambda: versions.rollback(actor=alice, agent_id=agent_id, expected_version=stale),
    )
    for attempt in attempts:
        with pytest.raises(Conflict) as refused:
            attempt()
        assert (refused.value.current, refused.value.details["current"]) == (3, 3)
        told = [change["words"] for change in refused.value.details["changes"]]
        before = {1: "One", 2: "Two"}.get(stale)
        assert told == ([[["-", before], ["+", "Three"], ["=", "."]]] if before else [])
    assert personas(agent_id) == ["One.", "Two.", "Three."]


def test_a_name_taken_meanwhile_keeps_an_old_version_from_coming_back(alice: Member) -> None:
    agent_id = versions.create(actor=alice, content=content(name="Ferry")).agent_id
    versions.append(
        actor=alice, agent_id=agent_id, content=content(name="Boat"), expected_version=1
    )
    versions.create(actor=alice, content=content(name="Ferry"))
    with pytest.raises(Invalid) as refused:
        versions.rollback(actor=alice, agent_id=agent_id, expected_version=2)
    assert refused.value.fields == [{"field": "content.name", "reason": "name_taken"}]


@pytest.mark.req("AGT-014")
@pytest.mark.parametrize("grant", [None, "use_agent", "duplicate_agent"])
def test_only_editors_go_back(
    alice: Member, bob: Member, agent_id: UUID, grant: str | None
) -> None:
    if grant:
        assign_perm(grant, bob, Agent.objects.get(id=agent_id))
    expected = Reason.FORBIDDEN if grant else Reason.NOT_FOUND
    for attempt in (
        lambda: versions.restore(actor=bob, agent_id=agent_id, version=1, expected_version=3),
        lambda: versions.rollback(actor=bob, agent_id=agent_id, expected_version=3),
        lambda: versions.rollback(actor=bob, agent_id=agent_id, expected_version=1),
    ):
        with pytest.raises(Refusal) as refused:
            attempt()
        assert refused.value.reason == expected
    assert len(personas(agent_id)) == 3


def test_an_editor_goes_back_like_the_owner(alice: Member, bob: Member, agent_id: UUID) -> None:
    assign_perm("edit_agent", bob, Agent.objects.get(id=agent_id))
    version = versions.rollback(actor=bob, agent_id=agent_id, expected_version=3)
    assert version.author_principal == bob.principal


@pytest.mark.req("AGT-013", "AGT-014")
def test_a_copy_is_private_and_starts_anew(alice: Member, bob: Member, agent_id: UUID) -> None:
    assign_perm("duplicate_agent", bob, Agent.objects.get(id=agent_id))
    copy = versions.duplicate(actor=bob, agent_id=agent_id)
    assert (copy.number, copy.content["persona"]) == (1, "Three.")
    assert (copy.agent.owner, copy.agent.audience, copy.agent.name) == (bob, "private", "Ferry")
    versions.append(actor=alice, agent_id=agent_id, content=content("Four."), expected_version=3)
    assert personas(copy.agent_id) == ["Three."]
    assert not Agent.objects.visible_to(alice).filter(id=copy.agent_id).exists()


def test_a_copy_of_ones_own_gets_the_next_free_name(alice: Member, agent_id: UUID) -> None:
    names = [versions.duplicate(actor=alice, agent_id=agent_id).agent.name for _ in range(3)]
    assert names == ["Ferry 2", "Ferry 3", "Ferry 4"]
    long = versions.create(actor=alice, content=content(name="x" * 100)).agent_id
    assert versions.duplicate(actor=alice, agent_id=long).agent.name == f"{'x' * 98} 2"
    with pytest.raises(Invalid):
        versions.duplicate(actor=alice, agent_id=agent_id, name="Ferry 2")


@pytest.mark.parametrize("grant", [None, "use_agent", "edit_agent"])
def test_neither_using_nor_editing_includes_copying(
    alice: Member, bob: Member, agent_id: UUID, grant: str | None
) -> None:
    if grant:
        assign_perm(grant, bob, Agent.objects.get(id=agent_id))
    with pytest.raises(Refusal) as refused:
        versions.duplicate(actor=bob, agent_id=agent_id)
    assert refused.value.reason == (Reason.FORBIDDEN if grant else Reason.NOT_FOUND)
    assert not Agent.objects.owned_by(bob).exists()


def test_a_bundle_is_copied_by_anybody_and_gone_back_by_nobody(alice: Member, ada: Member) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    shipped = bundling.default_agent_id()
    assert versions.duplicate(actor=alice, agent_id=shipped).agent.owner == alice
    for actor in (alice, ada):
        with pytest.raises(Refusal) as refused:
            versions.restore(actor=actor, agent_id=shipped, version=1, expected_version=1)
        assert refused.value.reason == Reason.FORBIDDEN


def test_what_is_missing_is_refused_like_what_is_foreign(charlie: Member, agent_id: UUID) -> None:
    told = set()
    for wanted in (agent_id, uuid4()):
        for attempt in (
            lambda: versions.duplicate(actor=charlie, agent_id=wanted),  # noqa: B023
            lambda: versions.rollback(actor=charlie, agent_id=wanted, expected_version=3),  # noqa: B023
        ):
            with pytest.raises(NotFound) as refused:
                attempt()
            told.add((refused.value.reason, refused.value.message))
    assert len(told) == 1
