"""Conversations over REST: open, list, read, ask, replay, stop, steer."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.api.pages import newest_first
from agents.conversations.models import Conversation, Input
from agents.members.models import Member
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

MESSAGE = {"kind": "message", "message": "Which ferry leaves first?"}


@pytest.fixture
def asked(as_alice: Caller, conversation: str, agent: str) -> dict[str, Any]:
    """One accepted input of alice's, with the answer she got."""
    return as_alice.post(
        f"/api/conversations/{conversation}/inputs", {**MESSAGE, "agent": agent}
    ).json()


def test_a_conversation_is_opened_without_a_body(as_alice: Caller, alice: Member) -> None:
    answer = as_alice.post("/api/conversations")
    assert answer.status_code == 201
    assert answer.json() == {"id": str(Conversation.objects.get(owner=alice).id)}


def test_a_new_conversation_reads_as_empty(as_alice: Caller, conversation: str) -> None:
    found = as_alice.get(f"/api/conversations/{conversation}").json()
    times = {found.pop("created_at"), found.pop("active_at")}
    assert len(times) == 1
    assert found == {
        "id": conversation,
        "title": "",
        "agent": None,
        "head": 0,
        "unread": False,
        "pinned": False,
        "archived": False,
        "active_input": None,
        "participants": [{"id": found["participants"][0]["id"], "name": "Alice"}],
        "open_turn": None,
    }


@pytest.mark.req("INP-001")
def test_an_input_is_accepted_with_its_position(
    as_alice: Caller, conversation: str, agent: str
) -> None:
    answer = as_alice.post(f"/api/conversations/{conversation}/inputs", {**MESSAGE, "agent": agent})
    assert answer.status_code == 202
    stored = Input.objects.get(conversation_id=conversation)
    assert answer.json() == {
        "input_id": str(stored.id),
        "accepted_position": 1,
        "status": "queued",
    }


def test_an_agent_may_be_named_by_its_name(as_alice: Caller, conversation: str, agent: str) -> None:
    path = f"/api/conversations/{conversation}/inputs"
    assert as_alice.post(path, {**MESSAGE, "agent": "Ferry"}).status_code == 202
    assert str(Input.objects.get(conversation_id=conversation).agent_id) == agent


def test_an_agent_of_somebody_else_cannot_be_asked(as_charlie: Caller, agent: str) -> None:
    mine = as_charlie.post("/api/conversations").json()["id"]
    answer = as_charlie.post(f"/api/conversations/{mine}/inputs", {**MESSAGE, "agent": agent})
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == [{"field": "agent", "reason": "not_found"}]


@pytest.mark.usefixtures("asked")
def test_the_conversation_shows_its_open_turn(as_alice: Caller, conversation: str) -> None:
    stored = Input.objects.get(conversation_id=conversation)
    found = as_alice.get(f"/api/conversations/{conversation}").json()
    assert found["open_turn"] == {
        "turn_id": str(stored.run_id),
        "input_id": str(stored.id),
        "status": "queued",
    }
    assert (found["title"], found["head"]) == ("Which ferry leaves first?", 1)


def test_events_replay_as_json_from_a_position(
    as_alice: Caller, conversation: str, asked: dict[str, Any]
) -> None:
    path = f"/api/conversations/{conversation}/events"
    page = as_alice.get(path, Accept="application/json").json()
    assert page["head"] == 1
    (frame,) = page["items"]
    assert set(frame) == {"event", "position", "input_id", "turn_id", "at", "data"}
    assert (frame["event"], frame["input_id"]) == ("input_accepted", asked["input_id"])
    later = as_alice.get(f"{path}?after=1", Accept="application/json").json()
    assert later == {"items": [], "head": 1}


