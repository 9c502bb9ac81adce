"""Celery jobs of the REST interface; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types

from agents.api import idempotency


@shared_task(name="api.forget_kept_answers", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def forget_kept_answers() -> None:
    """Forget answers kept for idempotency keys after a day; meant for every hour."""
    idempotency.forget()
