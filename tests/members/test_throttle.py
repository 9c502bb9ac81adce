"""The sign-in throttle: counted per name and address, in windows, by the database's clock."""

import pytest
from django.contrib.auth import authenticate
from django.db import connection
from django.test import RequestFactory

from agents.members import throttling
from agents.members.models import Member, SignInFailure
from audit.models import AuditEvent
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
HOME, OFFICE = "192.0.2.7", "198.51.100.9"


def sign_in(name: str, password: str, address: str = HOME) -> Member | None:
    request = RequestFactory(REMOTE_ADDR=address).post("/sign-in")
    return authenticate(request, username=name, password=password)


def fail(name: str, times: int, address: str = HOME) -> None:
    for _ in range(times):
        assert sign_in(name, "wrong", address) is None


def age(name: str, seconds: float, address: str = HOME) -> None:
    """Let the window of a key have begun earlier."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE members_signinfailure"
            " SET window_started_at = window_started_at - make_interval(secs => %s) WHERE key = %s",
            [seconds, throttling.key(name, address)],
        )


def test_the_right_password_stops_helping_after_ten_failures(alice: Member) -> None:
    fail(alice.username, throttling.MAX_FAILURES - 1)
    assert sign_in(alice.username, PASSWORD) == alice  # and clears the count
    fail(alice.username, throttling.MAX_FAILURES)
    assert sign_in(alice.username, PASSWORD) is None


def test_other_names_and_addresses_are_not_held_up(alice: Member, bob: Member) -> None:
    fail(alice.username, throttling.MAX_FAILURES)
    assert sign_in(bob.username, PASSWORD) == bob
    assert sign_in(alice.username, PASSWORD, OFFICE) == alice


def test_the_case_of_a_name_does_not_give_fresh_tries(alice: Member) -> None:
    fail(alice.username.upper(), throttling.MAX_FAILURES)
    assert sign_in(alice.username, PASSWORD) is None


def test_the_window_ends_and_the_count_begins_anew(alice: Member) -> None:
    fail(alice.username, throttling.MAX_FAILURES)
    age(alice.username, throttling.WINDOW_S + 1)
    fail(alice.username, 1)
    assert SignInFailure.objects.get().count == 1
    assert sign_in(alice.username, PASSWORD) == alice
    assert not SignInFailure.objects.exists()


def test_failures_do_not_stretch_the_window(alice: Member) -> None:
    fail(alice.username, 5)
    age(alice.username, throttling.WINDOW_S - 5)
    fail(alice.username, 5)
    assert sign_in(alice.username, PASSWORD) is None
    age(alice.username, 6)
    assert sign_in(alice.username, PASSWORD) == alice


def test_unknown_names_are_counted_like_known_ones() -> None:
    fail("nobody", throttling.MAX_FAILURES)
    assert not throttling.admit(throttling.key("nobody", HOME))


def test_neither_name_nor_password_is_kept(alice: Member) -> None:
    fail(alice.username, 1)
    (row,) = SignInFailure.objects.values_list("key", flat=True)
    assert alice.username not in row
    events = AuditEvent.objects.filter(action="sign_in_failed")
    assert [(e.actor, e.outcome, e.reason, e.details) for e in events] == [
        ("anonymous", "denied", "not_authenticated", {})
    ]


def test_every_blocked_try_leaves_a_trace_of_its_own(alice: Member) -> None:
    fail(alice.username, throttling.MAX_FAILURES + 2)
    reasons = AuditEvent.objects.filter(action="sign_in_failed").values_list("reason", flat=True)
    assert list(reasons).count("rate_limited") == 2


def test_an_inactive_person_is_refused_like_a_wrong_password(alice: Member) -> None:
    Member.objects.filter(pk=alice.pk).update(is_active=False)
    assert sign_in(alice.username, PASSWORD) is None
    assert SignInFailure.objects.get().count == 1
