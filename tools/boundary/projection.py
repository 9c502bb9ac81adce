"""What leaves a tool: one bounded view for the model, one for people, and frames for people."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, Final

from audit import canonical
from audit.limits import limit
from tools.boundary.contract import Canvas, Json, Presentation, ToolDescriptor, ToolResult
from tools.boundary.redaction import readable_value

MODEL_VIEW = limit(
    "tool.model_view", 32_768, "bytes", "What a model reads of one tool result, as JSON."
)
MEMBER_VIEW = limit(
    "tool.member_view", 8_192, "bytes", "What a tool card shows of one result, as JSON."
)
CANVAS_CHARACTERS = limit(
    "canvas.content", 100_000, "characters", "Length of the Markdown of one canvas."
)
CANVAS_TITLE = limit("canvas.title", 120, "characters", "Length of the title of one canvas.")
SOURCES = limit("tool.sources", 50, "count", "Sources one tool result may name.")
SHORTEST_CUT: Final = 200  # characters every text keeps before lists are shortened instead
PRESENTATIONS: Final = frozenset({"artifact_saved"})
CANVAS: Final = "canvas"  # the frame of a page, which only the typed field of a result becomes


def as_payload(result: ToolResult) -> Json:
    """The usual projection for a model: the payload with how the call came out."""
    view: Json = {"outcome": result.outcome, **result.payload}
    if result.error_class is not None:
        view["error_class"] = str(result.error_class)
    if result.repair is not None:
        view["retryable"] = result.repair.retryable
    return view


def for_model(descriptor: ToolDescriptor, result: ToolResult, *, room: int = 0) -> str:
    """Canonical JSON of at most 32 KiB, `room` bytes of which are left free."""
    return bounded(descriptor.project_for_model(result), MODEL_VIEW - room)


def for_member(descriptor: ToolDescriptor, result: ToolResult, *, room: int = 0) -> Json:
    """Sanitised status and durable references, at most 8 KiB as JSON, `room` bytes left free."""
    return _fitting(descriptor.project_for_member(result), MEMBER_VIEW - room)


def shown_arguments(arguments: Json | None) -> Json:
    """What a tool card shows of a call's arguments; the tool itself gets them as they are."""
    return _fitting(arguments or {}, MEMBER_VIEW)


def bounded(view: Json, limit_bytes: int) -> str:
    """Canonical JSON of a view, cleaned and shortened until it fits."""
    return canonical.dump(_fitting(view, limit_bytes))


def frames(result: ToolResult) -> tuple[Presentation, ...]:
    """The frames of a result that succeeded, cleaned, its one canvas first.

    Raises `ValueError` for an unknown kind, a second canvas and one over its bounds.
    """
    if result.outcome != "success":
        return ()
    for presentation in result.presentation:
        if presentation.kind not in PRESENTATIONS:
            raise ValueError(f"a tool may not present {presentation.kind!r:.40}")
    if len(result.chat_canvas_outputs) > 1:
        raise ValueError("a call shows one canvas")
    return tuple(
        Presentation(presentation.kind, readable_value(presentation.data))
        for presentation in (*map(_page, result.chat_canvas_outputs), *result.presentation)
    )


def sources(result: ToolResult) -> tuple[Json, ...]:
    """Evidence lineage, cleaned and bounded in number."""
    return tuple(readable_value(source) for source in result.sources[:SOURCES])


def _page(canvas: Canvas) -> Presentation:
    if len(canvas.markdown) > CANVAS_CHARACTERS or len(canvas.title) > CANVAS_TITLE:
        raise ValueError("a canvas is over its bounds")
    return Presentation(CANVAS, {"title": canvas.title, "markdown": canvas.markdown})


def _fitting(raw: Json, limit_bytes: int) -> Json:
    """The cleaned view where it fits, else with long texts and then long lists cut, marked."""
    # What no view could hold is dropped unread. Twice the limit, so that a credential halved
    # here and therefore not recognised can never be part of what is left in the end.
    view: Json = readable_value(_cut(raw, 2 * limit_bytes, 2 * limit_bytes))
    if _size(view) <= limit_bytes:
        return view

    def with_texts(longest: int) -> Json:
        return {**_cut(view, longest, None), "cut": True}

    def with_lists(most: int) -> Json:
        return {**_cut(view, SHORTEST_CUT, most), "cut": True}

    for shorten, least, most in (
        (with_texts, SHORTEST_CUT, limit_bytes),
        (with_lists, 0, limit_bytes),
    ):
        if _size(shorten(least)) <= limit_bytes:
            return shorten(_largest(shorten, least, most, limit_bytes))
    return {"cut": True, "message": "The result is too large to be shown."}


def _largest(shorten: Callable[[int], Json], least: int, most: int, limit_bytes: int) -> int:
    """The largest argument whose view still fits; `least` is known to fit.

    Searched from below, so that no view much larger than the limit is ever made.
    """
    bound = least + 1
    while bound < most and _size(shorten(bound)) <= limit_bytes:
        bound = min(most, 2 * bound)
    steps = range(least + 1, bound + 1)
    return least + bisect_left(steps, True, key=lambda step: _size(shorten(step)) > limit_bytes)


def _cut(value: Any, longest: int, most: int | None) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}… [cut after {longest:,} characters]"
    if isinstance(value, dict):
        return {key: _cut(inner, longest, most) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner, longest, most) for inner in value[:most]]
    return value


def _size(view: Json) -> int:
    return len(canonical.dump(view).encode())
