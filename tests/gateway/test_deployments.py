"""Which deployment answers, with which key, and what the environment makes of it."""

import uuid
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from agents.gateway import addresses, deployments
from agents.gateway.connection import Lifecycle, Timeouts
from agents.gateway.models import Deployment, ModelRole, Role
from audit.models import AuditEvent
from audit.reasons import Action, Reason
from audit.refusals import Invalid, NotFound, Refusal

pytestmark = pytest.mark.django_db
ACTOR = "system:tests"
URL = "https://models.example.com/v1"


def make(name: str = "good", secret_ref: str = "", **values: Any) -> Deployment:
    deployment = Deployment(
        name=name, secret_ref=secret_ref, **{"base_url": URL, "model": "m", **values}
    )
    deployments.save(actor=ACTOR, deployment=deployment, secret_entered=bool(secret_ref))
    return deployment


@pytest.fixture(autouse=True)
def known_secrets(settings: Any) -> None:
    settings.SECRETS = {"KAIZEN_SECRET_A": "value-a", "KAIZEN_SECRET_B": "value-b"}
    settings.MODEL_BASE_URL = settings.MODEL_NAME = ""


def test_the_role_answers_unless_another_is_asked_for() -> None:
    first, second = make("first"), make("second")
    deployments.assign_role(actor=ACTOR, role=Role.CHAT, deployment_id=first.id)
    assert deployments.chat_deployment() == first
    assert deployments.chat_deployment(second.id) == second


@pytest.mark.parametrize("asked", ["disabled", "unknown", "role", "nothing"])
def test_it_refuses_when_nothing_can_answer(asked: str) -> None:
    deployment = make()
    if asked == "role":
        deployments.assign_role(actor=ACTOR, role=Role.CHAT, deployment_id=deployment.id)
    deployment.enabled = False
    deployments.save(actor=ACTOR, deployment=deployment, secret_entered=False)
    requested = {"disabled": deployment.id, "unknown": uuid.uuid4()}.get(asked)
    with pytest.raises(Refusal) as refused:
        deployments.chat_deployment(requested)
    assert refused.value.reason is Reason.MODEL_UNAVAILABLE
    if asked == "disabled":
        with pytest.raises(NotFound):
            deployments.assign_role(actor=ACTOR, role=Role.CHAT, deployment_id=deployment.id)


def test_only_a_configured_fallback_stands_in(django_assert_num_queries: Any) -> None:
    other = make("other")
    first = make("first", fallback=make("second"))
    deployments.assign_role(actor=ACTOR, role=Role.CHAT, deployment_id=first.id)
    with django_assert_num_queries(1):
        assert deployments.chat_deployment() == first
    Deployment.objects.filter(id=first.id).update(enabled=False)
    assert deployments.chat_deployment().name == "second"
    assert deployments.chat_deployment(first.id).name == "second"
    assert deployments.can_answer(first.id)
    Deployment.objects.filter(name="second").update(enabled=False, fallback=other)
    with pytest.raises(Refusal):  # one step, not a chain
        deployments.chat_deployment(first.id)
    assert not deployments.can_answer(first.id)
    assert not deployments.can_answer(uuid.uuid4())


def test_a_deployment_cannot_stand_in_for_itself() -> None:
    deployment = make()
    deployment.fallback = deployment
    with pytest.raises(Invalid):
        deployments.save(actor=ACTOR, deployment=deployment, secret_entered=False)


@pytest.mark.req("GW-003")
def test_a_connection_carries_everything_a_call_needs() -> None:
    plain = deployments.connection(make("plain"))
    assert (plain.timeouts, plain.effort, plain.turn_tokens) == (Timeouts(), None, None)
    own = make(
        "own", takes_effort=True, default_effort="low", turn_tokens=9_000, connect_s=3, idle_s=7
    )
    connection = deployments.connection(own)
    assert connection.timeouts == Timeouts(connect_s=3.0)
    assert deployments.lifecycle(own) == Lifecycle(idle_s=7.0)
    assert (connection.effort, connection.turn_tokens) == ("low", 9_000)
    assert deployments.connection(own, effort="high").effort == "high"
    assert deployments.connection(make("deaf"), effort="high").effort is None


def test_a_connection_carries_the_key_and_shows_it_nowhere() -> None:
    connection = deployments.connection(make(secret_ref="KAIZEN_SECRET_A"))
    assert connection.key == "value-a"
    assert connection.url == f"{URL}/chat/completions"
    assert "value-a" not in repr(connection)


def test_a_socket_is_reached_through_its_path() -> None:
    connection = deployments.connection(make(base_url="unix:///run/model.sock"))
    assert connection.unix_socket == "/run/model.sock"
    assert connection.url == "http://localhost/v1/chat/completions"


@pytest.mark.parametrize(
    ("moved", "kept"),
    [
        ("https://models.example.com/v2", True),
        ("https://MODELS.example.com:443/v1", True),
        ("http://models.example.com/v1", False),
        ("https://models.example.com:8443/v1", False),
        ("https://models.example.com.evil.test/v1", False),
        ("unix:///tmp/any.sock", False),
    ],
)
def test_a_secret_stays_with_the_origin_it_was_entered_for(moved: str, kept: bool) -> None:
    deployment = make(secret_ref="KAIZEN_SECRET_A")
    deployment.base_url = moved
    deployments.save(actor=ACTOR, deployment=deployment, secret_entered=False)
    deployment.refresh_from_db()
    assert deployment.secret_ref == ("KAIZEN_SECRET_A" if kept else "")
    assert deployments.connection(deployment).key == ("value-a" if kept else None)


