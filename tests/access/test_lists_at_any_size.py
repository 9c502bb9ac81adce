"""Lists and pickers: the same statements and the same rows, however much is on the shelves."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from guardian.shortcuts import assign_perm

from agents.definitions import bundling, publication, versions
from agents.definitions.models import Agent
from agents.members.models import Member
from artifacts import writing
from artifacts.models import Artifact
from audit import reaching

pytestmark = pytest.mark.django_db

ADDRESSES = (
    "/api/agents",
    "/api/agents?mode=chat",
    "/api/agents?q=guide",
    "/api/agents?owner=me",
    "/api/agents?owner=shared",
    "/api/agents?owner=included",
    "/agents",
    "/",
    "/api/artifacts",
    "/api/artifacts?q=plan",
    "/api/artifacts?kind=text",
    "/artifacts",
)
BY_CHANGE = ("-updated_at", "-id")
BY_NAME = ("-protected", "name", "id")


def agent(owner: Member, name: str) -> Agent:
    version = versions.create(actor=owner, content={"name": name, "persona": "You guide."})
    found: Agent = Agent.objects.get(id=version.agent_id)
    return found


def artifact(owner: Member, title: str) -> Artifact:
    made = writing.create(actor=owner, draft=writing.Draft(title, "text", "06:40"))
    found: Artifact = Artifact.objects.get(id=made.artifact_id)
    return found


def one_of_each(alice: Member, bob: Member, ada: Member, group: Group, number: int) -> None:
    """An agent and an artifact for every way in which alice may reach one, and some she may not."""
    agent(alice, f"Own guide {number}")
    assign_perm("definitions.use_agent", alice, agent(bob, f"Shared guide {number}"))
    assign_perm("definitions.edit_agent", group, agent(bob, f"Group guide {number}"))
    publication.publish(actor=ada, agent_id=agent(bob, f"Open guide {number}").id)
    agent(bob, f"Private guide {number}")
    artifact(alice, f"Own plan {number}")
    assign_perm("artifacts.view_shared_artifact", alice, artifact(bob, f"Shared plan {number}"))
    assign_perm("artifacts.edit_artifact", group, artifact(bob, f"Group plan {number}"))
    artifact(bob, f"Private plan {number}")


@pytest.fixture
def group(alice: Member) -> Group:
    """A group that alice is in."""
    found: Group = Group.objects.create(name="readers")
    alice.groups.add(found)
    return found


def statements(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_list_takes_the_same_statements_with_one_and_with_many(
    address: str, client: Client, alice: Member, bob: Member, ada: Member, group: Group
) -> None:
    bundling.reconcile_all(bundling.shipped())
    client.force_login(alice)
    one_of_each(alice, bob, ada, group, 0)
    statements(client, address)  # what a process asks once
    few = statements(client, address)
    for number in range(1, 6):
        one_of_each(alice, bob, ada, group, number)
    assert statements(client, address) == few


@pytest.mark.parametrize("named", [0, 1_000])
@pytest.mark.parametrize("order", [BY_CHANGE, BY_NAME])
@pytest.mark.parametrize("count", [1, 5, 50])
def test_narrowing_leaves_exactly_the_first_rows(
    named: int,
    order: tuple[str, ...],
    count: int,
    alice: Member,
    bob: Member,
    ada: Member,
    group: Group,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reaching, "FEW", named)  # shares named one by one, or met on the way
    for number in range(4):
        one_of_each(alice, bob, ada, group, number)
    for member in (alice, bob, ada):
        rows: Any = Agent.objects.usable_by(member)
        narrowed = rows.nearest(member, count, *order).order_by(*order)[:count]
        assert list(narrowed) == list(rows.order_by(*order)[:count])
        searched: Any = rows.matching("open").filter(mode="chat")
        assert list(searched.nearest(member, count, *order).order_by(*order)[:count]) == list(
            searched.order_by(*order)[:count]
        )


@pytest.mark.parametrize("named", [0, 1_000])
def test_narrowing_leaves_the_first_artifacts_and_nobody_elses(
    named: int,
    alice: Member,
    bob: Member,
    ada: Member,
    group: Group,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reaching, "FEW", named)
    for number in range(3):
        one_of_each(alice, bob, ada, group, number)
    rows: Any = Artifact.objects.visible_to(alice)
    assert {row.title.split()[0] for row in rows} == {"Own", "Shared", "Group"}
    for count in (1, 4, 50):
        narrowed = rows.nearest(alice, count, *BY_CHANGE).order_by(*BY_CHANGE)[:count]
        assert list(narrowed) == list(rows.order_by(*BY_CHANGE)[:count])
    assert list(Artifact.objects.visible_to(ada).nearest(ada, 9, *BY_CHANGE)) == []


def test_narrowing_all_rows_lets_none_through_that_asking_would_not(
    alice: Member, bob: Member, group: Group, ada: Member
) -> None:
    one_of_each(alice, bob, ada, group, 0)
    shared = Agent.objects.get(name="Shared guide 0")
    Agent.objects.filter(id=shared.id).update(deleted_at="2026-01-01T00:00:00Z")
    names = set(
        Agent.objects.usable_by(alice)
        .nearest(alice, 50, *BY_CHANGE)
        .filter(owner=bob)
        .values_list("name", flat=True)
    )
    assert names == {"Group guide 0", "Open guide 0"}


def test_a_copyable_agent_is_own_shipped_and_opened_or_shared_so(
    alice: Member, bob: Member, ada: Member, group: Group
) -> None:
    bundling.reconcile_all(bundling.shipped())
    one_of_each(alice, bob, ada, group, 0)
    copyable = set(Agent.objects.duplicable_by(alice).values_list("name", flat=True))
    assert copyable == {"Own guide 0", "Kaizen"}
    readable = set(Agent.objects.readable_by(alice).values_list("name", flat=True))
    assert readable == {"Own guide 0", "Kaizen", "Group guide 0"}
