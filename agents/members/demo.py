"""Demo people: one in each role and two more members, so that a first look can try sharing.

Only the embedded database gets them. They come with one random password each, or with the one the
operator names; only that operator's choice may later replace a password.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from agents.members import accounts, roles
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Refusal

ACTOR: Final = "system:demo"
PASSWORD_BYTES: Final = 12


@dataclass(frozen=True)
class Person:
    """Who is made."""

    username: str
    display_name: str
    role: str


@dataclass(frozen=True)
class SignIn:
    """How to sign in as a demo person; `password` is None when it was set before and not now."""

    username: str
    role: str
    password: str | None


PEOPLE: Final = (
    Person("alice", "Alice", roles.MEMBER),
    Person("bob", "Bob", roles.MEMBER),
    Person("charlie", "Charlie", roles.MEMBER),
    Person("ada", "Ada", roles.ADMINISTRATOR),
    Person("otto", "Otto", roles.OPERATOR),
)


def create(password: str | None = None) -> list[SignIn]:
    """Make the people who are missing; with `password`, everybody gets exactly that one.

    Raises Refusal when the password is too weak for the rules that hold for everybody.
    """
    if password is not None:
        try:
            validate_password(password)
        except ValidationError as fault:
            raise Refusal(Reason.INVALID_FIELD, " ".join(fault.messages)) from fault
    with transaction.atomic():
        return [_sign_in(person, password) for person in PEOPLE]


def _sign_in(person: Person, password: str | None) -> SignIn:
    member = Member.objects.filter(username=person.username).first()
    if member is None:
        chosen = password or secrets.token_urlsafe(PASSWORD_BYTES)
        accounts.create(
            actor=ACTOR,
            username=person.username,
            password=chosen,
            role=person.role,
            display_name=person.display_name,
        )
        return SignIn(person.username, person.role, chosen)
    if password is None:
        return SignIn(person.username, person.role, None)
    if not member.check_password(password):
        accounts.set_password(actor=ACTOR, member=member, password=password)
    return SignIn(person.username, person.role, password)
