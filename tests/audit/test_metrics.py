"""Metrics count once, with labels from closed lists."""

from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from audit import funnel, metrics
from audit.reasons import Action, Outcome


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.req("AUD-008")
@pytest.mark.parametrize("outcome", Outcome)
def test_tool_runs_count_by_outcome(outcome: Outcome) -> None:
    before = value("kaizen_tool_run_total", outcome=outcome)
    metrics.tool_run(outcome)
    assert value("kaizen_tool_run_total", outcome=outcome) == before + 1


@pytest.mark.req("AUD-008")
def test_an_unknown_label_never_becomes_a_new_one() -> None:
    metrics.tool_run("invented")
    metrics.turn_ended("invented")
    metrics.model_call("invented")
    assert value("kaizen_tool_run_total", outcome="overflow") >= 1
    assert value("kaizen_turn_ended_total", terminal="overflow") >= 1
    assert value("kaizen_model_call_total", outcome="overflow") >= 1
    assert REGISTRY.get_sample_value("kaizen_tool_run_total", {"outcome": "invented"}) is None


@pytest.mark.usefixtures("committed_db")
def test_audit_rows_count_when_they_are_committed() -> None:
    before = value("kaizen_audit_event_total", action="group_changed")
    funnel.record(action=Action.GROUP_CHANGED, actor=f"system:{uuid4()}", outcome=Outcome.SUCCESS)
    assert value("kaizen_audit_event_total", action="group_changed") == before + 1


def test_the_time_to_the_first_token_is_observed() -> None:
    before = value("kaizen_first_token_seconds_count")
    metrics.first_token(0.2)
    assert value("kaizen_first_token_seconds_count") == before + 1
