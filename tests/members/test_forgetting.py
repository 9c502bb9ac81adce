"""Sign-in counts and sessions that are over do not pile up."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db.models import F
from django.utils import timezone

from agents.members import throttling
from agents.members.jobs import forget_what_is_over
from agents.members.models import SignInFailure

pytestmark = pytest.mark.django_db


def test_it_forgets_what_is_over_and_keeps_the_rest() -> None:
    now = timezone.now()
    for name, ends in (("over", now - timedelta(seconds=1)), ("open", now + timedelta(hours=1))):
        Session.objects.create(session_key=name, session_data="", expire_date=ends)
        throttling.admit(throttling.key(name, "192.0.2.1"))
    past = SignInFailure.objects.filter(key=throttling.key("over", "192.0.2.1"))
    past.update(window_started_at=F("window_started_at") - timedelta(seconds=throttling.WINDOW_S))
    forget_what_is_over()
    assert [row.session_key for row in Session.objects.all()] == ["open"]
    assert [row.key for row in SignInFailure.objects.all()] == [throttling.key("open", "192.0.2.1")]
