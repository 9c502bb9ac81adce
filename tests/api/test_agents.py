"""Agents over REST: create, list, read, change, compare, delete, and who may do which."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from guardian.shortcuts import assign_perm

from agents.definitions import bundling
from agents.definitions.models import Agent, AgentVersion
from agents.members.models import Member
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

CONTENT = {"name": "Ferry", "persona": "Help people cross."}


def test_it_creates_an_agent_at_version_one(as_alice: Caller, alice: Member) -> None:
    answer = as_alice.send("POST", "/api/agents", {"content": CONTENT})  # no key, like the SDK
    assert answer.status_code == 201
    made = Agent.objects.get(owner=alice)
    assert answer.json() == {"id": str(made.id), "version": 1}


def test_unknown_fields_are_named_wherever_they_stand(as_alice: Caller) -> None:
    inside = as_alice.post("/api/agents", {"content": {**CONTENT, "llm": {}}})
    outside = as_alice.post("/api/agents", {"content": CONTENT, "llm": {}})
    assert [inside.status_code, outside.status_code] == [422, 422]
    assert inside.json()["error"]["fields"] == [{"field": "content.llm", "reason": "unknown_field"}]
    assert outside.json()["error"]["fields"] == [{"field": "llm", "reason": "unknown_field"}]


def test_missing_fields_are_named(as_alice: Caller) -> None:
    answer = as_alice.post("/api/agents", {"content": {"name": "Ferry"}})
    assert answer.json()["error"] == {
        "code": "invalid_body",
        "message": "Some fields are not right.",
        "fields": [{"field": "content.persona", "reason": "missing_field"}],
    }


@pytest.mark.parametrize("field", ["meta", "routing", "posture", "persona"])
def test_a_definition_nested_too_deeply_is_refused_and_nothing_is_kept(
    as_alice: Caller, alice: Member, field: str
) -> None:
    deep = "[" * 101 + "]" * 101
    raw = f'{{"content": {{"name": "Ferry", "persona": "Help.", "{field}": {{"a": {deep}}}}}}}'
    if field == "persona":
        raw = f'{{"content": {{"name": "Ferry", "persona": {deep}}}}}'
    answer = as_alice.send("POST", "/api/agents", raw.encode())
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_json")
    assert not Agent.objects.filter(owner=alice).exists()


def test_a_name_of_ones_own_cannot_be_used_twice(as_alice: Caller, agent: str) -> None:
    answer = as_alice.post("/api/agents", {"content": CONTENT})
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == [{"field": "content.name", "reason": "name_taken"}]


@pytest.mark.req("AGT-005", "AGT-006")
def test_changing_appends_a_version_and_keeps_the_first(as_alice: Caller, agent: str) -> None:
    changed = {**CONTENT, "persona": "Help people cross.\nSay the times."}
    answer = as_alice.send(
        "PUT", f"/api/agents/{agent}", {"content": changed, "expected_version": 1}
    )
    assert answer.json() == {"id": agent, "version": 2}
    first, second = AgentVersion.objects.filter(agent_id=agent).order_by("number")
    assert (first.content["persona"], second.content["persona"]) == (
        "Help.",
        changed["persona"],
    )
    listed = as_alice.get(f"/api/agents/{agent}/versions").json()["items"]
    assert [item["number"] for item in listed] == [2, 1]
    diff = as_alice.get(f"/api/agents/{agent}/versions/1/diff/2").json()["changes"]
    assert diff == [
        {
            "field": "persona",
            "before": "Help.",
            "after": changed["persona"],
            "lines": ["@@ -1 +1,2 @@", "-Help.", "+Help people cross.", "+Say the times."],
            "words": [["=", "Help"], ["+", " people cross.\nSay the times"], ["=", "."]],
        }
    ]


def test_a_stale_version_is_refused_with_the_current_one(as_alice: Caller, agent: str) -> None:
    change = {"content": CONTENT, "expected_version": 1}
    as_alice.send("PUT", f"/api/agents/{agent}", change)
    answer = as_alice.send("PUT", f"/api/agents/{agent}", change)
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "stale_version"
    assert answer.json()["error"]["fields"] == [
        {"field": "expected_version", "reason": "stale_version", "current": 2}
    ]


@pytest.mark.req("AGT-006")
def test_whoever_comes_late_reads_what_changed_since(as_alice: Caller, agent: str) -> None:
    first = {"content": {**CONTENT, "persona": "Help now."}, "expected_version": 1}
    as_alice.send("PUT", f"/api/agents/{agent}", first)
    late = {"content": {**CONTENT, "persona": "Help later."}, "expected_version": 1}
    error = as_alice.send("PUT", f"/api/agents/{agent}", late).json()["error"]
    assert error["details"] == {
        "current": 2,
        "changes": [
            {
                "field": "persona",
                "before": "Help.",
                "after": "Help now.",
                "lines": ["@@ -1 +1 @@", "-Help.", "+Help now."],
                "words": [["=", "Help"], ["+", " now"], ["=", "."]],
            }
        ],
    }
    for path, body in (
        ("rollback", {"expected_version": 1}),
        ("restore", {"version": 1, "expected_version": 1}),
    ):
        answer = as_alice.post(f"/api/agents/{agent}/{path}", body)
        assert (answer.status_code, answer.json()["error"]) == (409, error)


@pytest.mark.req("AGT-006")
def test_an_earlier_version_comes_back_as_a_new_one(as_alice: Caller, agent: str) -> None:
    change = {"content": {**CONTENT, "persona": "Two."}, "expected_version": 1}
    as_alice.send("PUT", f"/api/agents/{agent}", change)
    back = as_alice.post(f"/api/agents/{agent}/rollback", {"expected_version": 2}, key="once")
    again = as_alice.post(f"/api/agents/{agent}/rollback", {"expected_version": 2}, key="once")
    assert (back.status_code, back.json()) == (200, {"id": agent, "version": 3})
    assert again.content == back.content
    body = {"version": 2, "expected_version": 3}
    assert as_alice.post(f"/api/agents/{agent}/restore", body).json()["version"] == 4
    personas = [
        as_alice.get(f"/api/agents/{agent}/versions/{number}").json()["content"]["persona"]
        for number in (1, 2, 3, 4)
    ]
    assert personas == ["Help.", "Two.", "Help.", "Two."]


def test_a_copy_is_an_agent_of_ones_own(as_alice: Caller, agent: str) -> None:
    copy = as_alice.post(f"/api/agents/{agent}/duplicate", {})
    assert (copy.status_code, copy.json()["version"]) == (201, 1)
    found = as_alice.get(f"/api/agents/{copy.json()['id']}").json()
    assert (found["name"], found["content"]["persona"]) == ("Ferry 2", "Help.")
    taken = as_alice.post(f"/api/agents/{agent}/duplicate", {"name": "Ferry"})
    assert taken.json()["error"]["fields"] == [{"field": "content.name", "reason": "name_taken"}]


def test_deleting_ends_the_agent_and_keeps_its_history(as_alice: Caller, agent: str) -> None:
    assert as_alice.send("DELETE", f"/api/agents/{agent}").status_code == 204
    assert as_alice.get(f"/api/agents/{agent}").status_code == 404
    assert AgentVersion.objects.filter(agent_id=agent).count() == 1


@pytest.mark.req("AGT-014")
@pytest.mark.parametrize(
    ("grant", "reads", "changes", "deletes"),
    [
        (None, 404, 404, 404),
        ("use_agent", 403, 403, 403),
        ("duplicate_agent", 200, 403, 403),
        ("edit_agent", 200, 200, 403),
    ],
)
def test_a_share_opens_exactly_what_it_says(
    grant: str | None,
    reads: int,
    changes: int,
    deletes: int,
    bob: Member,
    calling: Callable[..., Caller],
    agent: str,
) -> None:
    if grant:
        assign_perm(grant, bob, Agent.objects.get(id=agent))
    as_bob = calling(bob)
    change = {"content": CONTENT, "expected_version": 1}
    statuses = [
        as_bob.get(f"/api/agents/{agent}/versions/1").status_code,
        as_bob.send("PUT", f"/api/agents/{agent}", change).status_code,
        as_bob.send("DELETE", f"/api/agents/{agent}").status_code,
    ]
    assert statuses == [reads, changes, deletes]


def test_whoever_may_only_use_an_agent_does_not_read_its_persona(
    bob: Member, calling: Callable[..., Caller], agent: str
) -> None:
    assign_perm("use_agent", bob, Agent.objects.get(id=agent))
    found = calling(bob).get(f"/api/agents/{agent}").json()
    assert (found["name"], found["owned"], found["content"]) == ("Ferry", False, None)


def test_a_bundled_agent_is_read_by_all_and_changed_by_nobody(as_ada: Caller) -> None:
    for bundle in bundling.shipped():
        bundling.reconcile(bundle)
    path = f"/api/agents/{bundling.default_agent_id()}"
    content = as_ada.get(path).json()["content"]
    assert content["persona"]
    change = {"content": content, "expected_version": 1}
    assert as_ada.send("PUT", path, change).status_code == 403
    assert as_ada.send("DELETE", path).status_code == 403


def test_the_list_shows_what_one_may_use_and_filters_it(
    as_alice: Caller, as_charlie: Caller, agent: str
) -> None:
    def ids(caller: Caller, query: str = "") -> list[str]:
        return [item["id"] for item in caller.get(f"/api/agents{query}").json()["items"]]

    assert ids(as_alice) == [agent]
    assert ids(as_alice, "?q=FERR") == [agent]
    assert ids(as_alice, "?mode=search") == []
    assert ids(as_charlie) == []


def test_versions_of_another_agent_are_not_reached_through_ones_own(
    as_alice: Caller, agent: str
) -> None:
    other = as_alice.post("/api/agents", {"content": {**CONTENT, "name": "Train"}}).json()["id"]
    change: dict[str, Any] = {"content": CONTENT | {"name": "Bus"}, "expected_version": 1}
    as_alice.send("PUT", f"/api/agents/{other}", change)
    assert as_alice.get(f"/api/agents/{other}/versions/2").status_code == 200
    assert as_alice.get(f"/api/agents/{agent}/versions/2").status_code == 404
    assert as_alice.get(f"/api/agents/{uuid.uuid4()}/versions/1").status_code == 404
