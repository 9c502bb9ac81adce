"""The audit in the administration: seen and filtered by those who may, changed by nobody."""

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.members.models import Member
from audit import funnel
from audit.models import AuditEvent
from audit.reasons import Action, Outcome

LIST = "admin:audit_auditevent_changelist"


@pytest.fixture
def event(db: None) -> AuditEvent:
    actor = f"member:{uuid4()}"
    funnel.record(
        action=Action.TOKEN_REVOKED, actor=actor, outcome=Outcome.DENIED, subject=("token", "7")
    )
    return AuditEvent.objects.get(actor=actor)


@pytest.fixture
def as_ada(db: None, client: Client, ada: Member) -> Client:
    client.force_login(ada)
    return client


def page(client: Client, **query: str) -> str:
    answer = client.get(reverse(LIST), query, secure=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_administrator_sees_rows_and_their_details(as_ada: Client, event: AuditEvent) -> None:
    assert event.actor in page(as_ada)
    detail = as_ada.get(reverse("admin:audit_auditevent_change", args=[event.id]), secure=True)
    assert event.hash in detail.content.decode()


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ({"action": "token_revoked"}, True),
        ({"action": "sign_out"}, False),
        ({"outcome": "denied"}, True),
        ({"outcome": "success"}, False),
        ({"actor_kind": "member"}, True),
        ({"actor_kind": "anonymous"}, False),
        ({"at__gte": "2000-01-01 00:00:00+00:00"}, True),
        ({"at__gte": "2999-01-01 00:00:00+00:00"}, False),
    ],
)
def test_the_list_filters(
    as_ada: Client, event: AuditEvent, query: dict[str, str], seen: bool
) -> None:
    assert (event.actor in page(as_ada, **query)) is seen


def test_the_search_finds_exactly_one_actor(as_ada: Client, event: AuditEvent) -> None:
    assert event.actor in page(as_ada, q=event.actor)
    assert f"/{event.id}/change/" not in page(as_ada, q=event.actor[:-1])


@pytest.mark.req("AUD-001")
def test_not_even_a_superuser_can_add_change_or_delete(
    client: Client, event: AuditEvent, ada: Member
) -> None:
    Member.objects.filter(pk=ada.pk).update(is_superuser=True, is_staff=True)
    client.force_login(Member.objects.get(pk=ada.pk))
    for model, row in (("auditevent", event.id), ("anchor", 1)):
        for name, arguments in (("add", []), ("delete", [row])):
            url = reverse(f"admin:audit_{model}_{name}", args=arguments)
            assert client.post(url, {"post": "yes"}, secure=True).status_code in {403, 302, 404}
    change = reverse("admin:audit_auditevent_change", args=[event.id])
    assert client.post(change, {"actor": "member:somebody"}, secure=True).status_code == 403
    assert client.post(reverse(LIST), {"action": "delete_selected"}, secure=True).status_code in {
        200,
        302,
    }
    assert AuditEvent.objects.filter(id=event.id, hash=event.hash).exists()


def test_a_member_sees_nothing(client: Client, event: AuditEvent, alice: Member) -> None:
    client.force_login(alice)
    assert client.get(reverse(LIST), secure=True).status_code == 302
