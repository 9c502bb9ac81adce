"""Personal access tokens: list, create, revoke. A token never makes one that reaches further."""

from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from agents.api.fields import Id, Strict, Text, Whole
from agents.api.operations import Call, Door, Effect, Key, Operation, operation
from agents.api.pages import newest_first, page
from agents.api.shapes import Paging, page_of
from agents.members import tokens
from agents.members.models import AccessToken, TokenScope
from audit.reasons import Reason
from audit.refusals import Invalid

TAG: Final = "tokens"
DEFAULT_DAYS: Final = 90


class TokenBody(Strict):
    """A new token: a name to know it by, how far it reaches, how long it lasts."""

    name = Text(100)
    scope = serializers.ChoiceField(choices=TokenScope.values, default=TokenScope.READ.value)
    days = Whole(minimum=1, maximum=int(tokens.MAX_DAYS), default=DEFAULT_DAYS)


class TokenItem(serializers.Serializer[Any]):
    """A token without its text, which is not kept."""

    id = Id()
    name = Text(100)
    scope = serializers.ChoiceField(choices=TokenScope.values)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewToken(TokenItem):
    """A new token with its text, shown this once: null when the call is repeated."""

    token = Text(100, allow_null=True)


class Tokens(Door):
    """One's own tokens."""

    @operation(
        Operation("tokens_list", TAG, Effect.READ, query=Paging),
        summary="List one's tokens, the newest first.",
        answer=page_of(TokenItem),
    )
    def get(self, call: Call) -> Any:
        rows = AccessToken.objects.visible_to(call.member)
        return page(rows, newest_first("created_at"), call, name="tokens", project=_item)

    @operation(
        Operation(
            "tokens_create",
            TAG,
            Effect.SENSITIVE,
            status=201,
            body=TokenBody,
            key=Key.HONOURED,
            shown_once=("token",),
        ),
        summary="Create a token; its text is shown this once.",
        answer=NewToken,
    )
    def post(self, call: Call) -> Any:
        name = call.body["name"].strip()
        if not name or not name.isprintable():
            raise Invalid([{"field": "name", "reason": str(Reason.INVALID_FIELD)}])
        token, text = tokens.create(
            actor=call.member,
            name=name,
            scope=TokenScope(call.body["scope"]),
            days=call.body["days"],
        )
        token.refresh_from_db()
        return {**_item(token), "token": text}


class OneToken(Door):
    """One token of one's own."""

    @operation(
        Operation("tokens_revoke", TAG, Effect.SENSITIVE, status=204),
        summary="End a token at once.",
        answer=None,
    )
    def delete(self, call: Call, token_id: UUID) -> Any:
        tokens.revoke(actor=call.member, token_id=token_id)


def _item(token: AccessToken) -> dict[str, Any]:
    return {
        "id": str(token.id),
        "name": token.name,
        "scope": token.scope,
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at.isoformat(),
        "revoked_at": token.revoked_at and token.revoked_at.isoformat(),
        "last_used_at": token.last_used_at and token.last_used_at.isoformat(),
    }
