"""Artifacts over REST: keep, change, edit, compare, restore, delete, and who may do which."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from guardian.shortcuts import assign_perm

from agents.members.models import Member, TokenScope
from artifacts import writing
from artifacts.models import Artifact, ArtifactVersion
from audit.models import AuditEvent
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

PLAN = {"title": "Plan", "kind": "markdown", "content": "# Plan\n\n* one\n* two\n"}


@pytest.fixture
def kept(as_alice: Caller) -> dict[str, Any]:
    """A plan of alice's, as creating it answers."""
    answer = as_alice.post("/api/artifacts", PLAN)
    assert answer.status_code == 201
    return answer.json()


def content_of(caller: Caller, artifact_id: str) -> str:
    return caller.get(f"/api/artifacts/{artifact_id}").json()["newest"]["content"]


def versions_of(artifact_id: str) -> int:
    return ArtifactVersion.objects.filter(artifact_id=artifact_id).count()


def edit(base: dict[str, Any], *hunks: dict[str, Any]) -> dict[str, Any]:
    return {"base_version": base["version"], "tag": base["tag"], "hunks": list(hunks)}


def put(first: int, last: int, *lines: str) -> dict[str, Any]:
    return {"op": "PUT", "first": first, "last": last, "lines": list(lines)}


def test_it_keeps_an_artifact_where_it_was_made(
    as_alice: Caller, conversation: str, alice: Member
) -> None:
    made = as_alice.post("/api/artifacts", {**PLAN, "conversation_id": conversation}).json()
    assert made["digest"] == writing.digest_of(PLAN["content"])
    assert (made["version"], made["tag"]) == (1, made["digest"][7:23])
    listed = as_alice.get(f"/api/artifacts?conversation_id={conversation}").json()["items"]
    assert [item["id"] for item in listed] == [made["id"]]
    read = as_alice.get(f"/api/artifacts/{made['id']}").json()
    assert read["may"] == {"edit": True, "delete": True}
    assert read["newest"]["content"] == PLAN["content"]
    assert read["newest"]["author"] == {
        "principal": f"member:{alice.pk}",
        "name": alice.name_shown(),
        "is_agent": False,
    }


def test_a_key_makes_one_artifact_however_often_it_comes(as_alice: Caller, alice: Member) -> None:
    key = str(uuid.uuid4())
    answers = {as_alice.post("/api/artifacts", PLAN, key=key).content for _ in range(3)}
    assert len(answers) == 1
    assert Artifact.objects.visible_to(alice).count() == 1


def test_it_keeps_nothing_for_a_conversation_of_somebody_else(
    as_charlie: Caller, conversation: str, charlie: Member
) -> None:
    answers = {
        as_charlie.post("/api/artifacts", {**PLAN, "conversation_id": named}).content
        for named in (conversation, str(uuid.uuid4()))
    }
    assert len(answers) == 1
    assert b'{"field":"conversation_id","reason":"not_found"}' in answers.pop()
    assert not Artifact.objects.visible_to(charlie).exists()


@pytest.mark.req("ART-009", "ART-025")
@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"kind": "spreadsheet"}, "kind", "invalid_field"),
        ({"kind": "renderable"}, "kind", "invalid_field"),
        ({"content": "x" * 100_001}, "content", "too_long"),
        ({"content": "  \n"}, "content", "missing_field"),
        ({"title": ""}, "title", "too_short"),
        ({"kind": "code", "language": "Not A Language"}, "language", "invalid_field"),
        ({"language": "python"}, "language", "invalid_field"),
        ({"kind": "graph", "content": '{"nodes": []}'}, "content", "invalid_field"),
        ({"owner": "1"}, "owner", "unknown_field"),
    ],
)
def test_what_a_kind_does_not_allow_is_refused_with_its_field(
    as_alice: Caller, alice: Member, changes: dict[str, Any], field: str, reason: str
) -> None:
    answer = as_alice.post("/api/artifacts", {**PLAN, **changes})
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == [{"field": field, "reason": reason}]
    assert not Artifact.objects.visible_to(alice).exists()


def test_an_edit_changes_its_lines_alone(as_alice: Caller, kept: dict[str, Any]) -> None:
    path = f"/api/artifacts/{kept['id']}/edits"
    hunks = [
        put(3, 3, "* uno"),
        {"op": "PUT", "after": 0, "lines": ["<!-- mine -->"]},
        {"op": "CUT", "first": 4, "last": 4},
    ]
    answer = as_alice.post(path, edit(kept, *hunks))
    assert answer.status_code == 200
    assert content_of(as_alice, kept["id"]) == "<!-- mine -->\n# Plan\n\n* uno\n"
    assert answer.json()["version"] == 2
    further = as_alice.post(path, edit(answer.json(), put(1, 1, "<!-- ours -->")))
    assert further.json()["version"] == 3


