"""Demo people: one for every role, with passwords that are shown once or chosen by the operator."""

import pytest

from agents.members import accounts, demo, roles
from agents.members.models import Member
from audit.models import AuditEvent
from audit.reasons import Action
from audit.refusals import Refusal

pytestmark = pytest.mark.django_db

CHOSEN = "a long enough choice"


def test_it_makes_everybody_once_with_a_password_each() -> None:
    shown = demo.create()
    assert {person.username: person.role for person in shown} == {
        "alice": roles.MEMBER,
        "bob": roles.MEMBER,
        "charlie": roles.MEMBER,
        "ada": roles.ADMINISTRATOR,
        "otto": roles.OPERATOR,
    }
    assert len({person.password for person in shown}) == len(shown)
    for person in shown:
        member = Member.objects.get(username=person.username)
        assert member.check_password(person.password or "")
        assert not member.is_superuser
    assert accounts.is_administrator(Member.objects.get(username="ada"))


def test_it_never_shows_a_password_twice_and_changes_none() -> None:
    first = {person.username: person.password for person in demo.create()}
    again = demo.create()
    assert [person.password for person in again] == [None] * len(first)
    for name, password in first.items():
        assert Member.objects.get(username=name).check_password(password or "")


def test_the_operator_s_choice_replaces_passwords_and_is_recorded() -> None:
    demo.create()
    assert {person.password for person in demo.create(CHOSEN)} == {CHOSEN}
    for person in demo.PEOPLE:
        assert Member.objects.get(username=person.username).check_password(CHOSEN)
    changes = AuditEvent.objects.filter(actor=demo.ACTOR, action=Action.PASSWORD_CHANGED)
    assert changes.count() == len(demo.PEOPLE)
    demo.create(CHOSEN)
    assert changes.count() == len(demo.PEOPLE)


def test_a_weak_choice_is_refused_and_makes_nobody() -> None:
    with pytest.raises(Refusal):
        demo.create("password")
    assert not Member.objects.filter(username="alice").exists()
