"""How the OpenAPI document describes operations, proofs and bounds."""

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import ListSerializer

# Lengths of formats that say their length only in words.
FORMAT_LENGTHS: Final = {"uuid": 36, "date": 10, "date-time": 40, "binary": 400_000}


class KaizenSchema(AutoSchema):
    """Every operation says its own id, tag and errors; nothing is guessed from paths."""

    def get_filter_parameters(self) -> list[dict[str, Any]]:
        return []

    def _map_serializer_field(
        self, field: Any, direction: Any, bypass_extensions: bool = False
    ) -> Any:
        described = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]  # the package's
        longest = getattr(field, "max_length", None)
        if isinstance(field, ListSerializer) and longest is not None:
            described["maxItems"] = int(longest)
        return described


class AccessTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """How a token is sent."""

    target_class = "agents.api.authentication.AccessTokenAuthentication"
    name = "access_token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A personal access token with scope read, write or admin.",
        }


class BrowserSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """How a browser proves its session."""

    target_class = "agents.api.authentication.BrowserSessionAuthentication"
    name = "browser_session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A signed-in browser; calls that change something send X-CSRFToken.",
        }


def bound(result: dict[str, Any], **generation: Any) -> dict[str, Any]:
    """Give what has a known format its length, so that every text in the document is bounded."""
    _bound(result)
    return result


def _bound(node: Any) -> None:
    if isinstance(node, dict):
        length = FORMAT_LENGTHS.get(str(node.get("format", "")))
        if length:
            node.setdefault("maxLength", length)
        for inner in node.values():
            _bound(inner)
    elif isinstance(node, list):
        for inner in node:
            _bound(inner)
