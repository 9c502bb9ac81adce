"""Log records never carry a configured secret or anything shaped like a credential."""

import logging
import re

from django.conf import settings

from audit import credentials

CREDENTIAL = re.compile(
    r"(?i)(bearer\s+|api[-_]?key[\"'=:\s]+|password[\"'=:\s]+|://[^/\s:@]+:)([^\s\"'@,;]+)"
)


def redact(text: str) -> str:
    """The text with configured secrets and credential-shaped values masked; in a log also what
    merely stands where a credential would.
    """
    kept = (*settings.SECRETS.values(), settings.SECRET_KEY, settings.METRICS_TOKEN)
    text = credentials.masked(text, kept)
    return CREDENTIAL.sub(lambda match: match.group(1) + credentials.MASK, text)


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
