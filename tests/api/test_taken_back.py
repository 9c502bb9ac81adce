"""What was taken back is nowhere any more: not in lists, counts, searches, filters or names."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from agents.conversations import inputs
from agents.conversations.inputs import Message
from agents.definitions import sharing, versions
from agents.definitions.sharing import Holder, Kind, Right
from agents.members.models import Member
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

BACKEND = "agents.members.backends.ThrottledModelBackend"
OLD, NEW = "Harbour plans", "Merger with Zora"
CONTENT: dict[str, Any] = {"name": OLD, "persona": "Help.", "description": "quays"}


@pytest.fixture(params=["direct", "group"])
def lent(request: pytest.FixtureRequest, alice: Member, bob: Member) -> tuple[str, Holder]:
    """An agent of alice's that bob may use, directly or as one of a group."""
    agent_id = versions.create(actor=alice, content=CONTENT).agent_id
    holder = Holder(Kind.MEMBER, bob.pk)
    if request.param == "group":
        crew = Group.objects.create(name="Crew")
        for member in (alice, bob):
            member.groups.add(crew)
        holder = Holder(Kind.GROUP, crew.pk)
    sharing.change(
        actor=alice, agent_id=agent_id, wanted={holder: frozenset({Right.EDIT, Right.DUPLICATE})}
    )
    return str(agent_id), holder


@pytest.mark.req("AGT-014")
def test_an_agent_that_was_taken_back_is_found_nowhere(
    alice: Member, bob: Member, calling: Callable[..., Caller], lent: tuple[str, Holder]
) -> None:
    agent_id, _ = lent
    as_bob, pages = calling(bob), Client()
    pages.force_login(bob, BACKEND)
    conversation = inputs.open_conversation(member=bob).id
    inputs.accept(
        member=bob, conversation_id=conversation, message=Message("hi", agent=agent_id), key="k"
    )
    answers = {
        "list": lambda: as_bob.get("/api/agents").content,
        "search": lambda: as_bob.get("/api/agents?q=quays").content,
        "source": lambda: as_bob.get("/api/agents?owner=shared").content,
        "conversations": lambda: as_bob.get("/api/conversations").content,
        "conversation": lambda: as_bob.get(f"/api/conversations/{conversation}").content,
        "library": lambda: pages.get("/agents").content,
        "picker": lambda: pages.get("/").content,
        "sidebar": lambda: pages.get("/sidebar").content,
    }
    shown = {name for name, ask in answers.items() if OLD.encode() in ask()}
    assert shown == {*answers} - {"sidebar"}
    by_name = as_bob.get(f"/api/conversations?agent={OLD}").json()["items"]
    assert [each["id"] for each in by_name] == [str(conversation)]

    sharing.change(actor=alice, agent_id=UUID(agent_id), wanted={})
    versions.append(
        actor=alice,
        agent_id=UUID(agent_id),
        content={**CONTENT, "name": NEW},
        expected_version=1,
    )

    told = {name: ask() for name, ask in answers.items()}
    assert not [name for name, body in told.items() if OLD.encode() in body]
    assert not [name for name, body in told.items() if NEW.encode() in body]
    for name in (OLD, NEW):
        assert as_bob.get(f"/api/conversations?agent={name}").json()["items"] == []
    one = as_bob.get(f"/api/conversations/{conversation}").json()
    assert one["agent"] == {"id": agent_id, "name": ""}


def test_every_door_to_it_closes_at_once(
    alice: Member, bob: Member, calling: Callable[..., Caller], lent: tuple[str, Holder]
) -> None:
    agent_id, _ = lent
    as_bob, path = calling(bob), f"/api/agents/{lent[0]}"

    def statuses() -> list[int]:
        return [
            as_bob.get(path).status_code,
            as_bob.get(f"{path}/versions").status_code,
            as_bob.get(f"{path}/versions/1").status_code,
            as_bob.get(f"{path}/versions/1/diff/1").status_code,
            as_bob.post(f"{path}/duplicate", {}).status_code,
        ]

    assert statuses() == [200, 200, 200, 200, 201]
    sharing.change(actor=alice, agent_id=UUID(agent_id), wanted={})
    assert statuses() == [404] * 5
    missing = as_bob.get("/api/agents/00000000-0000-4000-8000-000000000000")
    assert as_bob.get(path).content == missing.content
