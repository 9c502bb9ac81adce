"""Whom a request or a socket speaks for. The one reader of tokens and session cookies.

Used by every door (pages, REST, live streams), so that all of them believe the same things. An
`Authorization` header decides alone: a request that carries one is never answered as the person
of a session cookie beside it. Everything here uses the database and is synchronous.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, Literal
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils.crypto import constant_time_compare

from agents.members import tokens
from agents.members.models import Member, TokenScope
from agents.members.sessions import SessionStore
from audit.reasons import Reason
from audit.refusals import Refusal

BEARER: Final = re.compile(r"[Bb]earer ([\x21-\x7e]{1,100})")
SUBPROTOCOL_PREFIX: Final = "bearer."  # a token in a socket's list of subprotocols
_ORDER: Final = (TokenScope.READ, TokenScope.WRITE, TokenScope.ADMIN)


@dataclass(frozen=True)
class Credential:
    """A person who proved who they are, how, and how far that proof reaches.

    A browser session reaches as far as the person's roles; a token only as far as its scope.
    `session_key` or `token_id` names the proof, so that it can be looked at again later.
    """

    member: Member
    source: Literal["session", "token"]
    scope: TokenScope
    token_id: UUID | None = None
    session_key: str | None = None

    def allows(self, scope: TokenScope) -> bool:
        """Whether the proof reaches as far as `scope`."""
        return _ORDER.index(TokenScope(self.scope)) >= _ORDER.index(scope)


def not_authenticated() -> Refusal:
    """The one answer for every proof that does not count, so that none can be told apart."""
    return Refusal(Reason.NOT_AUTHENTICATED, "Sign in, or send a valid access token.")


def from_headers(*, authorization: str | None, cookie: str | None) -> Credential | None:
    """The person behind raw header values; None where nothing was sent or a session has ended.

    Raises `Refusal(NOT_AUTHENTICATED)` for an `Authorization` header that opens nothing.
    """
    if authorization is not None:
        return from_authorization(authorization)
    return from_session_key(_session_key(cookie or ""))


def from_authorization(value: str) -> Credential:
    """The person of `Bearer <token>`; raises `Refusal(NOT_AUTHENTICATED)` otherwise."""
    match = BEARER.fullmatch(value.strip())
    return from_token(match.group(1) if match else "")


def from_token(text: str) -> Credential:
    """The person of a token's clear text; raises `Refusal(NOT_AUTHENTICATED)` otherwise."""
    token = tokens.find(text)
    if token is None:
        raise not_authenticated()
    return Credential(
        member=token.member,
        source="token",
        scope=TokenScope(token.scope),
        token_id=token.id,
    )


def from_session_key(session_key: str | None) -> Credential | None:
    """The person signed in under a session key, or None when that session does not count now.

    A session ends with sign-out, its age, a changed password and a switched-off account.
    """
    if not session_key:
        return None
    store = SessionStore(session_key)
    if store.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    try:
        member = Member.objects.get(pk=int(store[SESSION_KEY]), is_active=True)
    except (KeyError, ValueError, Member.DoesNotExist):
        return None
    if not _belongs(store.get(HASH_SESSION_KEY), member):
        return None
    return of_session(member, session_key)


def of_session(member: Member, session_key: str | None) -> Credential:
    """The credential of a session that was already verified by the sign-in middleware."""
    return Credential(
        member=member, source="session", scope=TokenScope.ADMIN, session_key=session_key
    )


def from_scope(scope: Mapping[str, Any]) -> Credential | None:
    """The person behind an ASGI scope (request or socket): token, subprotocol or session cookie.

    None where nothing counts was sent; raises `Refusal(NOT_AUTHENTICATED)` for a token that opens
    nothing.
    """
    headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    sent = [value for name, value in headers if name == b"authorization"]
    if len(sent) > 1:
        raise not_authenticated()
    offered = _offered_token(scope.get("subprotocols") or ())
    if offered is not None and not sent:
        return from_token(offered)
    return from_headers(
        authorization=sent[0] if sent else None,
        cookie="; ".join(value for name, value in headers if name == b"cookie"),
    )


def again(credential: Credential) -> Credential | None:
    """The same proof looked at now; None when it no longer counts. For long-lived streams."""
    if credential.token_id is None:
        return from_session_key(credential.session_key)
    token = tokens.find_again(credential.token_id)
    if token is None:
        return None
    return Credential(
        member=token.member, source="token", scope=TokenScope(token.scope), token_id=token.id
    )


def _offered_token(subprotocols: Sequence[str]) -> str | None:
    found = [
        name.removeprefix(SUBPROTOCOL_PREFIX)
        for name in subprotocols
        if name.startswith(SUBPROTOCOL_PREFIX)
    ]
    return found[0] if found else None


def _belongs(stored: str | None, member: Member) -> bool:
    """Whether the session was opened with the person's present password and secret key."""
    if not stored:
        return False
    hashes = [member.get_session_auth_hash(), *member.get_session_auth_fallback_hash()]
    return any(constant_time_compare(stored, expected) for expected in hashes)


def _session_key(cookie: str) -> str | None:
    try:
        morsel = SimpleCookie(cookie).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    return morsel.value if morsel else None
