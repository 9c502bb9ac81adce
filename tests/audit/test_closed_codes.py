"""Codes come from closed lists, and no row carries text or secrets."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from audit import canonical, details, funnel
from audit.models import AuditEvent
from audit.reasons import Action, ErrorClass, Outcome, Reason

CODES = [*Reason, *Action, *Outcome, *ErrorClass]
SECRETS = [
    "sk-abcdefghijklmnopqrstuvwx",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N",
    "AKIAIOSFODNN7EXAMPLE",
    "https://otto:pw@example.org/x",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "Bearer abc",
    "kz_4fJ9sLqP0aBcD3EfGh",
]
PROSE = ["please delete it", "Hello!", "a\nb", "tab\there", "ümlaut", "x" * 121, "a@example.org"]

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=50), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.req("AUD-002")
def test_codes_are_short_lower_case_words() -> None:
    for code in CODES:
        assert re.fullmatch(r"[a-z][a-z_]{2,39}", code), code


def test_every_class_of_failure_is_a_reason_and_every_outcome_is_known() -> None:
    assert {Reason(failure) for failure in ErrorClass} <= set(Reason)
    assert set(ErrorClass) == {
        "invalid_argument",
        "not_found",
        "forbidden",
        "rate_limited",
        "timeout",
        "provider_error",
        "tool_error",
    }
    assert set(Outcome) == {
        "success",
        "error",
        "denied",
        "cancelled",
        "timeout",
        "pending_confirmation",
        "repeat_suppressed",
    }


@pytest.mark.usefixtures("db")
@pytest.mark.req("AUD-002")
@pytest.mark.parametrize("field", ["action", "outcome", "reason", "actor", "subject"])
def test_an_unknown_code_raises_in_tests_and_is_overflow_in_production(
    settings: Any, field: str
) -> None:
    run_id = uuid4()
    unknown: Any = ("agent", "not an id") if field == "subject" else "invented code"
    arguments = {
        "action": Action.SIGN_IN,
        "actor": "member:1",
        "outcome": Outcome.SUCCESS,
        "reason": Reason.TIMEOUT,
        "subject": ("agent", "1"),
        field: unknown,
    }
    with pytest.raises(funnel.Unrecordable), transaction.atomic():
        funnel.record(**arguments, run_id=run_id)
    settings.AUDIT_STRICT = False
    funnel.record(**arguments, run_id=run_id)
    column = "subject_id" if field == "subject" else field
    assert AuditEvent.objects.values_list(column, flat=True).get(run_id=run_id) == "overflow"


@pytest.mark.req("AUD-006")
@pytest.mark.parametrize("value", [*SECRETS, *PROSE])
def test_text_and_secrets_are_no_details(value: str) -> None:
    for unfit in ({"ref": value}, {"refs": [value]}, {"refs": {"one": value}}):
        with pytest.raises(details.Unfit) as caught:
            details.check(unfit)
        assert value not in str(caught.value)
        assert details.fit(unfit) == {"dropped": 1}


@pytest.mark.req("AUD-006")
@pytest.mark.parametrize(
    "key", ["password", "api_key", "prompt", "message", "cookie", "answer", "Name", "a b", ""]
)
def test_some_things_are_not_recorded_under_any_value(key: str) -> None:
    with pytest.raises(details.Unfit):
        details.check({key: "1"})


def test_ids_digests_counts_and_codes_are_details() -> None:
    fit = {
        "id": str(uuid4()),
        "digest": "sha256:" + "0af1" * 16,
        "model": "HuggingFaceTB/SmolLM2-135M-Instruct",
        "tokens_in": 12,
        "streamed": True,
        "reason": None,
        "versions": [1, 2],
        "usage": {"prompt_tokens": 5, "answer_tokens": 7},
        "message_bytes": 200,
    }
    details.check(fit)
    assert details.fit(fit) == fit


def test_details_over_their_size_are_refused_or_cut() -> None:
    large = {f"id_{number}": "a" * 100 for number in range(40)}
    with pytest.raises(details.Unfit, match="larger"):
        details.check(large)
    cut = details.fit(large)
    assert cut["dropped"] == len(large) - len(cut) + 1
    details.check(cut)


@given(st.dictionaries(st.text(max_size=50), anything, max_size=8))
@pytest.mark.req("AUD-006")
def test_what_is_kept_of_any_details_would_be_let_through(unsure: dict[str, Any]) -> None:
    kept = details.fit(unsure)
    details.check(kept)
    assert len(canonical.dump(kept).encode()) <= details.MAX_DETAILS
    for text in strings_of(kept):
        assert len(text) <= details.MAX_CODE
        assert not re.search(r"\s", text)


@budget(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    action=st.sampled_from(Action) | st.text(max_size=60),
    outcome=st.sampled_from(Outcome) | st.text(max_size=60),
    reason=st.none() | st.sampled_from(Reason) | st.text(max_size=60),
    actor=st.just("member:1") | st.text(max_size=99),
    subject=st.none() | st.tuples(st.text(max_size=60), st.text(max_size=99)),
    given_details=st.dictionaries(st.text(max_size=50), anything, max_size=5),
)
@pytest.mark.req("AUD-002", "AUD-006")
def test_whatever_is_recorded_in_production_is_closed_and_bounded(
    db: None,
    settings: Any,
    action: Any,
    outcome: Any,
    reason: Any,
    actor: str,
    subject: Any,
    given_details: dict[str, Any],
) -> None:
    settings.AUDIT_STRICT = False
    run_id = uuid4()
    funnel.record(
        action=action,
        outcome=outcome,
        reason=reason,
        actor=actor,
        subject=subject,
        run_id=run_id,
        details=given_details,
    )
    event = AuditEvent.objects.get(run_id=run_id)
    assert event.action in set(Action)
    assert event.outcome in {*Outcome, "overflow"}
    assert event.reason in {*Reason, ""}
    assert not re.search(r"\s", event.actor + event.subject_kind + event.subject_id)
    details.check(event.details)


def strings_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings_of(part)]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []
