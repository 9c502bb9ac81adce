"""Provider faults as closed codes.

Everything a provider says about its own failure ends here: words are looked at to choose a code
and then dropped, because they may repeat prompts, keys or addresses. Pure; the clock is handed in.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents.gateway.events import ProviderFailure
from audit.reasons import Reason

MAX_ERROR_BODY_BYTES = 64 * 1024
# Where an error frame may name the status the answer would have had.
_STATUS_MEMBERS = ("code", "status", "status_code", "http_code")

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|exceed_context|input is too long",
    re.IGNORECASE,
)
_GRAMMAR = re.compile(r"grammar|json[ _]schema|response_format", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient[_ ]quota|quota exceeded|billing|credit", re.IGNORECASE)
_REQUEST = re.compile(r"invalid_request|bad[_ ]request|validation[_ ]error", re.IGNORECASE)
_FILTER = re.compile(r"content_(?:filter|policy)|safety", re.IGNORECASE)
_NUMBER = re.compile(r"^\d{1,12}(?:\.\d+)?$")
_UNIT = r"\s*(?P<unit>ms|milliseconds?|seconds?|minutes?|hours?|s|m|h)?\b"
_WAIT_MEMBER = re.compile(
    r"retry[-_ ]?(?:after|delay)[\"']?\s*:\s*[\"']?(?P<number>\d{1,9}(?:\.\d{1,9})?)" + _UNIT, re.I
)
_WAIT_WORDS = re.compile(
    r"(?:try again|retry) (?:in|after) (?P<number>\d{1,9}(?:\.\d{1,9})?)" + _UNIT, re.I
)
_OVERLOADED = re.compile(r"overload|unavailable|server_error|internal|timeout", re.IGNORECASE)
_RATE = re.compile(r"rate[ _-]?limit|too many requests", re.IGNORECASE)
_KEY = re.compile(r"invalid_api_key|authentication|permission_denied|unauthori[sz]ed", re.I)


def unreachable(status: int | None = None) -> ProviderFailure:
    return ProviderFailure(
        Reason.PROVIDER_UNREACHABLE,
        "The model server cannot be reached."
        if status is None
        else f"The model server is not working at the moment (status {status}).",
        status=status,
        retryable=True,
    )


def untrusted() -> ProviderFailure:
    return ProviderFailure(
        Reason.PROVIDER_UNREACHABLE, "The certificate of the model server is not trusted."
    )


def cut_off() -> ProviderFailure:
    return ProviderFailure(
        Reason.PROVIDER_CUT_OFF,
        "The connection to the model broke before the answer was finished.",
        retryable=True,
    )


def empty_response() -> ProviderFailure:
    """Not to be repeated here: how often an empty answer is asked for again, the engine counts."""
    return ProviderFailure(Reason.PROVIDER_EMPTY_RESPONSE, "The model gave an empty answer.")


def garbage(*, retryable: bool, status: int | None = None) -> ProviderFailure:
    return ProviderFailure(
        Reason.PROVIDER_GARBAGE,
        "The model server gave an answer that cannot be read.",
        status=status,
        retryable=retryable,
    )


def timed_out(*, retryable: bool = False, status: int | None = None) -> ProviderFailure:
    return ProviderFailure(
        Reason.TIMEOUT,
        "The model took too long to answer.",
        status=status,
        retryable=retryable,
    )


def content_filtered() -> ProviderFailure:
    return ProviderFailure(
        Reason.CONTENT_FILTERED, "The model provider's content filter stopped the answer."
    )


def malformed() -> ProviderFailure:
    return ProviderFailure(Reason.INVALID_ARGUMENT, "The request to the model cannot be sent.")


def is_grammar_refusal(status: int, body: str) -> bool:
    """Whether a server says that it cannot turn a schema into a grammar."""
    return status == 400 and bool(_GRAMMAR.search(body))


def from_status(
    status: int, body: str, headers: Mapping[str, str], now: datetime
) -> ProviderFailure:
    """The failure an HTTP answer other than 200 stands for."""
    wait_s = asked_wait_s(headers, now)
    if wait_s is None and status in (429, 503):
        wait_s = told_wait_s(body)
    if status == 429 and not _QUOTA.search(body):
        return _rate_limited(wait_s, status)
    if status in (401, 403):
        return _credentials(status)
    if status in (408, 504):
        return timed_out(retryable=True, status=status)
    if status >= 500 or status in (409, 425):
        failure = unreachable(status)
        return ProviderFailure(failure.code, failure.message, status, True, wait_s)
    if status < 400:
        # Redirects are not followed: a key must not travel to another address.
        return garbage(retryable=False, status=status)
    return _refused(status, body)


def from_frame(error: Any) -> ProviderFailure:
    """The failure an error frame inside a streamed answer stands for."""
    fields = error if isinstance(error, dict) else {"message": error}
    words = " ".join(str(value) for name, value in fields.items() if name != "object")
    status = next(filter(None, (_status(fields.get(name)) for name in _STATUS_MEMBERS)), None)
    if status is not None:
        return from_status(status, words, {}, datetime.now(UTC))
    if _CONTEXT.search(words) or _REQUEST.search(words) or _QUOTA.search(words):
        return _refused(None, words)
    if _FILTER.search(words):
        return content_filtered()
    if _RATE.search(words):
        return _rate_limited(told_wait_s(words), None)
    if _KEY.search(words):
        return _credentials(None)
    if _OVERLOADED.search(words):
        return unreachable()
    return ProviderFailure(
        Reason.PROVIDER_REFUSED,
        "The model server reported an error in the middle of its answer.",
        retryable=True,
    )


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds a provider asks to wait, None where it gives no usable hint.

    `retry-after-ms` wins over `Retry-After`, which is a number of seconds or an HTTP date. What is
    negative, past or unreadable is no hint.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.match(milliseconds):
        return float(milliseconds) / 1000
    hint = headers.get("Retry-After", "").strip()
    if _NUMBER.match(hint):
        return float(hint)
    try:
        at = parsedate_to_datetime(hint)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    seconds = (at - now).total_seconds()
    return seconds if seconds > 0 else None


def _status(value: Any) -> int | None:
    """An HTTP status of failure however it is written, None for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    known = isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600
    return value if known else None


