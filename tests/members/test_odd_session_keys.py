"""A session cookie may hold anything; what cannot be a key of ours is nobody's session."""

import pytest
from django.test import Client

from agents.members import credentials
from agents.members.models import Member
from agents.members.sessions import SessionStore

pytestmark = pytest.mark.django_db

# Cookies quote characters by their octal numbers.
ODD = ["\\000" * 32, "a" * 31 + "\\000", "a" * 33, "A" * 32, "\\377\\355" * 16]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize(
    ("path", "status"), [("/", 302), ("/sign-in", 200), ("/api/me", 401), ("/admin/", 302)]
)
def test_an_odd_session_cookie_is_no_sign_in_and_no_fault(
    client: Client, path: str, status: int, value: str
) -> None:
    answer = client.get(path, headers={"Cookie": f'sessionid="{value}"'})
    assert answer.status_code == status


@pytest.mark.parametrize("value", ODD)
def test_streams_take_it_for_nobody(value: str) -> None:
    assert credentials.from_headers(authorization=None, cookie=f'sessionid="{value}"') is None


def test_a_session_of_ours_is_found_again(client: Client, alice: Member) -> None:
    client.force_login(alice)
    key = client.session.session_key
    assert key is not None
    assert SessionStore(key).exists(key)
    found = credentials.from_session_key(key)
    assert found is not None
    assert found.member == alice
