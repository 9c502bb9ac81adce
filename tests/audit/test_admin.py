"""The audit in the administration: seen and filtered by those who may, changed by nobody."""

import secrets
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from agents.engine.effects import Settle, Terminal
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.members.models import Member
from agents.turns import answers
from agents.turns.answers import Pending, Spent
from audit import exports, funnel
from audit.models import AuditEvent
from audit.reasons import Action, Outcome, Reason
from tests.turns.admitting import asked, prepare, took

LIST = "admin:audit_auditevent_changelist"


@pytest.fixture
def event(db: None) -> AuditEvent:
    actor = f"member:{uuid4()}"
    funnel.record(
        action=Action.TOKEN_REVOKED,
        actor=actor,
        outcome=Outcome.DENIED,
        reason=Reason.FORBIDDEN,
        subject=("token", "7"),
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
        ({"reason": "forbidden"}, True),
        ({"reason": "timeout"}, False),
        ({"subject": "token:7"}, True),
        ({"subject": "7"}, True),
        ({"subject": "agent:7"}, False),
        ({"since": "2000-01-01T00:00"}, True),
        ({"since": "2999-01-01T00:00:00"}, False),
        ({"until": "2999-01-01T00:00"}, True),
        ({"until": "2000-01-01T00:00"}, False),
        ({"since": "2000-13-45T99:99"}, False),
        ({"run": "no-run"}, False),
        ({"action": "token_revoked", "outcome": "denied", "subject": "7"}, True),
        ({"action": "token_revoked", "outcome": "success"}, False),
    ],
)
def test_the_list_filters(
    as_ada: Client, event: AuditEvent, query: dict[str, str], seen: bool
) -> None:
    assert (event.actor in page(as_ada, **query)) is seen


def test_an_actor_is_found_by_principal_or_id_and_only_whole(
    as_ada: Client, event: AuditEvent
) -> None:
    id_ = event.actor.partition(":")[2]
    assert f"/{event.id}/change/" in page(as_ada, actor=event.actor)
    assert f"/{event.id}/change/" in page(as_ada, actor=id_)
    for part in (event.actor[:-1], id_[:-1], f"agent:{id_}"):
        assert f"/{event.id}/change/" not in page(as_ada, actor=part)


def test_it_says_what_to_do_where_no_row_fits(as_ada: Client, event: AuditEvent) -> None:
    assert "No row fits these filters." in page(as_ada, actor="member:nobody")


@pytest.mark.req("AUD-001")
def test_taking_rows_along_is_recorded_once_and_holds_what_was_filtered(
    as_ada: Client, event: AuditEvent, ada: Member
) -> None:
    url = reverse("admin:audit_auditevent_export") + f"?actor={event.actor}"
    assert as_ada.get(url, secure=True).status_code == 405
    for format_, kind in (("jsonl", "application/jsonl"), ("csv", "text/csv")):
        answer = as_ada.post(url, {"format": format_}, secure=True)
        assert answer["Content-Type"] == kind
        assert event.hash in answer.content.decode()
    told = AuditEvent.objects.filter(actor=ada.principal, action=Action.AUDIT_EXPORTED)
    assert [row.details for row in told.order_by("sequence")] == [
        {"row_count": 1, "filter_count": 1, "format": format_} for format_ in ("jsonl", "csv")
    ]


def test_more_rows_than_a_file_may_hold_are_refused_and_not_cut(
    as_ada: Client, event: AuditEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MAX_ROWS", 0)
    url = reverse("admin:audit_auditevent_export") + f"?actor={event.actor}"
    answer = as_ada.post(url, {"format": "jsonl"}, secure=True, follow=True)
    assert "Narrow the time" in answer.content.decode()
    assert not AuditEvent.objects.filter(action=Action.AUDIT_EXPORTED).exists()


def test_a_run_leads_to_its_rows_and_to_facts_without_content(
    as_ada: Client, alice: Member
) -> None:
    prepare()
    word = secrets.token_hex(8)
    admitted = took(asked(alice, f"A question about {word}"))
    said = Draft(Kind.ASSISTANT_MESSAGE, {"text": f"{word}!", "segment": 0}, {"step": 1})
    answers.settle(admitted, Pending([said]), Settle(Terminal.COMPLETED), Spent())
    run_id = admitted.claim.run_id
    answer = as_ada.get(reverse("admin:audit_auditevent_run", args=[run_id]), secure=True)
    told = answer.content.decode()
    for fact in ("turn_ended", "agent_run_completed", "assistant_message", "completed"):
        assert fact in told
    assert word not in told
    nobody = as_ada.get(reverse("admin:audit_auditevent_run", args=[uuid4()]), secure=True)
    assert "The audit holds no row of this run." in nobody.content.decode()


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
