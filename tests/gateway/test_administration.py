"""Deployments in the administration: secrets by name, origins that count, a trace of everything."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.gateway import calls, deployments
from agents.gateway.calls import CallSubject, ModelCallEnded
from agents.gateway.models import Budget, Deployment, ModelCall, ModelRole
from audit.models import AuditEvent
from audit.reasons import Action

pytestmark = pytest.mark.django_db

FORM = {
    "name": "good",
    "base_url": "https://models.example.com/v1/",
    "model": "m",
    "secret_ref": "KAIZEN_SECRET_A",
    "tool_calls": "native",
    "context_window": "8192",
    "max_output_tokens": "1024",
    "input_price": "0",
    "cached_price": "0",
    "output_price": "0",
    "tls_verify": "on",
    "enabled": "on",
}


@pytest.fixture(autouse=True)
def known_secrets(settings: Any) -> None:
    settings.SECRETS = {"KAIZEN_SECRET_A": "value-a", "KAIZEN_SECRET_B": "value-b"}


@pytest.fixture
def office(ada: Any, client: Client) -> Client:
    client.force_login(ada)
    return client


def save(office: Client, deployment: Deployment | None = None, **values: str) -> Any:
    page = "admin:gateway_deployment_" + ("change" if deployment else "add")
    url = reverse(page, args=[deployment.pk] if deployment else [])
    return office.post(url, {**FORM, **values})


def test_a_secret_is_picked_by_its_name(office: Client, ada: Any) -> None:
    page = office.get(reverse("admin:gateway_deployment_add")).content.decode()
    assert "KAIZEN_SECRET_B" in page
    assert "value-b" not in page
    assert save(office).status_code == 302
    deployment = Deployment.objects.get()
    assert (deployment.base_url, deployment.secret_ref) == (
        "https://models.example.com/v1",
        "KAIZEN_SECRET_A",
    )
    assert deployments.connection(deployment).key == "value-a"
    row = AuditEvent.objects.get(action=Action.DEPLOYMENT_CREATED)
    assert row.actor == f"member:{ada.pk}"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"model": "other"}, "value-a"),
        ({"base_url": "https://evil.test/v1"}, None),
        ({"base_url": "https://new.example.com/v1", "confirm_secret": "on"}, "value-a"),
        ({"base_url": "https://new.example.com/v1", "secret_ref": "KAIZEN_SECRET_B"}, "value-b"),
        ({"secret_ref": ""}, None),
    ],
)
def test_a_new_origin_drops_the_secret_unless_it_is_entered_again(
    office: Client, change: dict[str, str], key: str | None
) -> None:
    save(office)
    deployment = Deployment.objects.get()
    assert save(office, deployment, **change).status_code == 302
    deployment.refresh_from_db()
    assert deployments.connection(deployment).key == key


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret_ref": "HOME"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": "https://[::1/v1"},
        {"max_output_tokens": "8192"},
        {"tool_calls": "magic"},
        {"context_window": "1"},
    ],
)
def test_a_wrong_form_says_so_and_changes_nothing(office: Client, wrong: dict[str, str]) -> None:
    answer = save(office, **wrong)
    assert answer.status_code == 200
    assert "error" in answer.content.decode()
    assert not Deployment.objects.exists()


def test_a_role_is_given_to_an_enabled_deployment(office: Client) -> None:
    save(office)
    deployment = Deployment.objects.get()
    url = reverse("admin:gateway_modelrole_add")
    office.post(url, {"role": "chat", "deployment": str(deployment.pk)})
    assert ModelRole.objects.get().deployment == deployment
    assert AuditEvent.objects.filter(action=Action.MODEL_ROLE_CHANGED).count() == 1
    save(office, deployment, enabled="")
    assert f'<option value="{deployment.pk}"' not in office.get(url).content.decode()


def test_calls_can_only_be_looked_at(office: Client) -> None:
    save(office)
    connection = deployments.connection(Deployment.objects.get())
    calls.record(connection, CallSubject(), [ModelCallEnded(1, None)])
    listed = office.get(reverse("admin:gateway_modelcall_changelist"))
    assert "cancelled" in listed.content.decode()
    row = ModelCall.objects.get()
    for page, args in (("add", []), ("delete", [row.pk])):
        assert office.post(reverse(f"admin:gateway_modelcall_{page}", args=args)).status_code == 403


def test_deployments_are_never_deleted(office: Client) -> None:
    save(office)
    url = reverse("admin:gateway_deployment_delete", args=[Deployment.objects.get().pk])
    assert office.post(url, {"post": "yes"}).status_code == 403
    assert Deployment.objects.exists()


BUDGET = {"unit": "tokens", "period": "day", "amount": "1000", "enabled": "on"}


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ({}, 1_000),
        ({"unit": "money", "amount": "12.5"}, 12_500_000),
        ({"unit": "money", "amount": "0.000001"}, 1),
        ({"amount": "0"}, 0),
    ],
)
def test_a_budget_is_typed_as_people_say_it(
    office: Client, alice: Any, typed: dict, stored: int
) -> None:
    url = reverse("admin:gateway_budget_add")
    assert office.post(url, {**BUDGET, "member": alice.pk, **typed}).status_code == 302
    made = Budget.objects.get()
    assert (made.member_id, made.amount) == (alice.pk, stored)
    change = reverse("admin:gateway_budget_change", args=[made.pk])
    more = {"amount": "5", "enabled": "on", "unit": "money", "period": "month"}
    assert office.post(change, more).status_code == 302
    made.refresh_from_db()
    assert (made.unit, made.period) == (typed.get("unit", "tokens"), "day")
    assert made.amount == (5_000_000 if made.unit == "money" else 5)
    listed = office.get(reverse("admin:gateway_budget_changelist")).content.decode()
    assert str(alice) in listed
    assert AuditEvent.objects.filter(action__in=["budget_created", "budget_changed"]).count() == 2


@pytest.mark.parametrize(
    "wrong",
    [{"amount": "1.5"}, {"amount": "-1"}, {"amount": ""}, {"amount": "NaN"}, {"member": ""}],
    ids=str,
)
def test_a_budget_of_no_sense_is_refused_in_words(office: Client, alice: Any, wrong: dict) -> None:
    url = reverse("admin:gateway_budget_add")
    answer = office.post(url, {**BUDGET, "member": alice.pk, **wrong})
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not Budget.objects.exists()