@pytest.mark.req("ART-004")
def test_a_stale_edit_changes_nothing_and_shows_what_has_changed(
    as_alice: Caller, kept: dict[str, Any]
) -> None:
    path = f"/api/artifacts/{kept['id']}"
    newer = as_alice.post(f"{path}/edits", edit(kept, put(3, 3, "* uno"))).json()
    late = (
        as_alice.post(f"{path}/edits", edit(kept, put(4, 4, "* dos"))),
        as_alice.send("PUT", path, {"content": "all mine", "expected_version": 1}),
        as_alice.post(f"{path}/restore", {"version": 1, "expected_version": 1}),
    )
    for answer in late:
        assert answer.status_code == 409
        error = answer.json()["error"]
        assert error["code"] == "stale_version"
        assert error["fields"] == [
            {"field": "expected_version", "reason": "stale_version", "current": 2}
        ]
        assert error["details"] == {
            "current": 2,
            "tag": newer["tag"],
            "diff": "@@ -1,4 +1,4 @@\n # Plan\n \n-* one\n+* uno\n * two",
        }
    assert versions_of(kept["id"]) == 2


@pytest.mark.req("ART-004")
def test_an_edit_with_another_tag_changes_nothing(as_alice: Caller, kept: dict[str, Any]) -> None:
    wrong = {**kept, "tag": "0" * 16}
    answer = as_alice.post(f"/api/artifacts/{kept['id']}/edits", edit(wrong, put(1, 1, "x")))
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "content_mismatch"
    assert answer.json()["error"]["details"]["tag"] == kept["tag"]
    assert versions_of(kept["id"]) == 1


def test_the_difference_with_a_stale_edit_is_bounded(as_alice: Caller) -> None:
    first = as_alice.post("/api/artifacts", {**PLAN, "content": "a\n" * 40_000}).json()
    path = f"/api/artifacts/{first['id']}"
    as_alice.send("PUT", path, {"content": "b\n" * 40_000, "expected_version": 1})
    answer = as_alice.send("PUT", path, {"content": "c", "expected_version": 1})
    assert len(answer.json()["error"]["details"]["diff"]) <= 20_100
    unknown = as_alice.send("PUT", path, {"content": "c", "expected_version": 9})
    assert unknown.json()["error"]["details"]["diff"] == ""


@pytest.mark.parametrize(
    ("hunks", "field"),
    [
        ([], "hunks"),
        ([put(1, 2, "x"), put(2, 3, "y")], "hunks.1"),
        ([put(1, 1, "x"), put(5, 5, "y")], "hunks.1.first"),
        ([put(3, 2, "x")], "hunks.0.last"),
        ([put(1, 1)], "hunks.0.lines"),
        ([put(1, 1, "two\nlines")], "hunks.0.lines.0"),
        ([{"op": "CUT", "first": 1, "last": 1, "lines": ["x"]}], "hunks.0.lines"),
        ([{"op": "CUT", "after": 1}], "hunks.0.after"),
        ([{"op": "REPLACE", "old": "one", "new": "uno"}], "hunks.0.old"),
        ([put(1, 1, "x")] * 33, "hunks"),
    ],
)
def test_hunks_that_cannot_stand_are_named_and_nothing_is_written(
    as_alice: Caller, kept: dict[str, Any], hunks: list[dict[str, Any]], field: str
) -> None:
    answer = as_alice.post(f"/api/artifacts/{kept['id']}/edits", edit(kept, *hunks))
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"][0]["field"] == field
    assert versions_of(kept["id"]) == 1
    assert content_of(as_alice, kept["id"]) == PLAN["content"]


def test_a_whole_save_keeps_the_language_unless_it_names_one(as_alice: Caller) -> None:
    made = as_alice.post(
        "/api/artifacts", {"title": "Q", "kind": "code", "language": "sql", "content": "SELECT 1"}
    ).json()
    path = f"/api/artifacts/{made['id']}"
    as_alice.send("PUT", path, {"content": "SELECT 2", "expected_version": 1})
    body = {"content": "print(2)", "expected_version": 2, "language": "python"}
    as_alice.send("PUT", path, body)
    listed = as_alice.get(f"{path}/versions").json()["items"]
    assert [(one["number"], one["language"]) for one in listed] == [
        (3, "python"),
        (2, "sql"),
        (1, "sql"),
    ]


def test_restoring_appends_what_was(as_alice: Caller, kept: dict[str, Any]) -> None:
    path = f"/api/artifacts/{kept['id']}"
    as_alice.send("PUT", path, {"content": "other", "expected_version": 1})
    answer = as_alice.post(f"{path}/restore", {"version": 1, "expected_version": 2})
    assert answer.json()["version"] == 3
    assert answer.json()["digest"] == kept["digest"]
    missing = as_alice.post(f"{path}/restore", {"version": 9, "expected_version": 3})
    assert missing.status_code == 404
    assert versions_of(kept["id"]) == 3


