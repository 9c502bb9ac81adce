"""Who plays which role: for administrators, and missing for everybody else."""

import uuid
from collections.abc import Callable

import pytest

from agents.gateway import deployments
from agents.gateway.models import Deployment
from agents.members.models import Member, TokenScope
from audit.models import AuditEvent
from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def deployment() -> Deployment:
    """An enabled deployment."""
    made = Deployment(name="local", base_url="http://127.0.0.1:9/v1", model="small")
    deployments.save(actor="system:tests", deployment=made, secret_entered=False)
    return made


@pytest.mark.parametrize("role", ["chat", "embedding"])
def test_an_administrator_chooses_and_reads_back(
    as_ada: Caller, deployment: Deployment, role: str
) -> None:
    body = {"deployment_id": str(deployment.id)}
    answer = as_ada.send("PUT", f"/api/ops/models/{role}", body)
    assert answer.status_code == 200
    assert answer.json()[role]["id"] == str(deployment.id)
    assert as_ada.get("/api/ops/models").json() == answer.json()
    assert AuditEvent.objects.filter(action="model_role_changed").count() == 1


def test_no_address_and_no_secret_is_shown(as_ada: Caller, deployment: Deployment) -> None:
    answer = as_ada.get("/api/ops/models")
    assert b"127.0.0.1" not in answer.content
    assert set(answer.json()["deployments"][0]) == {
        "id",
        "name",
        "model",
        "tool_calls",
        "context_window",
        "max_output_tokens",
        "is_trial",
    }


def test_to_members_and_operators_the_settings_look_missing(
    as_alice: Caller, otto: Member, calling: Callable[..., Caller], deployment: Deployment
) -> None:
    body = {"deployment_id": str(deployment.id)}
    for caller in (as_alice, calling(otto)):
        assert caller.get("/api/ops/models").status_code == 404
        assert caller.send("PUT", "/api/ops/models/chat", body).status_code == 404


def test_an_administrators_token_needs_the_scope_for_it(
    ada: Member, calling: Callable[..., Caller]
) -> None:
    answer = calling(ada, TokenScope.WRITE).get("/api/ops/models")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope_missing")


def test_an_unknown_or_disabled_deployment_is_refused(
    as_ada: Caller, deployment: Deployment
) -> None:
    Deployment.objects.filter(id=deployment.id).update(enabled=False)
    for wanted in (str(deployment.id), str(uuid.uuid4())):
        answer = as_ada.send("PUT", "/api/ops/models/chat", {"deployment_id": wanted})
        assert answer.status_code == 422
        assert answer.json()["error"]["fields"] == [
            {"field": "deployment_id", "reason": "not_found"}
        ]
