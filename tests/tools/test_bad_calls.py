"""Whatever a model writes as a call: a named refusal or a result, never an exception."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.gateway import arguments as reading
from agents.gateway.events import EXPLANATIONS
from agents.journal.offloading import in_database
from artifacts.models import Artifact
from audit.models import AuditEvent
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary.contract import Json, Outcome, ToolCall, ToolDescriptor, ToolResult

MakeTool = Callable[..., ToolDescriptor]
FREE: Json = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"text": {"type": "string"}, "any": {}},
}


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


class Recorder:
    """A tool that keeps what it was called with."""

    def __init__(self) -> None:
        self.seen: list[Json] = []

    async def __call__(self, context: Any, arguments: Json) -> ToolResult:
        self.seen.append(arguments)
        return ToolResult("success", {})


@pytest.mark.req("REG-026", "BND-006")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"any": float("nan")}, "NaN"),
        ({"any": float("inf")}, "Infinity"),
        ({"text": "nul \x00"}, "NUL"),
        ({"text": "half \udc00"}, "half a character"),
        ({"any": nested(100)}, "nest"),
        ({"text": "x" * 1_048_577}, "larger than 1,048,576 bytes"),
        ({"text": 7}, "must be of type string"),
        ({"txet": "x"}, "unknown fields; known are: any, text"),
        ({"text": "x", "member_id": "7"}, "unknown fields"),
        ({"any": {1: "a key that is no text"}}, "key"),
        ({"any": object()}, "cannot be written as JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_arguments_nobody_can_keep_are_refused_and_say_why(
    arguments: Json, told: str, run: Run, make_tool: MakeTool
) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, parameters=FREE))
    outcome = await run.call("made_for_a_test", arguments)
    assert (outcome.outcome, outcome.denial) == ("denied", Reason.INVALID_ARGUMENTS)
    assert outcome.error_class is ErrorClass.INVALID_ARGUMENT
    assert told.casefold() in outcome.model_view.casefold()
    assert outcome.ends_turn is None
    assert len(outcome.model_view) < 2_000
    assert tool.seen == []
    assert await run.rows() == [("tool_denied", "denied", "invalid_arguments")]


@pytest.mark.parametrize(
    "raw",
    [
        '{"text": "a", "text": "b"}',
        '{"any": {"k": 1, "k": 1}}',
        '{"any": NaN}',
        '{"any": -Infinity}',
        '{"text": "nul \\u0000"}',
        '{"text": "half \\ud800"}',
        '{"any": ' + "[" * 100 + "]" * 100 + "}",
        '{"any": ' + "[" * 100_000 + "}",
        '{"any": 1e999}',
        '{"any": 123456789012345678901234567890}',
        '["text"]',
        '"text"',
        "null",
        '{"text": "a"} {"text": "b"}',
        '{"text": "a"',
        '{"text": "' + "x" * 1_048_577 + '"}',
    ],
    ids=lambda raw: raw[:24],
)
async def test_text_that_is_no_one_object_never_reaches_a_tool(
    raw: str, run: Run, make_tool: MakeTool
) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, parameters=FREE))
    made = reading.call("p-1", "made_for_a_test", raw)
    assert made.refusal is not None
    told = EXPLANATIONS[made.refusal]
    outcome = await run.call("made_for_a_test", made.arguments, told)
    assert (outcome.outcome, outcome.denial) == ("denied", Reason.INVALID_ARGUMENTS)
    assert json.loads(outcome.model_view)["message"] == told
    assert tool.seen == []


@pytest.mark.req("BND-006")
async def test_names_outside_the_offer_are_refused_whatever_they_look_like(
    run: Run, make_tool: MakeTool
) -> None:
    run.offer(make_tool())
    del run.offered["search_about"]  # registered and allowed, and not offered in this step
    for name in (
        "search_about",
        "Made_For_A_Test",
        "made_for_a_test ",
        "functions.made_for_a_test",
        "tools.builtin.artifacts.create",
        "__import__",
        "",
        "x" * 5_000,
        "'; DROP TABLE audit_event; --",
        "mаde_for_a_test",  # a Cyrillic letter is the point
    ):
        outcome = await run.call(name)
        assert (outcome.outcome, outcome.denial) == ("denied", Reason.TOOL_NOT_OFFERED), name
        assert outcome.error_class is ErrorClass.NOT_FOUND
    rows = AuditEvent.objects.filter(run_id=run.identity.run_id)
    subjects = await in_database(lambda: set(rows.values_list("subject_id", flat=True)))
    assert subjects == {"unknown"}


async def test_a_reused_id_of_ours_is_refused_and_ends_the_turn(
    run: Run, make_tool: MakeTool
) -> None:
    tool = Recorder()
    run.offer(make_tool(tool, parameters=FREE))
    first = ToolCall("run-1-0", 1, 0, "made_for_a_test", {"text": "a"})
    assert (await run.make(first)).outcome == "success"
    for again in (first, ToolCall("run-1-0", 1, 0, "made_for_a_test", {"text": "b"})):
        outcome = await run.make(again)
        assert outcome.denial is Reason.CALL_ID_REUSED
        assert outcome.ends_turn is Reason.CALL_ID_REUSED
    same_provider_id = [
        ToolCall(f"run-2-{n}", 2, n, "made_for_a_test", {}, provider_id="call_1") for n in range(2)
    ]
    for call in same_provider_id:
        assert (await run.make(call)).outcome == "success"
    assert len(tool.seen) == 3


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["\x00", "\ud800", "00000000-0000-0000-0000-000000000000", "markdown"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    [
        *("question", "query", "title", "kind", "content", "artifact_id", "expected_version"),
        *("lines", "markdown", "language", "first_line", "version", "member_id", "fence"),
    ]
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    name=st.sampled_from(["search_about", "read_artifact", "update_artifact", "tool_search"])
    | st.sampled_from(["conversation_history_search", "create_artifact", "show_chat_canvas"])
    | st.text(max_size=12),
    arguments=st.none() | st.dictionaries(FIELDS | st.text(max_size=6), ANYTHING, max_size=5),
)
async def test_any_call_at_all_ends_in_one_outcome(
    name: str, arguments: Json | None, run: Run
) -> None:
    outcome = await run.call(name, arguments)
    assert outcome.outcome in get_args(Outcome)
    assert outcome.ends_turn is None
    assert isinstance(json.loads(outcome.model_view), dict)
    foreign = Artifact.objects.filter(conversation_id=run.identity.conversation_id).exclude(
        owner=run.member
    )
    assert not await in_database(foreign.exists)