def test_two_versions_are_compared_line_by_line(as_alice: Caller, kept: dict[str, Any]) -> None:
    path = f"/api/artifacts/{kept['id']}"
    as_alice.send("PUT", path, {"content": "# Plan\n\n* one\r\n* 2", "expected_version": 1})
    answer = as_alice.get(f"{path}/versions/1/diff/2")
    assert answer.json() == {
        "lines": [
            ["=", "# Plan"],
            ["=", ""],
            ["-", "* one"],
            ["-", "* two"],
            ["+", "* one\r"],
            ["+", "* 2"],
        ],
        "final_newline": [True, False],
    }
    assert as_alice.get(f"{path}/versions/1/diff/3").status_code == 404
    assert as_alice.get(f"{path}/versions/0").status_code == 404


def test_deleting_hides_it_from_everybody_and_keeps_its_versions(
    as_alice: Caller, kept: dict[str, Any]
) -> None:
    path = f"/api/artifacts/{kept['id']}"
    assert as_alice.send("DELETE", path).status_code == 204
    for answer in (as_alice.get(path), as_alice.send("DELETE", path), as_alice.get(f"{path}/x")):
        assert answer.status_code == 404
    assert as_alice.get("/api/artifacts").json()["items"] == []
    assert versions_of(kept["id"]) == 1
    deleted = AuditEvent.objects.filter(subject_id=kept["id"], action="artifact_deleted")
    assert deleted.count() == 1


@pytest.mark.req("ART-005")
def test_readers_change_nothing_and_editors_do_not_delete(
    as_alice: Caller,
    kept: dict[str, Any],
    bob: Member,
    calling: Callable[..., Caller],
) -> None:
    root = Artifact.objects.get(id=kept["id"])
    path = f"/api/artifacts/{kept['id']}"
    as_bob = calling(bob)
    assign_perm("view_shared_artifact", bob, root)
    writes = (
        ("PUT", path, {"content": "x", "expected_version": 1}),
        ("POST", f"{path}/edits", edit(kept, put(1, 1, "x"))),
        ("POST", f"{path}/restore", {"version": 1, "expected_version": 1}),
        ("DELETE", path, None),
    )
    for method, where, body in writes:
        assert as_bob.send(method, where, body).status_code == 403
    assert as_bob.get(path).json()["may"] == {"edit": False, "delete": False}
    assert versions_of(kept["id"]) == 1
    assign_perm("edit_artifact", bob, root)
    answer = as_bob.post(f"{path}/edits", edit(kept, put(1, 1, "# Ours")))
    assert answer.json()["version"] == 2
    assert as_bob.send("DELETE", path).status_code == 403
    assert as_bob.get(path).json()["may"] == {"edit": True, "delete": False}
    newest = as_alice.get(path).json()["newest"]
    assert newest["author"]["name"] == bob.name_shown()


def test_an_agent_that_the_reader_may_not_use_is_not_named(
    as_alice: Caller, kept: dict[str, Any], agent: str, bob: Member, calling: Callable[..., Caller]
) -> None:
    root = Artifact.objects.get(id=kept["id"])
    ArtifactVersion.objects.create(
        id=uuid.uuid4(),
        artifact=root,
        number=2,
        content="x",
        digest=writing.digest_of("x"),
        author_principal=f"agent:{agent}",
    )
    Artifact.objects.filter(id=root.id).update(head=2)
    assign_perm("view_shared_artifact", bob, root)
    path = f"/api/artifacts/{kept['id']}/versions"
    seen = [caller.get(path).json()["items"][0]["author"] for caller in (as_alice, calling(bob))]
    assert [(author["name"], author["is_agent"]) for author in seen] == [
        ("Ferry", True),
        ("An agent", True),
    ]


def test_a_list_of_versions_asks_a_fixed_number_of_questions(
    as_alice: Caller, kept: dict[str, Any], django_assert_max_num_queries: Any
) -> None:
    path = f"/api/artifacts/{kept['id']}"
    for number in range(1, 12):
        as_alice.send("PUT", path, {"content": f"{number}", "expected_version": number})
    with django_assert_max_num_queries(6):
        assert len(as_alice.get(f"{path}/versions").json()["items"]) == 12


def test_lists_are_narrowed_by_kind_and_title(as_alice: Caller, kept: dict[str, Any]) -> None:
    as_alice.post("/api/artifacts", {**PLAN, "kind": "text", "title": "Budget 2027"})

    def titles(query: str) -> list[str]:
        return [item["title"] for item in as_alice.get(f"/api/artifacts?{query}").json()["items"]]

    assert titles("kind=text") == ["Budget 2027"]
    assert titles("q=plan") == ["Plan"]
    assert as_alice.get("/api/artifacts?kind=film").status_code == 400


def test_a_token_for_reading_writes_nothing(
    as_alice: Caller, kept: dict[str, Any], alice: Member, calling: Callable[..., Caller]
) -> None:
    reading = calling(alice, TokenScope.READ)
    path = f"/api/artifacts/{kept['id']}"
    for method, where in (("POST", "/api/artifacts"), ("PUT", path), ("POST", f"{path}/edits")):
        answer = reading.send(method, where, {})
        assert answer.json()["error"]["code"] == "scope_missing"
    assert Client().get(path).status_code == 401
