"""Answers as JSON bytes."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer


def render(data: Any) -> bytes:
    """JSON in UTF-8 without blanks; nothing for an answer without a body."""
    return b"" if data is None else orjson.dumps(data)


class FileRenderer(BaseRenderer):
    """Stands for answers that are files; the view makes them itself."""

    media_type = "application/octet-stream"
    format = "file"
    charset = None
    render_style = "binary"


class JSONRenderer(BaseRenderer):
    """The form of every answer that is not a file."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return render(data)
