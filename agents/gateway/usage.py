"""What a provider reports about tokens, whichever names its dialect uses. Pure."""

from typing import Any

from agents.gateway.events import Usage

MAX_TOKEN_COUNT = 2**31 - 1


def read(report: Any) -> Usage | None:
    """The report in our words, None where it says nothing about tokens."""
    if not isinstance(report, dict):
        return None
    prompt = _first(report.get("prompt_tokens"), _input(report))
    completion = _first(report.get("completion_tokens"), report.get("output_tokens"))
    if prompt is None and completion is None:
        return None
    return Usage(
        prompt or 0,
        completion or 0,
        _first(
            _detail(report, "completion_tokens_details", "reasoning_tokens"),
            _detail(report, "output_tokens_details", "reasoning_tokens"),
            report.get("reasoning_tokens"),
        ),
        _first(
            _detail(report, "prompt_tokens_details", "cached_tokens"),
            _detail(report, "input_tokens_details", "cached_tokens"),
            report.get("cached_tokens"),
            report.get("prompt_cache_hit_tokens"),
            report.get("cache_read_input_tokens"),
        ),
    )


def _input(report: dict[str, Any]) -> int | None:
    """All input, from a dialect that counts what was cached apart from it."""
    counted = _count(report.get("input_tokens"))
    if counted is None:
        return None
    apart = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return counted + sum(_count(report.get(name)) or 0 for name in apart)


def _detail(report: dict[str, Any], group: str, name: str) -> Any:
    details = report.get(group)
    return details.get(name) if isinstance(details, dict) else None


def _first(*values: Any) -> int | None:
    return next((count for count in map(_count, values) if count is not None), None)


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKEN_COUNT:
        return None
    return value
