"""One row per model call, whatever became of it."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from prometheus_client import REGISTRY

from agents.gateway import calls, deployments, failures
from agents.gateway.events import FAILURES, AttemptFailed, Completed, ProviderFailure, Usage
from agents.gateway.models import Deployment, ModelCall

pytestmark = pytest.mark.django_db


@pytest.fixture
def subject(alice: Any) -> calls.CallSubject:
    deployment = Deployment(name="d", base_url="http://127.0.0.1:1/v1", model="m")
    deployments.save(actor="system:tests", deployment=deployment, secret_entered=False)
    return calls.CallSubject(
        deployment_id=deployment.id,
        model="m",
        run_id=uuid.uuid4(),
        step=3,
        member_id=alice.pk,
        agent_id=uuid.uuid4(),
    )


def completed(end: str, failure: ProviderFailure | None = None) -> Completed:
    usage = Usage(20, 9, reasoning_tokens=4)
    return Completed("secret text", "", (), end, usage, failure, 2, 40, 900)


@pytest.mark.parametrize("end", ["complete", "tool_calls", "truncated"])
@pytest.mark.req("AUD-005", "AUD-006")
def test_a_call_that_ended_is_one_row_of_counts(
    end: str, subject: calls.CallSubject, django_assert_num_queries: Callable[..., Any]
) -> None:
    before = REGISTRY.get_sample_value("kaizen_model_call_total", {"outcome": end}) or 0
    with django_assert_num_queries(1):
        calls.record_call(subject, completed(end))
    row = ModelCall.objects.of_run(subject.run_id).values().get()
    del row["id"], row["at"]
    assert row == {
        "run_id": subject.run_id,
        "step": 3,
        "attempt": 2,
        "member_id": subject.member_id,
        "agent_id": subject.agent_id,
        "deployment_id": subject.deployment_id,
        "model": "m",
        "outcome": end,
        "error_class": "",
        "failure": "",
        "status": None,
        "prompt_tokens": 20,
        "completion_tokens": 9,
        "reasoning_tokens": 4,
        "cached_tokens": None,
        "first_token_ms": 40,
        "duration_ms": 900,
    }
    assert REGISTRY.get_sample_value("kaizen_model_call_total", {"outcome": end}) == before + 1


@pytest.mark.parametrize("code", FAILURES)
@pytest.mark.req("AUD-005", "GW-005")
def test_every_failure_has_its_class(code: Any, subject: calls.CallSubject) -> None:
    failure = ProviderFailure(code, "words for a member", status=500)
    calls.record_call(subject, completed("failed", failure))
    row = ModelCall.objects.get()
    assert (row.outcome, row.error_class, row.failure, row.status) == (
        "failed",
        str(FAILURES[code]),
        str(code),
        500,
    )


def test_a_repeated_attempt_is_a_call_of_its_own(subject: calls.CallSubject) -> None:
    calls.record_call(subject, AttemptFailed(1, failures.unreachable(), None, 0.5, None, 12))
    calls.record_call(subject, completed("complete"))
    rows = ModelCall.objects.of_run(subject.run_id)
    assert [(row.attempt, row.outcome) for row in rows] == [(1, "failed"), (2, "complete")]


def test_a_cancelled_call_is_a_row_as_well(subject: calls.CallSubject) -> None:
    calls.record_call(subject, None)
    assert ModelCall.objects.get().outcome == "cancelled"


def test_the_database_refuses_a_failure_without_a_class(subject: calls.CallSubject) -> None:
    values = {"deployment_id": subject.deployment_id, "model": "m"}
    for wrong in (
        {"outcome": "failed"},
        {"outcome": "complete", "error_class": "timeout"},
        {"outcome": "odd"},
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            ModelCall(**values, **wrong).save()


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET model = 'x'"])
def test_nobody_changes_a_row(statement: str, subject: calls.CallSubject) -> None:
    calls.record_call(subject, completed("complete"))
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format("gateway_modelcall"))


@pytest.mark.req("REPO-002")
def test_people_see_their_own_calls_only(subject: calls.CallSubject, alice: Any, bob: Any) -> None:
    calls.record_call(subject, completed("complete"))
    assert ModelCall.objects.visible_to(alice).count() == 1
    assert ModelCall.objects.visible_to(bob).count() == 0
