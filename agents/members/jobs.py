"""Celery jobs about people; beat calls them, the work is in the modules they name."""

from celery import shared_task  # type: ignore[import-untyped]  # ships no types
from django.contrib.sessions.backends.db import SessionStore

from agents.members import throttling


@shared_task(name="members.forget_what_is_over", ignore_result=True)  # type: ignore[untyped-decorator]  # same
def forget_what_is_over() -> None:
    """Forget expired sessions and past sign-in windows; meant for every hour."""
    throttling.forget_past()
    SessionStore.clear_expired()
