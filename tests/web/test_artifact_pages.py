"""The list of artifacts, the page of one, and artifacts in the search."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from guardian.shortcuts import assign_perm

from agents.members.models import Member
from agents.web.artifacts import ROWS
from artifacts import writing
from artifacts.models import Artifact, ArtifactVersion
from artifacts.writing import Draft

pytestmark = pytest.mark.django_db

MOST_QUERIES = 7  # session, person, roles, sidebar, inbox, the rows, and what the search needs


def kept(member: Member, title: str, kind: str = "text", content: str = "so") -> ArtifactVersion:
    """An artifact of somebody."""
    return writing.create(actor=member, draft=Draft(title, kind, content))


def test_the_list_shows_ones_own_and_what_is_shared_and_nothing_else(
    client_of: Callable[[Member], Client], alice: Member, bob: Member, charlie: Member
) -> None:
    kept(alice, "Ferry times")
    shared = kept(bob, "Night shift").artifact
    assign_perm("view_shared_artifact", alice, shared)
    kept(charlie, "Hidden things")
    text = client_of(alice).get("/artifacts").content.decode()
    assert "Ferry times" in text
    assert "Night shift" in text
    assert "Shared by Bob" in text
    assert "Hidden things" not in text


def test_the_list_is_searched_by_title_and_kind(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    kept(alice, "Ferry times")
    kept(alice, "Ferry plan", "markdown")
    kept(alice, "Bus plan", "markdown")
    client = client_of(alice)
    text = client.get("/artifacts?q=ferry&kind=markdown").content.decode()
    assert "Ferry plan" in text
    assert "Ferry times" not in text
    assert "Bus plan" not in text
    assert client.get("/artifacts?q=%00&kind=nothing&page=x").status_code == 200


def test_the_list_is_turned_page_by_page_at_a_fixed_number_of_queries(
    client_of: Callable[[Member], Client], alice: Member, django_assert_max_num_queries: Any
) -> None:
    for number in range(ROWS + 1):
        kept(alice, f"Sheet {number:02}")
    client = client_of(alice)
    with django_assert_max_num_queries(MOST_QUERIES):
        first = client.get("/artifacts").content.decode()
    assert "Sheet 40" in first
    assert "Sheet 00" not in first
    assert "?page=2" in first
    second = client.get("/artifacts?page=2").content.decode()
    assert "Sheet 00" in second
    assert "?page=3" not in second


def test_the_page_of_a_foreign_artifact_looks_missing(
    client_of: Callable[[Member], Client], alice: Member, charlie: Member
) -> None:
    root = kept(alice, "Ferry times").artifact
    assert "Ferry times" in client_of(alice).get(f"/artifacts/{root.id}").content.decode()
    stranger = client_of(charlie)
    assert stranger.get(f"/artifacts/{root.id}").status_code == 404
    assert stranger.get(f"/artifacts/{uuid4()}").status_code == 404


def test_search_finds_artifacts_by_title(
    client_of: Callable[[Member], Client], alice: Member, charlie: Member
) -> None:
    root = kept(alice, "Timetable of <Ferries>").artifact
    found = client_of(alice).get("/search?q=ferries").content.decode()
    assert f"/artifacts/{root.id}" in found
    assert "Timetable of &lt;<mark>Ferries</mark>&gt;" in found
    assert str(root.id) not in client_of(charlie).get("/search?q=ferries").content.decode()


def test_a_deleted_artifact_is_nowhere(
    client_of: Callable[[Member], Client], alice: Member
) -> None:
    root = kept(alice, "Ferry times").artifact
    Artifact.objects.filter(id=root.id).update(deleted_at=root.created_at)
    client = client_of(alice)
    assert "Ferry times" not in client.get("/artifacts").content.decode()
    assert client.get(f"/artifacts/{root.id}").status_code == 404
