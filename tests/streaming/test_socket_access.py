"""Who may open a socket, and how soon it ends when they may no longer."""

import time
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from websockets.exceptions import InvalidStatus

from agents.conversations.models import Conversation
from agents.journal.offloading import in_database
from agents.members import tokens
from agents.members.models import Member, TokenScope
from agents.streaming.listener import CloseCode
from tests.patience import promised
from tests.streaming.conftest import Scene, Server, make_scene, reading

REVOKED_WITHIN_S = 5.0


def sign_in(member: Member) -> str:
    """A browser session's cookie header."""
    store = SessionStore()
    store[SESSION_KEY] = str(member.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = member.get_session_auth_hash()
    store.create()
    return f"{settings.SESSION_COOKIE_NAME}={store.session_key}"


def change_password(member: Member) -> None:
    member.set_password("another long password")
    member.save(update_fields=["password"])


def deactivate(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(is_active=False)


def sign_out(cookie: str) -> None:
    SessionStore(cookie.split("=")[1]).delete()


@pytest.mark.parametrize("token", [None, "kz_" + "x" * 43])
async def test_a_caller_who_is_not_signed_in_is_told_so(
    server: Server, scene: Scene, token: str | None
) -> None:
    async with reading(server.port, scene.conversation_id, token) as nobody:
        assert await nobody.closed() == CloseCode.NOT_SIGNED_IN


async def test_foreign_and_missing_conversations_look_alike(
    server: Server, scene: Scene, make_member: Callable[..., Member]
) -> None:
    charlie = await in_database(make_member, "charlie")
    hers = await in_database(make_scene, charlie)
    for address in (scene.conversation_id, uuid4(), "not-an-id", f"{uuid4()}/more"):
        async with reading(server.port, address, hers.token) as stranger:
            assert await stranger.closed() == CloseCode.NOT_VISIBLE


@pytest.mark.parametrize("after", ["-1", "x", "", "1&after=2", "9" * 30])
async def test_a_position_nobody_handed_out_opens_nothing(
    server: Server, scene: Scene, after: str
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token, after) as alice:
        assert await alice.closed() == CloseCode.NOT_VISIBLE


async def test_a_session_cookie_opens_a_socket_from_our_own_pages_only(
    server: Server, scene: Scene
) -> None:
    headers = {"Cookie": await in_database(sign_in, scene.member)}
    await in_database(scene.notice, "hello")
    own = f"http://127.0.0.1:{server.port}"
    async with reading(
        server.port, scene.conversation_id, additional_headers=headers, origin=own
    ) as alice:
        assert (await alice.next())["data"]["message"] == "hello"
    for foreign in ("http://evil.example", f"http://localhost:{server.port + 1}", "null"):
        with pytest.raises(InvalidStatus) as refused:
            async with reading(
                server.port, scene.conversation_id, additional_headers=headers, origin=foreign
            ):
                pass
        assert refused.value.response.status_code == 403


async def test_a_token_decides_alone_even_beside_a_good_cookie(
    server: Server, scene: Scene
) -> None:
    headers = {"Cookie": await in_database(sign_in, scene.member)}
    async with reading(
        server.port, scene.conversation_id, "kz_wrong", additional_headers=headers
    ) as nobody:
        assert await nobody.closed() == CloseCode.NOT_SIGNED_IN


@pytest.mark.parametrize("way", ["revoke", "deactivate"])
async def test_a_token_that_ends_ends_its_sockets(
    server: Server, own_scene: Scene, way: str
) -> None:
    async with reading(server.port, own_scene.conversation_id, own_scene.token) as alice:
        await in_database(own_scene.notice, "before")
        await alice.next()
        if way == "revoke":
            await in_database(tokens.revoke, actor=own_scene.member, token_id=own_scene.token_id)
        else:
            await in_database(deactivate, own_scene.member)
        started = time.monotonic()
        assert await alice.closed() == CloseCode.NOT_SIGNED_IN
        assert time.monotonic() - started < promised(REVOKED_WITHIN_S)


@pytest.mark.parametrize("way", ["sign out", "password", "deactivate"])
async def test_a_session_that_ends_ends_its_sockets(
    server: Server, own_scene: Scene, way: str
) -> None:
    cookie = await in_database(sign_in, own_scene.member)
    async with reading(
        server.port, own_scene.conversation_id, additional_headers={"Cookie": cookie}
    ) as alice:
        await in_database(own_scene.notice, "before")
        await alice.next()
        if way == "sign out":
            await in_database(sign_out, cookie)
        else:
            await in_database(
                change_password if way == "password" else deactivate, own_scene.member
            )
        started = time.monotonic()
        assert await alice.closed() == CloseCode.NOT_SIGNED_IN
        assert time.monotonic() - started < promised(REVOKED_WITHIN_S)


async def test_a_conversation_that_is_deleted_ends_its_sockets_and_no_others(
    server: Server, scene: Scene
) -> None:
    other = await in_database(make_scene, scene.member)
    async with (
        reading(server.port, scene.conversation_id, scene.token) as gone,
        reading(server.port, other.conversation_id, other.token) as kept,
    ):
        await in_database(
            lambda: Conversation.objects.filter(id=scene.conversation_id).update(
                deleted_at="2026-01-01T00:00:00Z"
            )
        )
        assert await gone.closed() == CloseCode.NOT_VISIBLE
        await in_database(other.notice, "still here")
        assert (await kept.next())["data"]["message"] == "still here"


async def test_a_message_of_somebody_revoked_is_not_obeyed(server: Server, scene: Scene) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(tokens.revoke, actor=scene.member, token_id=scene.token_id)
        await alice.connection.send(
            '{"type":"input","idempotency_key":"k","kind":"message","message":"hi"}'
        )
        assert await alice.closed() == CloseCode.NOT_SIGNED_IN


async def test_one_person_holds_a_bounded_number_of_sockets(
    server: Server, own_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.streaming.hub.MEMBER_READERS", 1)
    async with reading(server.port, own_scene.conversation_id, own_scene.token) as first:
        await in_database(own_scene.notice, "hello")
        await first.next()
        async with reading(server.port, own_scene.conversation_id, own_scene.token) as second:
            assert await second.closed() == CloseCode.TOO_FAST
    async with reading(server.port, own_scene.conversation_id, own_scene.token) as third:
        assert (await third.next())["data"]["message"] == "hello"


async def test_a_read_token_may_look_but_not_ask(
    server: Server, make_member: Callable[..., Member]
) -> None:
    reader = await in_database(lambda: make_scene(make_member("bob"), scope=TokenScope.READ))
    async with reading(server.port, reader.conversation_id, reader.token) as bob:
        reply = await bob.say(type="input", idempotency_key="k", kind="message", message="hi")
        assert (reply["status"], reply["body"]["error"]["code"]) == (403, "scope_missing")
