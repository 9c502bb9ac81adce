"""Texts without credentials and without characters that hide what they say."""

import re
from typing import Any, Final

from django.conf import settings

MASK: Final = "[redacted]"
MIN_SECRET: Final = 6  # characters; a shorter configured value would blank ordinary words

# Only shapes that are credentials beyond doubt: a reader may write back what it has read.
_CREDENTIALS: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-[A-Za-z0-9_-]{20,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bgithub_pat_\w{30,}"
    r"|\bglpat-[A-Za-z0-9_-]{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bhf_[A-Za-z0-9]{30,}"
    r"|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|\bkz[a-z]*_[A-Za-z0-9_-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    re.DOTALL,
)
# Credentials inside a text that stays readable around them.
_ENCLOSED: Final = re.compile(
    r"(?P<bearer>\b[Bb]earer\s+)[A-Za-z0-9._~+/=-]{16,}"
    r"|(?P<login>://[^/\s:@]+:)[^/\s@]+(?=@)"
    r"|(?P<signed>[?&](?:X-Amz-Signature|X-Goog-Signature|sig|signature|access_token)=)"
    r"[A-Za-z0-9._~+/%=-]{12,}"
)
# Everything below U+0020 but tab and newline, DEL to U+009F, and marks that reorder text.
_HIDING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """The text with credentials masked and control characters taken out; newlines are `\\n`."""
    text = _HIDING.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    for value in (*settings.SECRETS.values(), settings.SECRET_KEY, settings.METRICS_TOKEN):
        if len(value) >= MIN_SECRET:
            text = text.replace(value, MASK)
    text = _CREDENTIALS.sub(MASK, text)
    return _ENCLOSED.sub(lambda match: match[match.lastgroup or 0] + MASK, text)


def readable_value(value: Any) -> Any:
    """A JSON value with every text and key made readable."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return {readable(key): readable_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [readable_value(inner) for inner in value]
    return value
