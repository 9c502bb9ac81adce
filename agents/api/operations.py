"""What a call declares about itself, and the one way every call runs.

A view's method is written as `@operation(...) def get(self, call, **ids)` and answers with plain
data. The declaration is the single source of the generated document, of the scope a token needs,
of the body that is read, and of how an idempotency key is treated.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer, Serializer
from rest_framework.views import APIView

from agents.api import idempotency, parsers
from agents.api.fields import problems_of
from agents.api.renderers import JSONRenderer, render
from agents.api.shapes import Problem
from agents.members.credentials import Credential
from agents.members.models import Member, TokenScope
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound, Refusal


class Effect(StrEnum):
    """What a call does, for people and for other instances that offer it as a tool."""

    READ = "read"
    WRITE = "write"
    SENSITIVE = "sensitive"


class Key(StrEnum):
    """How a call treats an idempotency key.

    `STORED` and `HONOURED` keep the answer here, `OWN` leaves it to an operation that is
    idempotent by itself; `STORED` and `OWN` want a key with every call.
    """

    IGNORED = "ignored"
    HONOURED = "honoured"
    STORED = "stored"
    OWN = "own"


SCOPES: Final = {
    Effect.READ: TokenScope.READ,
    Effect.WRITE: TokenScope.WRITE,
    Effect.SENSITIVE: TokenScope.ADMIN,
}
_UNKNOWN: Final = [ErrorDetail("Not known.", code="unknown")]
# Which errors the document names, by what a call has.
REASONS: Final = {
    400: "The request could not be read.",
    401: "Nobody is signed in, or the token no longer counts.",
    403: "The token's scope is too small, or the caller sees the object but may not do this.",
    404: "The object is missing or not for this caller.",
    409: "The state, version or idempotency key does not allow this.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Fields of the body are wrong or unknown.",
    503: "Something this needs is not there at the moment.",
}


@dataclass(frozen=True)
class Call:
    """One authorised call: who, with which proof, and what they sent, already checked."""

    member: Member
    credential: Credential
    body: Any = None
    query: dict[str, Any] = field(default_factory=dict)
    key: str | None = None


@dataclass(frozen=True)
class Operation:
    """One entry of the generated document. `id` never changes once published.

    `body` describes and checks what is sent; with `reads` it only describes, and that function
    checks (it raises `Invalid`) and says what the method is given. Fields named in `shown_once`
    are null in the kept answer: a repeat has no second effect, and gives no secret again.
    """

    id: str
    tag: str
    effect: Effect
    status: int = 200
    body: type[Serializer[Any]] | None = None
    reads: Callable[[Any], Any] | None = None
    query: type[Serializer[Any]] | None = None
    key: Key = Key.IGNORED
    public: bool = False
    shown_once: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    media_type: str = JSONRenderer.media_type

    @property
    def scope(self) -> TokenScope:
        """The smallest token scope that opens this call."""
        return SCOPES[self.effect]

    @property
    def key_required(self) -> bool:
        """Whether a call without a key is refused."""
        return self.key in {Key.STORED, Key.OWN}


class Door(APIView):
    """Base of all views: takes declared operations only, and says nothing about other methods."""

    http_method_names: list[str] = ["get", "post", "put", "patch", "delete", "head"]  # noqa: RUF100

    @classmethod
    def operation_of(cls, method: str) -> Operation | None:
        """The operation behind a method, or None where the path does not take it."""
        handler = getattr(cls, "get" if method == "HEAD" else method.lower(), None)
        return getattr(handler, "operation", None)

    @property
    def default_response_headers(self) -> dict[str, str]:
        # The framework would put `Allow` on some answers and not on others.
        return {}


def operation(
    declared: Operation,
    *,
    summary: str,
    answer: type[BaseSerializer[Any]] | OpenApiTypes | None,
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponse]]:
    """Make a view method the given operation; `answer` is the shape of its success."""

    def declare(method: Callable[..., Any]) -> Callable[..., HttpResponse]:
        @functools.wraps(method)
        def run(view: Door, request: Request, **ids: UUID | int | None) -> HttpResponse:
            return _run(declared, functools.partial(method, view), request, ids)

        run.operation = declared  # type: ignore[attr-defined]  # read by Door.operation_of
        return extend_schema(
            operation_id=declared.id,
            summary=summary,
            tags=[declared.tag],
            request=declared.body,
            parameters=_parameters(declared),
            responses=_responses(declared, method, answer),
            extensions={"x-kamiwaza-effect": str(declared.effect)},
            auth=cast(Any, [{}]) if declared.public else None,
        )(run)

    return declare


def send(status: int, raw: bytes) -> HttpResponse:
    """JSON bytes as an answer that nothing between us and the caller may keep."""
    response = HttpResponse(raw, status=status)
    response["Cache-Control"] = "no-store"
    if raw:
        response["Content-Type"] = JSONRenderer.media_type
    else:
        del response["Content-Type"]
    patch_vary_headers(response, ("Accept", "Accept-Language", "Cookie"))
    return response


def _run(
    declared: Operation,
    method: Callable[..., Any],
    request: Request,
    ids: Mapping[str, UUID | int | None],
) -> HttpResponse:
    """Read, check, act and render. Raises `Refusal`; the exception handler answers it."""
    if None in ids.values():  # a path value that no object can have
        raise NotFound()
    if declared.public:
        return send(declared.status, render(method(request)))
    key = None
    if declared.key is not Key.IGNORED:
        key = idempotency.key_of(
            request.META.get("HTTP_IDEMPOTENCY_KEY"), required=declared.key_required
        )
    parsed = _parsed(declared, request)
    credential = cast(Credential, request.auth)  # the permission class has made sure
    call = Call(
        member=credential.member,
        credential=credential,
        body=_body(declared, parsed),
        query=_query(declared, request),
        key=key,
    )

    def act() -> Any:
        return method(call, **ids)

    if key is None or declared.key is Key.OWN:
        answer = act()
        if isinstance(answer, HttpResponse):  # a file
            return answer
        return send(declared.status, render(answer))
    route = f"{request.method} {request.path}"
    attempt = idempotency.Attempt(call.member, route, key, parsed)
    kept = idempotency.once(attempt, act, status=declared.status, shown_once=declared.shown_once)
    return send(*kept)


def _parsed(declared: Operation, request: Request) -> Any:
    """What was sent, strictly read; an empty object where nothing was and nothing is needed."""
    if request.method in {"GET", "HEAD", "DELETE"}:
        return {}
    parsed = parsers.body_of(request._request)
    if parsed is None and declared.body is not None:
        raise Refusal(Reason.BAD_JSON, "This call needs a JSON object as its body.")
    return {} if parsed is None else parsed


def _body(declared: Operation, parsed: Any) -> Any:
    """The checked body; a call that takes none accepts nothing or an empty object."""
    if declared.reads is not None:
        return declared.reads(parsed)
    if not isinstance(parsed, dict):
        raise Invalid([{"field": "", "reason": str(Reason.INVALID_FIELD)}])
    if declared.body is None:
        if parsed:
            raise Invalid(problems_of({name: _UNKNOWN for name in parsed}))
        return {}
    shape = declared.body(data=parsed)
    if not shape.is_valid():
        raise Invalid(problems_of(shape.errors))
    return dict(shape.validated_data)


def _query(declared: Operation, request: Request) -> dict[str, Any]:
    if declared.query is None:
        return {}
    shape = declared.query(data=request.query_params.dict())
    if not shape.is_valid():
        raise Refusal(
            Reason.BAD_REQUEST,
            "Some values of the address are not right.",
            fields=problems_of(shape.errors),
        )
    return dict(shape.validated_data)


def _parameters(declared: Operation) -> list[Any]:
    parameters: list[Any] = [declared.query] if declared.query else []
    if declared.key is not Key.IGNORED:
        parameters.append(
            OpenApiParameter(
                idempotency.HEADER,
                type={"type": "string", "minLength": 1, "maxLength": 200},
                location=OpenApiParameter.HEADER,
                required=declared.key_required,
                description="The same key and body give the first answer again; kept for a day.",
            )
        )
    return parameters


def _responses(
    declared: Operation, method: Callable[..., Any], answer: Any
) -> dict[int | tuple[int, str], OpenApiResponse]:
    codes = {503, *declared.errors}
    if not declared.public:
        codes |= {401, 403}
    if method.__code__.co_argcount > 2:  # takes ids besides the call
        codes.add(404)
    if declared.query:
        codes.add(400)
    if method.__name__ in {"post", "put", "patch"}:
        codes |= {400, 409, 413, 415, 422}
    success = OpenApiResponse(answer or OpenApiTypes.NONE, description="Done.")
    return {
        (declared.status, declared.media_type): success,
        **{
            (code, JSONRenderer.media_type): OpenApiResponse(Problem, description=REASONS[code])
            for code in sorted(codes)
        },
    }
