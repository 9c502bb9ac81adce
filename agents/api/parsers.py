"""Request bodies: strict JSON within the size limit, or a refusal that says why."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from audit import canonical
from audit.limits import limit
from audit.reasons import Reason
from audit.refusals import Refusal

MEDIA_TYPE = "application/json"
BODY_BYTES = limit(
    "api.body", settings.DATA_UPLOAD_MAX_MEMORY_SIZE, "bytes", "Size of one request to the API."
)


def body_of(request: HttpRequest) -> Any:
    """The parsed body, or None where there is none.

    Raises `Refusal`: `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE` or `BAD_JSON`.
    """
    content_type = (request.content_type or "").lower()
    if content_type.startswith("multipart/"):  # may have been read by the CSRF check already
        raise _unsupported()
    try:
        # A body sent in chunks announces no length, so only reading tells whether there is one.
        raw = request.body
    except RequestDataTooBig:
        raise Refusal(
            Reason.BODY_TOO_LARGE, f"The text is larger than {BODY_BYTES:,} bytes."
        ) from None
    if not raw:
        return None
    charset = (request.content_params or {}).get("charset", "utf-8")
    if content_type != MEDIA_TYPE or charset.lower() not in {"utf-8", "utf8"}:
        raise _unsupported()
    return canonical.parse(raw, limit_bytes=BODY_BYTES)


def _unsupported() -> Refusal:
    return Refusal(Reason.UNSUPPORTED_MEDIA_TYPE, "Send the body as application/json in UTF-8.")


class StrictJSONParser(BaseParser):
    """The same door for code that asks the framework for `request.data`."""

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return canonical.parse(stream.read(BODY_BYTES + 1), limit_bytes=BODY_BYTES)