@pytest.mark.parametrize(
    ("after", "code"), [("2", "invalid_cursor"), ("-1", "bad_request"), ("x", "bad_request")]
)
def test_a_position_nobody_gave_is_refused(
    as_alice: Caller, conversation: str, after: str, code: str
) -> None:
    path = f"/api/conversations/{conversation}/events?after={after}"
    answer = as_alice.get(path, Accept="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_a_client_that_takes_neither_form_of_events_is_told_so(
    as_alice: Caller, conversation: str
) -> None:
    answer = as_alice.get(f"/api/conversations/{conversation}/events", Accept="text/html")
    assert (answer.status_code, answer.json()["error"]["code"]) == (406, "not_acceptable")


@pytest.mark.usefixtures("asked")
@pytest.mark.req("INP-012")
def test_stopping_twice_is_accepted_twice(as_alice: Caller, conversation: str) -> None:
    path = f"/api/conversations/{conversation}/stop"
    answers = [as_alice.post(path), as_alice.post(path)]
    assert [answer.status_code for answer in answers] == [202, 202]


def test_steering_needs_a_turn_that_is_live(
    as_alice: Caller, conversation: str, asked: dict[str, Any]
) -> None:
    run_id = Input.objects.get(id=asked["input_id"]).run_id
    answer = as_alice.post(
        f"/api/conversations/{conversation}/steer",
        {"message": "Only morning ones.", "turn_id": str(run_id)},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "turn_not_live")


def test_the_list_goes_on_from_its_cursor_without_gap_or_repeat(
    as_alice: Caller, as_charlie: Caller
) -> None:
    opened = [as_alice.post("/api/conversations").json()["id"] for _ in range(5)]
    as_charlie.post("/api/conversations")
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = as_alice.get(f"/api/conversations?limit=2{cursor}").json()
        seen += [item["id"] for item in page["items"]]
        cursor = f"&cursor={page['next']}"
    assert seen == opened[::-1]
    assert page["next"] is None


def test_a_cursor_belongs_to_one_person_list_and_filter(
    as_alice: Caller, as_charlie: Caller
) -> None:
    for _ in range(2):
        as_alice.post("/api/conversations")
    cursor = as_alice.get("/api/conversations?limit=1").json()["next"]
    stolen = [
        as_charlie.get(f"/api/conversations?limit=1&cursor={cursor}"),
        as_alice.get(f"/api/agents?limit=1&cursor={cursor}"),
        as_alice.get(f"/api/conversations?limit=1&q=x&cursor={cursor}"),
        as_alice.get(f"/api/conversations?limit=1&cursor={cursor}x"),
    ]
    assert [answer.status_code for answer in stolen] == [400] * 4
    assert {answer.json()["error"]["code"] for answer in stolen} == {"invalid_cursor"}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 1),
        ("agent=Ferry", 1),
        ("agent=Nobody", 0),
        ("q=FERRY", 1),
        ("q=train", 0),
        ("archived=true", 0),
        ("archived=false", 1),
    ],
)
def test_filters_narrow_the_list(as_alice: Caller, query: str, found: int) -> None:
    assert len(as_alice.get(f"/api/conversations?{query}").json()["items"]) == found


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "archived=maybe", "q=%00", "limit=x"])
def test_a_bad_filter_is_named(as_alice: Caller, query: str) -> None:
    answer = as_alice.get(f"/api/conversations?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert answer.json()["error"]["fields"][0]["field"] == query.split("=")[0]


@pytest.mark.req("REPO-004")
def test_lists_take_the_same_number_of_queries_however_long(
    as_alice: Caller, django_assert_num_queries: Callable[..., Any]
) -> None:
    for _ in range(3):
        as_alice.post("/api/conversations")
    as_alice.get("/api/conversations")  # stamps the token's use once a minute
    for size in (1, 2, 100):
        with django_assert_num_queries(3):  # token, page, heads
            as_alice.get(f"/api/conversations?limit={size}")


def test_an_order_finds_what_lies_beyond_a_row() -> None:
    order = newest_first("active_at")
    with pytest.raises(ValueError, match="Invalid isoformat"):
        order.beyond(["yesterday", "x"])
