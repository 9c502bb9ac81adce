"""Personal access tokens: create, find, revoke."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from agents.members.models import AccessToken, Member, TokenScope
from audit import funnel
from audit.limits import limit
from audit.reasons import Action, Reason
from audit.refusals import NotFound, Refusal

PREFIX = "kz_"
MAX_DAYS = limit("token.days", 365, "days", "Longest life of an access token.")
MAX_ACTIVE_TOKENS = limit("token.active", 50, "count", "Usable access tokens of one person.")
LAST_USED_RESOLUTION = timedelta(minutes=1)  # one write a minute is enough to see use


def create(
    *, actor: Member, name: str, scope: TokenScope, days: int, now: datetime | None = None
) -> tuple[AccessToken, str]:
    """A new token of the actor and its clear text, which is never stored or shown again."""
    moment = now or timezone.now()
    with transaction.atomic():
        # One after another, or requests at the same moment would each find room for one more.
        Member.objects.select_for_update(no_key=True).get(pk=actor.pk)
        if AccessToken.objects.visible_to(actor).usable().count() >= MAX_ACTIVE_TOKENS:
            raise Refusal(Reason.LIMIT_REACHED, "Revoke a token you no longer use first.")
        text = PREFIX + secrets.token_urlsafe(32)
        token = AccessToken.objects.create(
            id=uuid4(),
            member=actor,
            name=name,
            digest=digest(text),
            scope=scope,
            expires_at=moment + timedelta(days=min(days, MAX_DAYS)),
        )
        funnel.record(
            action=Action.TOKEN_CREATED,
            actor=actor.principal,
            outcome="success",
            subject=("access_token", str(token.id)),
            details={"scope": scope, "days": days},
        )
    return token, text


def revoke(*, actor: Member, token_id: UUID) -> None:
    """End a token of the actor at once; someone else's looks missing."""
    with transaction.atomic():
        ended = (
            AccessToken.objects.visible_to(actor)
            .filter(id=token_id, revoked_at__isnull=True)
            .update(revoked_at=Now())
        )
        if not ended:
            raise NotFound()
        funnel.record(
            action=Action.TOKEN_REVOKED,
            actor=actor.principal,
            outcome="success",
            subject=("access_token", str(token_id)),
        )


def find(text: str) -> AccessToken | None:
    """The usable token behind a clear text, its use stamped; None for anything else."""
    if not text.startswith(PREFIX) or len(text) > 100:
        return None
    token = _usable("digest", digest(text))
    # Looked at here first: most calls come within the minute and need no statement.
    if token is not None and _is_stale(token.last_used_at):
        AccessToken.objects.filter(id=token.id).update(last_used_at=Now())
    return token


def find_again(token_id: UUID) -> AccessToken | None:
    """The token a stream was opened with, if it is still usable."""
    return _usable("id", token_id)


def _usable(column: Literal["digest", "id"], value: str | UUID) -> AccessToken | None:
    """As `AccessToken.objects.usable()`, which takes a millisecond to become SQL; this is asked
    with every call.
    """
    names = [field.attname for field in Member._meta.concrete_fields]
    columns = ", ".join(f"member.{name}" for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT token.id, token.scope, token.last_used_at, {columns}"
            " FROM members_accesstoken AS token"
            " JOIN members_member AS member ON member.id = token.member_id"
            f" WHERE token.{column} = %s AND token.revoked_at IS NULL"
            " AND token.expires_at > statement_timestamp() AND member.is_active",
            [value],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    found = AccessToken(id=row[0], scope=row[1], last_used_at=row[2])
    found.member = Member.from_db("default", names, row[3:])
    return found


def _is_stale(used_at: datetime | None) -> bool:
    return used_at is None or timezone.now() - used_at > LAST_USED_RESOLUTION


def digest(text: str) -> str:
    """What is stored of a token. Tokens are random, so a fast hash is enough."""
    return hashlib.sha256(text.encode()).hexdigest()
