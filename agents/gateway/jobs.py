"""Celery jobs of the gateway; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types

from agents.gateway import budgets


@shared_task(name="gateway.release_budgets", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def release_budgets() -> None:
    """Give back what dead workers had reserved; meant for every 15 seconds."""
    budgets.release_orphans()
