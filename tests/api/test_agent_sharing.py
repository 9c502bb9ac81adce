"""Sharing over REST: shares, audience, and finding people and groups to share with."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.http import HttpResponse

from agents.members import accounts, roles
from agents.members.models import Member, TokenScope
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db

Calling = Callable[..., Caller]


def put(caller: Caller, agent: str, body: Any) -> HttpResponse:
    return caller.send("PUT", f"/api/agents/{agent}/shares", body)


def to(member: Member, *rights: str) -> dict[str, Any]:
    return {"member_id": str(member.pk), "rights": list(rights)}


@pytest.mark.req("AGT-013")
def test_an_owner_reads_and_replaces_the_shares(
    as_alice: Caller, alice: Member, bob: Member, calling: Calling, agent: str
) -> None:
    crew = Group.objects.create(name="Crew")
    alice.groups.add(crew)
    nobody = {"audience": "private", "shares": []}
    assert as_alice.get(f"/api/agents/{agent}/shares").json() == nobody
    body = {"shares": [to(bob, "use", "edit"), {"group_id": str(crew.pk), "rights": ["use"]}]}
    answer = put(as_alice, agent, body)
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "audience": "private",
            "shares": [
                {"member": {"id": str(bob.pk), "name": "Bob"}, "rights": ["use", "edit"]},
                {"group": {"id": str(crew.pk), "name": "Crew"}, "rights": ["use"]},
            ],
        },
    )
    assert as_alice.get(f"/api/agents/{agent}/shares").json() == answer.json()
    assert put(as_alice, agent, {}).json() == answer.json()  # what is left out stays
    (seen,) = calling(bob).get("/api/agents?owner=shared").json()["items"]
    assert (seen["id"], seen["sharing"], seen["owner_name"], seen["may"]) == (
        agent,
        "shared",
        "Alice",
        {"edit": True, "duplicate": False, "share": False, "delete": False},
    )
    assert put(as_alice, agent, {"shares": []}).json() == nobody
    assert calling(bob).get("/api/agents").json()["items"] == []


@pytest.mark.req("AGT-014")
@pytest.mark.parametrize(
    ("right", "statuses"),
    [
        (None, [404, 404, 404, 404, 404]),
        ("use", [403, 403, 403, 403, 403]),
        ("duplicate", [201, 403, 403, 403, 403]),
        ("edit", [403, 200, 200, 403, 403]),
    ],
)
def test_a_share_opens_exactly_what_it_says(
    as_alice: Caller,
    bob: Member,
    calling: Calling,
    agent: str,
    right: str | None,
    statuses: list[int],
) -> None:
    change = {"content": {"name": "Ferry", "persona": "Two."}, "expected_version": 1}
    as_alice.send("PUT", f"/api/agents/{agent}", change)
    put(as_alice, agent, {"shares": [to(bob, right)] if right else []})
    as_bob = calling(bob)
    asked = [
        as_bob.post(f"/api/agents/{agent}/duplicate", {}),
        as_bob.post(f"/api/agents/{agent}/rollback", {"expected_version": 2}),
        as_bob.post(f"/api/agents/{agent}/restore", {"version": 2, "expected_version": 3}),
        as_bob.get(f"/api/agents/{agent}/shares"),
        put(as_bob, agent, {"shares": []}),
    ]
    assert [answer.status_code for answer in asked] == statuses


@pytest.mark.req("AGT-013")
def test_all_members_as_audience_is_for_administrators(
    as_alice: Caller, as_ada: Caller, as_charlie: Caller, agent: str
) -> None:
    refused = put(as_alice, agent, {"audience": "everyone"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert as_charlie.get(f"/api/agents/{agent}").status_code == 404
    assert put(as_charlie, agent, {"audience": "everyone"}).status_code == 404
    opened = put(as_ada, agent, {"audience": "everyone"})
    assert (opened.status_code, opened.json()) == (200, {"audience": "everyone", "shares": []})
    seen = as_charlie.get(f"/api/agents/{agent}").json()
    assert (seen["sharing"], seen["content"]) == ("everyone", None)
    assert put(as_alice, agent, {"audience": "private"}).status_code == 200
    assert as_charlie.get(f"/api/agents/{agent}").status_code == 404


@pytest.mark.parametrize(
    ("share", "field", "reason"),
    [
        ({"rights": ["use"]}, "shares.0", "invalid_field"),
        ({"member_id": "1", "group_id": "1", "rights": ["use"]}, "shares.0", "invalid_field"),
        ({"member_id": "x", "rights": ["use"]}, "shares.0.member_id", "not_found"),
        ({"member_id": 7, "rights": ["use"]}, "shares.0.member_id", "invalid_field"),
        ({"member_id": "-1", "rights": ["use"]}, "shares.0.member_id", "not_found"),
        ({"group_id": "999999999", "rights": ["use"]}, "shares.0.group_id", "not_found"),
        ({"member_id": "1", "rights": []}, "shares.0.rights", "too_short"),
        ({"member_id": "1", "rights": ["own"]}, "shares.0.rights.0", "invalid_field"),
        ({"member_id": "1", "rights": ["use"], "as": "x"}, "shares.0.as", "unknown_field"),
    ],
)
def test_a_share_that_cannot_be_names_its_field(
    as_alice: Caller, agent: str, share: dict[str, Any], field: str, reason: str
) -> None:
    answer = put(as_alice, agent, {"shares": [share]})
    assert (answer.status_code, answer.json()["error"]["fields"]) == (
        422,
        [{"field": field, "reason": reason}],
    )


def test_nobody_is_named_twice_and_all_or_nothing_is_given(
    as_alice: Caller, bob: Member, agent: str
) -> None:
    twice = put(as_alice, agent, {"shares": [to(bob, "use"), to(bob, "edit")]})
    assert twice.json()["error"]["fields"] == [
        {"field": "shares.1.member_id", "reason": "invalid_field"}
    ]
    half = put(as_alice, agent, {"shares": [to(bob, "use"), {"group_id": "9", "rights": ["use"]}]})
    assert half.status_code == 422
    both = put(as_alice, agent, {"audience": "everyone", "shares": [to(bob, "use")]})
    assert both.status_code == 403
    assert as_alice.get(f"/api/agents/{agent}/shares").json()["shares"] == []


def test_a_reading_token_shares_nothing(alice: Member, calling: Calling, agent: str) -> None:
    reader = calling(alice, TokenScope.READ)
    assert reader.get(f"/api/agents/{agent}/shares").status_code == 200
    assert put(reader, agent, {"shares": []}).status_code == 403


def test_people_are_found_by_two_characters_of_their_names(
    as_alice: Caller, alice: Member, bob: Member, charlie: Member
) -> None:
    accounts.change(actor="system:tests", member=bob, display_name="Zora Quist", is_active=True)
    accounts.change(actor="system:tests", member=charlie, display_name="Quinn", is_active=True)

    def found(text: str) -> list[dict[str, str]]:
        return as_alice.get(f"/api/people?q={text}").json()["items"]

    assert found("QUI") == [
        {"id": str(charlie.pk), "name": "Quinn", "username": charlie.username},
        {"id": str(bob.pk), "name": "Zora Quist", "username": bob.username},
    ]
    assert found(bob.username[:9])[0]["id"] == str(bob.pk)
    assert found("q") == []
    assert found("%25%25") == []
    assert found(alice.username) == []  # oneself is nobody to share with
    accounts.change(actor="system:tests", member=charlie, display_name="Quinn", is_active=False)
    assert [one["name"] for one in found("qui")] == ["Zora Quist"]


def test_at_most_ten_people_are_found(as_alice: Caller, make_member: Callable[..., Member]) -> None:
    for _ in range(12):
        make_member("wanda")
    assert len(as_alice.get("/api/people?q=wanda").json()["items"]) == 10


def test_ones_groups_are_offered_and_roles_are_none(
    as_alice: Caller, as_charlie: Caller, alice: Member
) -> None:
    crew = Group.objects.create(name="Crew")
    alice.groups.add(crew)
    assert as_alice.get("/api/groups").json() == {"items": [{"id": str(crew.pk), "name": "Crew"}]}
    assert as_charlie.get("/api/groups").json() == {"items": []}
    assert accounts.role_of(alice) == roles.MEMBER
