"""Celery jobs of the audit; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types

from audit import anchors


@shared_task(name="audit.anchor", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def anchor() -> None:
    """Anchor the heads of the chains; meant for every minute, and harmless when run twice."""
    anchors.take()
