"""The limits page shows exactly what the code enforces."""

from collections.abc import Callable

import pytest
from django.test import Client

from agents.conversations.inputs import MESSAGE_CHARACTERS
from agents.engine import bounds
from agents.members.models import Member
from audit.limits import declared


@pytest.mark.req("CFG-002")
@pytest.mark.django_db
def test_it_lists_every_declared_limit_once(
    alice: Member, client_of: Callable[[Member], Client]
) -> None:
    text = client_of(alice).get("/limits").content.decode()
    assert f'<td class="align-end">{MESSAGE_CHARACTERS:,}</td>' in text
    assert f">{bounds.MAX_MODEL_STEPS}</td>" in text
    assert text.count("<tr><td>") == len(declared())


@pytest.mark.django_db
def test_it_is_for_signed_in_people() -> None:
    assert Client().get("/limits").status_code == 302
