"""How agents work for a person: read, changed in parts, refused whole."""

from typing import Any

import pytest

from agents.members.models import Member
from audit.models import AuditEvent
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db
CHOSEN = {
    "plain_speak": True,
    "compress_tool_results": True,
    "default_during_run": "queue",
    "effort": "high",
}


def chosen(answer: Any) -> dict[str, Any]:
    return {name: answer.json()[name] for name in CHOSEN}


@pytest.mark.req("UIX-006")
def test_preferences_are_changed_in_parts_and_kept(as_alice: Caller, alice: Member) -> None:
    answer = as_alice.send("PATCH", "/api/me", CHOSEN)
    assert (answer.status_code, chosen(answer)) == (200, CHOSEN)
    as_alice.send("PATCH", "/api/me", {"plain_speak": False})
    assert chosen(as_alice.get("/api/me")) == {**CHOSEN, "plain_speak": False}
    rows = AuditEvent.objects.filter(actor=alice.principal, action="member_changed")
    assert [row.details for row in rows.order_by("id")] == [
        {
            "compress_tool_results": "true",
            "default_during_run": "queue",
            "effort": "high",
            "plain_speak": "true",
        },
        {"plain_speak": "false"},
    ]


def test_an_empty_change_changes_nothing(as_alice: Caller, alice: Member) -> None:
    assert as_alice.send("PATCH", "/api/me", {}).status_code == 200
    assert not AuditEvent.objects.filter(actor=alice.principal, action="member_changed").exists()


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({"plain_speak": "yes"}, "plain_speak", "invalid_field"),
        ({"plain_speak": 1}, "plain_speak", "invalid_field"),
        ({"compress_tool_results": None}, "compress_tool_results", "invalid_field"),
        ({"default_during_run": "shout"}, "default_during_run", "invalid_field"),
        ({"effort": "most"}, "effort", "invalid_field"),
        ({"effort": None}, "effort", "invalid_field"),
        ({"plain_speak": True, "theme": "dark"}, "theme", "unknown_field"),
        ({"is_staff": True}, "is_staff", "unknown_field"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_changed(
    as_alice: Caller, alice: Member, body: dict[str, Any], field: str, reason: str
) -> None:
    answer = as_alice.send("PATCH", "/api/me", body)
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == [{"field": field, "reason": reason}]
    alice.refresh_from_db()
    assert (alice.plain_speak, alice.is_staff, alice.theme) == (False, False, "system")
