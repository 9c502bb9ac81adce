"""The OpenAPI document, generated from the operations; never written by hand."""

import functools
from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers
from rest_framework.request import Request

from agents.api.fields import Anything
from agents.api.operations import Door, Effect, Operation, operation

TAG: Final = "document"


class OpenApi(serializers.Serializer[Any]):
    """An OpenAPI 3 document."""

    openapi = serializers.CharField(max_length=10)
    info = Anything()
    paths = Anything()
    components = Anything()


class OpenApiDocument(Door):
    """What this interface can do, for programs. It holds nothing of anybody."""

    @operation(
        Operation("document_read", TAG, Effect.READ, public=True),
        summary="This document.",
        answer=OpenApi,
    )
    def get(self, request: Request) -> Any:
        return generated()


@functools.cache
def generated() -> dict[str, Any]:
    """The document; the same for everybody and for as long as the process lives."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # the package has no types here
    document: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # same
    return document