def told_wait_s(body: str) -> float | None:
    """The seconds to wait that the text of a failure names, None where it names none."""
    found = _WAIT_MEMBER.search(body) or _WAIT_WORDS.search(body)
    if found is None:
        return None
    unit = (found["unit"] or "s").lower()
    if unit.startswith(("ms", "milli")):
        return float(found["number"]) / 1000
    return float(found["number"]) * {"m": 60, "h": 3_600}.get(unit[0], 1)


def _rate_limited(wait_s: float | None, status: int | None) -> ProviderFailure:
    message = "The model provider is limiting requests."
    if wait_s is not None:
        message = f"The model provider is limiting requests and asks to wait {_words(wait_s)}."
    return ProviderFailure(Reason.RATE_LIMITED, message, status, True, wait_s)


def _credentials(status: int | None) -> ProviderFailure:
    return ProviderFailure(
        Reason.PROVIDER_CREDENTIALS,
        "The model provider does not accept the key of this deployment.",
        status=status,
    )


def _refused(status: int | None, body: str) -> ProviderFailure:
    if status == 413 or _CONTEXT.search(body):
        return ProviderFailure(
            Reason.CONTEXT_TOO_LONG,
            "The conversation is longer than this model can read.",
            status=status,
        )
    if status is not None and is_grammar_refusal(status, body):
        return ProviderFailure(
            Reason.PROVIDER_GRAMMAR,
            "The model server cannot follow the schema of the offered tools.",
            status=status,
        )
    if _FILTER.search(body):
        return content_filtered()
    message = "The model provider refused the request."
    if status == 404:
        message = "The model server does not know this address or model."
    return ProviderFailure(Reason.PROVIDER_REFUSED, message, status=status)


def _words(seconds: float) -> str:
    if seconds < 120:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes"
