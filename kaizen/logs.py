"""Log records never carry a configured secret or a bearer credential."""

import logging
import re

from django.conf import settings

CREDENTIAL = re.compile(
    r"(?i)(bearer\s+|api[-_]?key[\"'=:\s]+|password[\"'=:\s]+|://[^/\s:@]+:)([^\s\"'@,;]+)"
)
MASK = "[redacted]"


def redact(text: str) -> str:
    """The text with configured secrets and credential-shaped values masked."""
    for value in settings.SECRETS.values():
        if len(value) >= 6:
            text = text.replace(value, MASK)
    text = text.replace(settings.SECRET_KEY, MASK)
    return CREDENTIAL.sub(lambda match: match.group(1) + MASK, text)


class RedactSecrets(logging.Filter):
    """Rewrites the finished message and the traceback text of every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redact(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text)
        return True
