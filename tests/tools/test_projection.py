"""What leaves a tool: bounded, readable, without credentials."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tools.boundary import projection
from tools.boundary.contract import Canvas, Presentation, ToolDescriptor, ToolResult
from tools.boundary.redaction import readable

MakeTool = Callable[..., ToolDescriptor]
LIMIT = 32_768


@pytest.mark.req("TOOL-003")
def test_a_large_result_is_cut_to_what_a_model_may_read_and_says_so(make_tool: MakeTool) -> None:
    for payload in (
        {"text": "x" * 500_000, "id": "kept"},
        {"text": '\n"é漢' * 60_000, "id": "kept"},
        {"rows": [{"n": n, "text": "y" * 300} for n in range(2_000)], "id": "kept"},
        {"texts": ["z" * 40_000, "short", "w" * 40_000], "id": "kept"},
    ):
        view = projection.for_model(make_tool(), ToolResult("success", payload))
        assert LIMIT * 0.9 < len(view.encode()) <= LIMIT
        read = json.loads(view)
        assert (read["cut"], read["id"], read["outcome"]) == (True, "kept", "success")


def test_a_result_that_cannot_be_cut_is_replaced_by_a_sentence() -> None:
    wide: dict[str, Any] = {f"key_{n}": n for n in range(10_000)}
    view = projection.bounded(wide, LIMIT)
    assert view == '{"cut":true,"message":"The result is too large to be shown."}'


def test_a_small_result_is_left_as_it_is_in_canonical_form(make_tool: MakeTool) -> None:
    result = ToolResult("success", {"b": 1, "a": ["ü", None, 0.5]})
    assert projection.for_model(make_tool(), result) == (
        '{"a":["ü",null,0.5],"b":1,"outcome":"success"}'
    )


@pytest.mark.req("TOOL-004")
def test_credentials_are_masked_wherever_they_stand(make_tool: MakeTool, settings: Any) -> None:
    settings.SECRETS = {"KAIZEN_SECRET_MODEL": "plain-words-secret"}
    settings.METRICS_TOKEN = "metrics-token-value"
    for text in (
        "the key is plain-words-secret.",
        "metrics-token-value",
        settings.SECRET_KEY,
        "sk-abcdefghijklmnopqrstuvwx",
        "ghp_" + "a1" * 18,
        "kz_" + "Zx9" * 12,
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-123_x",
        "Authorization: Bearer abcdef0123456789abcdef",
        "postgresql://kaizen:longpassword@db/kaizen",
        "https://files.example/x?X-Amz-Signature=0123456789abcdef&y=1",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ):
        result = ToolResult("success", {"deep": [{"note": f"before {text} after"}]})
        view = projection.for_model(make_tool(), result)
        assert "[redacted]" in view
        assert "before" in view
        for secret in ("plain-words", "metrics-token", "longpassword", "0123456789abcdef", "MIIE"):
            assert secret not in view
        assert json.dumps(text)[1:-1] not in view


def test_a_credential_at_the_edge_of_a_cut_is_not_shown_in_part(make_tool: MakeTool) -> None:
    for room in range(32_600, 32_800, 7):
        text = "x" * (room - 20) + " sk-abcdefghijklmnopqrstuvwxyz " + "y" * 60_000
        view = projection.for_model(make_tool(), ToolResult("success", {"text": text}))
        assert "sk-" not in view


def test_ordinary_text_survives_redaction() -> None:
    for text in (
        "password: choose a long one",
        "def key(token): return token.api_key",
        "the bearer of this letter",
        "sk-1",
        "http://localhost:8000/path?sig=short",
        "tabs\tand\nnewlines stay",
    ):
        assert readable(text) == text


def test_characters_that_hide_or_reorder_text_are_taken_out() -> None:
    assert readable("a\x00b\x1b[31mc\u202ed\x9be\r\nf\rg\ud800h") == "ab[31mcde\nf\ngh"


@pytest.mark.req("TOOL-024", "TOOL-025")
def test_people_and_model_get_different_views(make_tool: MakeTool) -> None:
    tool = make_tool(project_for_member=lambda result: {"message": "Done.\x07", "id": "a-1"})
    result = ToolResult("success", {"stdout": "42", "diagnostics": ["warning"]})
    assert json.loads(projection.for_model(tool, result)) == {
        "outcome": "success",
        "stdout": "42",
        "diagnostics": ["warning"],
    }
    assert projection.for_member(tool, result) == {"message": "Done.", "id": "a-1"}


def test_the_view_for_people_is_bounded_too(make_tool: MakeTool) -> None:
    tool = make_tool(project_for_member=lambda result: {"message": "m" * 50_000})
    view = projection.for_member(tool, ToolResult("success", {}))
    assert len(json.dumps(view)) < 8_400
    assert view["cut"] is True


def test_a_card_shows_arguments_cleaned_and_bounded() -> None:
    arguments = {"title": "Plan\x1b", "content": "key sk-abcdefghijklmnopqrstuvwx " + "c" * 90_000}
    shown = projection.shown_arguments(arguments)
    assert shown["title"] == "Plan"
    assert shown["content"].startswith("key [redacted] ccc")
    assert (shown["cut"], len(json.dumps(shown)) < 8_400) == (True, True)
    assert projection.shown_arguments(None) == {}


def test_frames_and_sources_are_cleaned() -> None:
    result = ToolResult(
        "success",
        {},
        presentation=(Presentation("artifact_saved", {"title": "c\x00d"}),),
        chat_canvas_outputs=(Canvas("t\x1b", "a\x00b"),),
        sources=tuple({"id": f"s\x00{n}"} for n in range(80)),
    )
    assert projection.frames(result) == (
        Presentation("canvas", {"title": "t", "markdown": "ab"}),
        Presentation("artifact_saved", {"title": "cd"}),
    )
    assert projection.sources(result)[:1] == ({"id": "s0"},)
    assert len(projection.sources(result)) == 50
