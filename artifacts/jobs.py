"""Celery jobs about artifacts; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types

from artifacts import staging


@shared_task(name="artifacts.sweep_staged", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def sweep_staged() -> None:
    """Forget what ended runs had begun to write in parts; meant for every minute."""
    staging.sweep()
