"""Personal access tokens: shown once, stored as a digest, ended at once."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone

from agents.members import credentials, tokens
from agents.members.models import AccessToken, Member, TokenScope
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

pytestmark = pytest.mark.django_db


def made(member: Member, *, days: int = 1, scope: TokenScope = TokenScope.READ) -> tuple[UUID, str]:
    token, text = tokens.create(actor=member, name="laptop", scope=scope, days=days)
    return token.id, text


def test_only_a_digest_is_stored(alice: Member) -> None:
    token_id, text = made(alice)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(t)::text FROM members_accesstoken t WHERE id = %s", [token_id]
        )
        (row,) = cursor.fetchone()
    assert text not in row
    assert text.removeprefix("kz_") not in row
    assert tokens.digest(text) in row


def test_no_two_tokens_are_alike_and_each_is_long(alice: Member) -> None:
    texts = {made(alice)[1] for _ in range(5)}
    assert len(texts) == 5
    assert {text[:3] for text in texts} == {"kz_"}
    assert min(map(len, texts)) >= 43 + 3  # 32 random bytes


def test_a_token_opens_its_own_person(alice: Member) -> None:
    found = tokens.find(made(alice)[1])
    assert found is not None
    assert found.member == alice


@pytest.mark.parametrize("text", ["", "kz_", "kz_wrong", "wrong", "kz_" + "x" * 200, "kz_\x00"])
def test_anything_else_opens_nothing(alice: Member, text: str) -> None:
    made(alice)
    assert tokens.find(text) is None


def test_a_digest_is_no_token(alice: Member) -> None:
    _, text = made(alice)
    assert tokens.find(tokens.digest(text)) is None
    assert tokens.find("kz_" + tokens.digest(text)) is None


def test_an_expired_token_opens_nothing(alice: Member) -> None:
    token_id, text = made(alice)
    AccessToken.objects.filter(id=token_id).update(expires_at=timezone.now())
    assert tokens.find(text) is None


def test_no_token_outlives_a_year(alice: Member) -> None:
    now = timezone.now()
    token, _ = tokens.create(actor=alice, name="long", scope=TokenScope.READ, days=9_999, now=now)
    assert token.expires_at == now + timedelta(days=365)


def test_revoking_ends_it_at_once_and_only_once(alice: Member) -> None:
    token_id, text = made(alice)
    tokens.revoke(actor=alice, token_id=token_id)
    assert tokens.find(text) is None
    with pytest.raises(NotFound):
        tokens.revoke(actor=alice, token_id=token_id)


def test_somebody_elses_token_looks_missing(alice: Member, bob: Member) -> None:
    token_id, text = made(alice)
    refusals = []
    for wanted in (token_id, uuid4()):
        with pytest.raises(NotFound) as refused:
            tokens.revoke(actor=bob, token_id=wanted)
        refusals.append((refused.value.reason, refused.value.message, refused.value.fields))
    assert refusals[0] == refusals[1]
    assert tokens.find(text) is not None
    assert list(AccessToken.objects.visible_to(bob)) == []


def test_use_is_stamped_at_most_once_a_minute(alice: Member) -> None:
    token_id, text = made(alice)
    row = AccessToken.objects.filter(id=token_id)
    assert row.get().last_used_at is None
    tokens.find(text)
    first = row.get().last_used_at
    assert first is not None
    tokens.find(text)
    assert row.get().last_used_at == first
    row.update(last_used_at=first - timedelta(minutes=2))
    tokens.find(text)
    assert row.get().last_used_at > first - timedelta(minutes=1)


def test_a_person_may_hold_fifty_at_once(alice: Member, bob: Member) -> None:
    first, _ = made(alice)
    for _ in range(tokens.MAX_ACTIVE_TOKENS - 1):
        made(alice)
    with pytest.raises(Refusal) as refused:
        made(alice)
    assert refused.value.reason == Reason.LIMIT_REACHED
    made(bob)
    tokens.revoke(actor=alice, token_id=first)
    made(alice)


def test_a_switched_off_person_loses_every_token(alice: Member) -> None:
    _, text = made(alice)
    held = credentials.from_token(text)
    Member.objects.filter(pk=alice.pk).update(is_active=False)
    assert tokens.find(text) is None
    assert credentials.again(held) is None
    with pytest.raises(Refusal) as refused:
        credentials.from_token(text)
    assert refused.value.reason == Reason.NOT_AUTHENTICATED


def test_making_and_revoking_are_recorded_without_the_token(alice: Member) -> None:
    token_id, text = made(alice, days=7, scope=TokenScope.WRITE)
    tokens.revoke(actor=alice, token_id=token_id)
    rows = AuditEvent.objects.filter(subject_id=str(token_id)).order_by("sequence")
    assert [(row.action, row.actor, row.details) for row in rows] == [
        ("token_created", alice.principal, {"days": 7, "scope": "write"}),
        ("token_revoked", alice.principal, {}),
    ]
    assert text not in str(list(rows.values()))


@pytest.mark.parametrize(
    ("scope", "reach"),
    [
        (TokenScope.READ, [True, False, False]),
        (TokenScope.WRITE, [True, True, False]),
        (TokenScope.ADMIN, [True, True, True]),
    ],
)
def test_each_scope_includes_the_ones_before(
    alice: Member, scope: TokenScope, reach: list[bool]
) -> None:
    held = credentials.from_token(made(alice, scope=scope)[1])
    assert [held.allows(wanted) for wanted in TokenScope] == reach