def test_a_row_changed_behind_our_back_gets_no_key() -> None:
    deployment = make(secret_ref="KAIZEN_SECRET_A")
    Deployment.objects.filter(id=deployment.id).update(base_url="https://evil.test/v1")
    deployment.refresh_from_db()
    with pytest.raises(Refusal) as refused:
        deployments.connection(deployment)
    assert refused.value.reason is Reason.SECRET_ORIGIN_CHANGED


@pytest.mark.parametrize("value", [None, "two\nlines", "caf\u00e9"])
def test_a_key_that_is_absent_or_unusable_is_named_not_shown(value: str, settings: Any) -> None:
    deployment = make(secret_ref="KAIZEN_SECRET_A")
    settings.SECRETS = {"KAIZEN_SECRET_A": value} if value else {}
    with pytest.raises(Refusal) as refused:
        deployments.connection(deployment)
    assert refused.value.reason is Reason.SECRET_MISSING
    assert "KAIZEN_SECRET_A" in refused.value.message
    assert not value or value not in refused.value.message


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "models.example.com/v1",
        "ftp://models.example.com",
        "https://",
        "https://alice:pw@models.example.com/v1",
        "https://models.example.com/v1?key=1",
        "https://models.example.com:99999/v1",
        "https://[::1/v1",
        "unix://host/path.sock",
        "unix:///",
        "https://models.example.com/\x00",
    ],
)
def test_it_refuses_what_is_no_address(base_url: str) -> None:
    with pytest.raises(ValidationError):
        addresses.validate(base_url)
    with pytest.raises(Invalid):
        make(base_url=base_url)


def test_an_answer_must_fit_the_context() -> None:
    with pytest.raises(Invalid):
        make(context_window=1000, max_output_tokens=1000)
    fine = make()
    with pytest.raises(IntegrityError), transaction.atomic():
        Deployment.objects.filter(id=fine.id).update(context_window=10)


@pytest.mark.req("AUD-003")
def test_every_change_is_in_the_audit_without_values() -> None:
    deployment = make(secret_ref="KAIZEN_SECRET_A")
    deployment.model = "another"
    deployments.save(actor="member:7", deployment=deployment, secret_entered=False)
    deployments.assign_role(actor="member:7", role=Role.CHAT, deployment_id=deployment.id)
    rows = AuditEvent.objects.filter(subject_id=str(deployment.id)).order_by("id")
    assert [(row.action, row.actor, row.details) for row in rows] == [
        (Action.DEPLOYMENT_CREATED, ACTOR, {"changed": []}),
        (Action.DEPLOYMENT_CHANGED, "member:7", {"changed": ["model"]}),
        (Action.MODEL_ROLE_CHANGED, "member:7", {"role": "chat"}),
    ]


def test_nothing_in_the_environment_makes_no_deployment() -> None:
    assert deployments.ensure_default() is None
    assert not Deployment.objects.exists()


def test_the_environment_makes_the_trial_model_and_then_a_better_one(settings: Any) -> None:
    settings.MODEL_BASE_URL, settings.MODEL_NAME = "unix:///run/kaizen/model.sock", "Small"
    settings.SECRETS["KAIZEN_SECRET_LOCAL_MODEL"] = "local-key"
    settings.MODEL_TOOL_CALLS = "none"
    trial = deployments.ensure_default()
    assert (trial.is_trial, trial.tool_calls, trial.model) == (True, "none", "Small")
    assert deployments.chat_deployment() == trial
    assert deployments.connection(trial).key == "local-key"

    settings.MODEL_BASE_URL, settings.MODEL_NAME = URL, "large"
    settings.MODEL_TOOL_CALLS = "native"
    settings.SECRETS["KAIZEN_MODEL_API_KEY"] = "api-key"
    better = deployments.ensure_default()
    assert (better.is_trial, better.tool_calls, better.model) == (False, "native", "large")
    assert deployments.chat_deployment() == better
    assert deployments.connection(better).key == "api-key"


def test_the_environment_leaves_an_administrators_choice_alone(settings: Any) -> None:
    chosen = make("chosen")
    deployments.assign_role(actor="member:7", role=Role.CHAT, deployment_id=chosen.id)
    settings.MODEL_BASE_URL, settings.MODEL_NAME = URL, "large"
    deployments.ensure_default()
    assert deployments.chat_deployment() == chosen


def test_bringing_in_the_environment_twice_changes_nothing(settings: Any) -> None:
    settings.MODEL_BASE_URL, settings.MODEL_NAME = URL, "large"
    deployments.ensure_default()
    written = AuditEvent.objects.count()
    deployments.ensure_default()
    assert AuditEvent.objects.count() == written
    assert (Deployment.objects.count(), ModelRole.objects.count()) == (1, 1)


def test_a_key_that_left_the_environment_is_no_longer_referred_to(settings: Any) -> None:
    settings.MODEL_BASE_URL, settings.MODEL_NAME = URL, "large"
    settings.SECRETS["KAIZEN_MODEL_API_KEY"] = "api-key"
    deployments.ensure_default()
    del settings.SECRETS["KAIZEN_MODEL_API_KEY"]
    assert deployments.ensure_default().secret_ref == ""
