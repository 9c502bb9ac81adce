"""Renderable artifacts over REST: read as a table or text, saved as they are, written by nobody."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from agents.members.models import Member
from artifacts.models import ArtifactUserObjectPermission, ArtifactVersion
from artifacts.renderable.attestation import LANGUAGE
from audit import canonical
from tests.api.conftest import Caller
from tests.artifacts.envelopes import ferries, kept_for, referring

pytestmark = pytest.mark.django_db


@pytest.mark.req("REN-023", "REN-002")
def test_reading_answers_the_envelope_and_how_it_is_shown(as_alice: Caller, alice: Member) -> None:
    made = kept_for(alice, ferries())
    read = as_alice.get(f"/api/artifacts/{made.artifact_id}").json()
    assert (read["kind"], read["newest"]["language"]) == ("renderable", LANGUAGE)
    assert read["may"] == {"edit": False, "delete": True}
    assert json.loads(read["newest"]["content"]) == ferries()
    shown = read["newest"]["renderable"]
    assert {name: shown[name] for name in shown if name != "table"} == {
        "renderer": "table",
        "shows": "table",
        "text": "Three ferries.\nOtter leaves at 8.",
        "payload_type": "harbour.departures",
        "payload_version": 2,
        "result_ref": None,
        "banner": ["INTERNAL"],
        "markings": [
            {"portion": "banner", "marking": "INTERNAL"},
            {"portion": "rows", "marking": "INTERNAL // CREW"},
        ],
        "provenance": ferries()["provenance"],
        "filename": "departures.json",
    }
    assert shown["table"]["columns"][2] == {
        "key": "cars",
        "label": "Cars",
        "type": "number",
        "order": [1, 0, 2],
    }
    assert shown["table"]["rows"][2] == ["Berta", None, 100, False, None, "in dock"]
    version = as_alice.get(f"/api/artifacts/{made.artifact_id}/versions/1").json()
    assert version["renderable"] == shown

    plain = as_alice.post("/api/artifacts", {"title": "x", "kind": "text", "content": "x"}).json()
    assert as_alice.get(f"/api/artifacts/{plain['id']}").json()["newest"]["renderable"] is None


@pytest.mark.req("REN-010", "REN-023")
@pytest.mark.parametrize("candidate", [referring(), ferries(renderer={"type": "harbour.map"})])
def test_what_nothing_draws_shows_its_text_and_is_saved_whole(
    as_alice: Caller, alice: Member, candidate: dict[str, Any]
) -> None:
    made = kept_for(alice, candidate)
    path = f"/api/artifacts/{made.artifact_id}"
    shown = as_alice.get(path).json()["newest"]["renderable"]
    assert (shown["shows"], shown["table"]) == ("text", None)
    assert shown["result_ref"] == candidate["payload"].get("result_ref")
    saved = as_alice.get(f"{path}/download")
    assert saved["Content-Disposition"] == 'attachment; filename="departures.json"'
    assert saved.content.decode() == canonical.dump(candidate)
    assert saved["Content-Type"] == "application/octet-stream"


@pytest.mark.req("REN-014")
def test_nobody_writes_one_not_even_its_owner(as_alice: Caller, alice: Member) -> None:
    made = kept_for(alice, ferries())
    path = f"/api/artifacts/{made.artifact_id}"
    content = canonical.dump(ferries(text_fallback="Other"))
    line = {"op": "PUT", "first": 1, "last": 1, "lines": [content]}
    answers = [
        as_alice.send("PUT", path, {"content": content, "expected_version": 1}),
        as_alice.send(
            "PUT", path, {"content": content, "expected_version": 1, "language": LANGUAGE}
        ),
        as_alice.post(f"{path}/edits", {"base_version": 1, "tag": made.tag, "hunks": [line]}),
        as_alice.post(f"{path}/restore", {"version": 1, "expected_version": 1}),
        as_alice.post("/api/artifacts", {"title": "x", "kind": "renderable", "content": content}),
        as_alice.post(
            "/api/artifacts",
            {"title": "x", "kind": "code", "content": content, "language": LANGUAGE},
        ),
    ]
    assert [answer.status_code for answer in answers] == [422] * 6
    named = [answer.json()["error"] for answer in answers]
    assert all(LANGUAGE in error["message"] for error in named[:4] + named[5:])
    assert {field["field"] for error in named for field in error["fields"]} == {"kind", "language"}
    assert ArtifactVersion.objects.filter(artifact__owner=alice).count() == 1


@pytest.mark.req("REN-025")
def test_markings_do_not_decide_who_reads(
    as_alice: Caller, alice: Member, bob: Member, calling: Any
) -> None:
    public = kept_for(alice, ferries(security={"markings": ["PUBLIC"]}))
    secret = kept_for(alice, ferries(security={"markings": ["TOP SECRET"]}))
    ArtifactUserObjectPermission.objects.create(
        user=bob,
        content_object=secret.artifact,
        permission=Permission.objects.get(codename="edit_artifact"),
    )
    as_bob = calling(bob)
    read = as_bob.get(f"/api/artifacts/{secret.artifact_id}")
    assert read.json()["newest"]["renderable"]["banner"] == ["TOP SECRET"]
    assert read.json()["may"] == {"edit": False, "delete": False}
    for path in ("", "/versions/1", "/download"):
        hidden = as_bob.get(f"/api/artifacts/{public.artifact_id}{path}")
        missing = as_bob.get(f"/api/artifacts/{public.id}{path}")
        assert (hidden.status_code, hidden.content) == (404, missing.content)
