"""Whether proofs of identity still count, for many long-lived streams in two queries."""

from collections.abc import Collection

from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from agents.members.credentials import Credential
from agents.members.models import AccessToken, Member


def standing(credentials: Collection[Credential]) -> dict[Credential, Member]:
    """The credentials that count now, each with its person as stored now.

    The same rules as `credentials.again`: a token must be usable; a session must exist, be
    unexpired, and its active person must have the password the session was opened with.
    """
    people = {
        member.pk: member
        for member in Member.objects.filter(
            pk__in={credential.member.pk for credential in credentials}, is_active=True
        )
    }
    token_ids = {held.token_id for held in credentials if held.token_id is not None}
    session_keys = {held.session_key for held in credentials if held.session_key is not None}
    tokens = (
        set(AccessToken.objects.usable().filter(id__in=token_ids).values_list("id", flat=True))
        if token_ids
        else set()
    )
    sessions = (
        set(
            Session.objects.filter(session_key__in=session_keys, expire_date__gt=Now()).values_list(
                "session_key", flat=True
            )
        )
        if session_keys
        else set()
    )
    return {
        held: people[held.member.pk]
        for held in credentials
        if held.member.pk in people
        and (
            held.token_id in tokens
            if held.token_id is not None
            else held.session_key in sessions
            and held.member.password == people[held.member.pk].password
        )
    }
