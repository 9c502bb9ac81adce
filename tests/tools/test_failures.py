"""Every failure has one of seven classes, from one table."""

import pytest

from audit.reasons import ErrorClass, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tests.tools.conftest import Run
from tools.boundary import failures
from tools.boundary.contract import RepairDirective


@pytest.mark.req("BND-024")
@pytest.mark.parametrize(
    ("fault", "error_class"),
    [
        (NotFound(), ErrorClass.NOT_FOUND),
        (Invalid([{"field": "title", "reason": "too_long"}]), ErrorClass.INVALID_ARGUMENT),
        (Conflict(current=3), ErrorClass.INVALID_ARGUMENT),
        (Refusal(Reason.FORBIDDEN, "no"), ErrorClass.FORBIDDEN),
        (Refusal(Reason.BUDGET_EXHAUSTED, "no"), ErrorClass.RATE_LIMITED),
        (Refusal(Reason.PROVIDER_CUT_OFF, "no"), ErrorClass.PROVIDER_ERROR),
        (Refusal(Reason.NAME_TAKEN, "no"), ErrorClass.TOOL_ERROR),
        (TimeoutError(), ErrorClass.TIMEOUT),
        (PermissionError("secret/path"), ErrorClass.FORBIDDEN),
        (FileNotFoundError("secret/path"), ErrorClass.NOT_FOUND),
        (ValueError("forbidden, not found, timeout"), ErrorClass.TOOL_ERROR),
    ],
)
def test_a_fault_has_a_class_by_what_it_is_never_by_its_words(
    fault: BaseException, error_class: ErrorClass
) -> None:
    assert failures.classify(fault) is error_class


@pytest.mark.req("BND-024")
def test_a_class_of_failure_is_its_own_class_as_a_reason() -> None:
    for error_class in ErrorClass:
        assert failures.class_of(Reason(error_class)) is error_class
    assert {failures.class_of(reason) for reason in Reason} == set(ErrorClass)
    assert all(reason in failures.CLASSES for reason in failures.READABLE_DENIALS)


@pytest.mark.req("BND-015", "BND-024")
def test_what_may_follow_comes_from_the_same_class() -> None:
    for reason in Reason:
        result = failures.refused(Refusal(reason, "Because."))
        assert result.error_class is failures.class_of(reason)
        assert result.repair == failures.DIRECTIVES.get(failures.class_of(reason))
    missing = failures.refused(NotFound())
    assert missing.repair == RepairDirective(retryable=False, substitutable=True)
    known = RepairDirective(retryable=True, locked_arguments=("title",))
    assert failures.refused(NotFound(), repair=known).repair == known


@pytest.mark.req("BND-024")
async def test_a_denied_call_has_a_class_too(run: Run) -> None:
    assert (await run.call("invented")).error_class is ErrorClass.NOT_FOUND
    assert (await run.call("search_about", {})).error_class is ErrorClass.INVALID_ARGUMENT
    run.authority = lambda _: None
    assert (await run.call("search_about")).error_class is ErrorClass.TOOL_ERROR
