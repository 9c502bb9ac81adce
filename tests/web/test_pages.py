"""What pages show, to whom, and what they cost."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from agents.members.models import Member
from tests.web.conftest import exchange

pytestmark = pytest.mark.django_db

PAGES = ("/", "/agents", "/account", "/archived", "/conversations", "/inbox", "/usage")
FRAGMENTS = ("/sidebar", "/search?q=x", "/inbox/items")
# Whatever the length of a conversation or of the list: session, person, groups of roles, sidebar,
# the inbox's count, agents, the conversation itself and its entries.
MOST_QUERIES = 9  # one of them asks which agents are shared with the person


def opening(client: Client, path: str) -> dict[str, Any]:
    """The data a chat page starts from."""
    page = client.get(path).content.decode()
    found = re.search(r'<script id="page" type="application/json">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


@pytest.mark.parametrize("path", [*PAGES, *FRAGMENTS])
def test_every_page_opens_for_a_member(
    client_of: Callable[[Member], Client], alice: Member, agents: None, path: str
) -> None:
    assert client_of(alice).get(path).status_code == 200


@pytest.mark.parametrize("path", [*PAGES, *FRAGMENTS, f"/c/{uuid4()}"])
def test_it_leads_strangers_to_the_sign_in_page(db: None, path: str) -> None:
    answered = Client().get(path)
    assert answered.status_code == 302
    assert answered["Location"].startswith("/sign-in?next=")


def test_it_tells_the_browser_code_that_a_session_has_ended(db: None) -> None:
    answered = Client().get(
        f"/c/{uuid4()}/earlier?before=1", headers={"accept": "application/json"}
    )
    assert answered.status_code == 401
    assert Client().get("/sidebar", headers={"hx-request": "true"})["HX-Redirect"] == "/sign-in"


def test_a_conversation_opens_with_its_frames(
    client_of: Callable[[Member], Client], alice: Member, talk: Callable[..., UUID]
) -> None:
    conversation_id = talk(alice, "Why </script><b>?", "Because.")
    data = opening(client_of(alice), f"/c/{conversation_id}")
    assert data["conversation"] == str(conversation_id)
    assert data["applied"] == 4
    assert data["has_earlier"] is False
    assert [frame["event"] for frame in data["frames"]] == [
        "input_accepted",
        "agent_run_started",
        "assistant_message",
        "agent_run_completed",
    ]
    assert data["frames"][0]["data"]["message"] == "Why </script><b>?"


def test_foreign_and_missing_conversations_look_alike(
    client_of: Callable[[Member], Client], alice: Member, bob: Member, talk: Callable[..., UUID]
) -> None:
    client = client_of(bob)
    foreign, missing = client.get(f"/c/{talk(alice)}"), client.get(f"/c/{uuid4()}")
    assert foreign.status_code == missing.status_code == 404
    assert without_token(foreign.content) == without_token(missing.content)
    assert foreign.headers == missing.headers


@pytest.mark.parametrize(
    "verb", ["rename", "pin", "unpin", "archive", "unarchive", "read", "delete", "restore"]
)
def test_a_stranger_can_change_nothing(
    client_of: Callable[[Member], Client],
    alice: Member,
    bob: Member,
    talk: Callable[..., UUID],
    verb: str,
) -> None:
    body = {"title": "Mine now", "position": "1"}
    client, conversation_id = client_of(bob), talk(alice, "Whose?")
    foreign = client.post(f"/c/{conversation_id}/{verb}", body)
    missing = client.post(f"/c/{uuid4()}/{verb}", body)
    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
    assert "Whose?" in client_of(alice).get("/").content.decode()


def test_a_person_changes_their_own(
    client_of: Callable[[Member], Client], alice: Member, talk: Callable[..., UUID]
) -> None:
    client, conversation_id = client_of(alice), talk(alice)
    assert client.post(f"/c/{conversation_id}/rename", {"title": "Reasons"}).status_code == 204
    assert client.post(f"/c/{conversation_id}/pin").status_code == 204
    listed = client.get("/sidebar").content.decode()
    assert "Reasons" in listed
    assert "Pinned" in listed
    assert client.post(f"/c/{conversation_id}/rename", {"title": " "}).status_code == 422
    assert client.post(f"/c/{conversation_id}/read", {"position": "x"}).status_code == 422
    assert client.post(f"/c/{conversation_id}/delete").status_code == 204
    assert client.get(f"/c/{conversation_id}").status_code == 404
    assert client.post(f"/c/{conversation_id}/restore").status_code == 204
    assert client.get(f"/c/{conversation_id}").status_code == 200


def test_a_conversation_is_unread_until_it_is_read(
    client_of: Callable[[Member], Client], alice: Member, talk: Callable[..., UUID]
) -> None:
    client, conversation_id = client_of(alice), talk(alice)
    assert "data-unread" in client.get("/sidebar").content.decode()
    client.post(f"/c/{conversation_id}/read", {"position": "4"})
    assert "data-unread" not in client.get("/sidebar").content.decode()


def test_a_long_conversation_opens_at_its_end_and_pages_back_to_its_start(
    client_of: Callable[[Member], Client], alice: Member, talk: Callable[..., UUID]
) -> None:
    conversation_id = talk(alice, "Question 0")
    for number in range(1, 100):
        exchange(alice, conversation_id, f"Question {number}", f"Answer {number}")
    client = client_of(alice)
    data = opening(client, f"/c/{conversation_id}")
    assert data["applied"] == 400
    assert data["has_earlier"] is True
    assert data["frames"][0]["event"] == "input_accepted"
    positions = [frame["position"] for frame in data["frames"]]
    earlier = client.get(f"/c/{conversation_id}/earlier?before={data['first']}").json()
    positions = [frame["position"] for frame in earlier["items"]] + positions
    assert earlier["has_earlier"] is False
    assert positions == list(range(1, 401))


def test_pages_cost_the_same_queries_whatever_they_show(
    client_of: Callable[[Member], Client],
    alice: Member,
    talk: Callable[..., UUID],
    django_assert_max_num_queries: Any,
) -> None:
    client, conversation_id = client_of(alice), talk(alice)
    with django_assert_max_num_queries(MOST_QUERIES) as few:
        client.get(f"/c/{conversation_id}")
    for number in range(30):
        exchange(alice, conversation_id, f"Question {number}", "Answer")
    for number in range(5):
        talk(alice, f"Other {number}")
    with django_assert_max_num_queries(MOST_QUERIES) as many:
        client.get(f"/c/{conversation_id}")
    assert len(few.captured_queries) == len(many.captured_queries)


def test_search_marks_what_was_found_and_escapes_the_rest(
    client_of: Callable[[Member], Client], alice: Member, bob: Member, talk: Callable[..., UUID]
) -> None:
    talk(alice, "About <b>pears</b>", "Pears are fruit.")
    found = client_of(alice).get("/search?q=pears").content.decode()
    assert "<mark>pears</mark>" in found.lower()
    assert "<b>" not in found
    assert "<mark>" not in client_of(bob).get("/search?q=pears").content.decode()
    assert client_of(bob).get("/search?q=%00%00").status_code == 200


def test_it_refuses_another_persons_agent_as_the_one_that_answers(
    client_of: Callable[[Member], Client], alice: Member, agents: None
) -> None:
    data = opening(client_of(alice), f"/?agent={uuid4()}")
    assert data["agent"]["name"] == "Kaizen"


def without_token(page: bytes) -> bytes:
    """A page without the values Django makes anew for every answer."""
    return re.sub(rb'(csrf-token" content|csrfmiddlewaretoken" value)="\w+"', b"", page)
