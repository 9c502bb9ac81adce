"""The account page offers what a person may choose about agents."""

import pytest
from django.test import Client

from agents.members.models import Member

pytestmark = pytest.mark.django_db


@pytest.mark.req("UIX-006")
def test_the_account_page_saves_what_is_chosen(client: Client, alice: Member) -> None:
    client.force_login(alice)
    before = client.get("/account").content.decode()
    assert 'name="plain_speak"' in before
    assert 'name="compress_tool_results"' in before
    form = {"plain_speak": "on", "default_during_run": "queue", "effort": "low"}
    assert client.post("/account/preferences", form).status_code == 302
    alice.refresh_from_db()
    assert (alice.plain_speak, alice.compress_tool_results) == (True, False)
    assert (alice.default_during_run, alice.effort) == ("queue", "low")
    after = client.get("/account").content.decode()
    assert 'value="queue" checked' in after
    assert '<option value="low" selected>' in after


def test_an_unknown_choice_is_not_saved(client: Client, alice: Member) -> None:
    client.force_login(alice)
    form = {"plain_speak": "on", "default_during_run": "shout"}
    assert client.post("/account/preferences", form).status_code == 422
    alice.refresh_from_db()
    assert (alice.plain_speak, alice.default_during_run) == (False, "steer")
