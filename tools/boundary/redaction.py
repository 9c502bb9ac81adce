"""Texts without credentials and without characters that hide what they say."""

import re
from typing import Any, Final

from django.conf import settings

from audit import credentials

# Everything below U+0020 but tab and newline, DEL to U+009F, and marks that reorder text.
_HIDING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def kept_values() -> tuple[str, ...]:
    """What this installation keeps secret: deployments' keys and its own."""
    return (*settings.SECRETS.values(), settings.SECRET_KEY, settings.METRICS_TOKEN)


def readable(text: str) -> str:
    """The text with credentials masked and control characters taken out; newlines are `\\n`."""
    text = _HIDING.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return credentials.masked(text, kept_values())


def readable_value(value: Any) -> Any:
    """A JSON value with every text and key made readable."""
    return credentials.masked_value(value, readable)
