"""Celery jobs about turns; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types

from agents.turns import decisions


@shared_task(name="turns.expire_questions", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def expire_questions() -> None:
    """Let turns go on whose member did not decide in time; meant for every few seconds."""
    decisions.expire_due()
