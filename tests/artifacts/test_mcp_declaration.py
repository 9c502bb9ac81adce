"""What an MCP tool's result declares: one envelope, selected by a pointer, or a counted failure."""

import json
from typing import Any

import pytest

from artifacts.renderable import declaration
from artifacts.renderable.declaration import DECLARATION
from tests.artifacts.envelopes import Json, ferries
from tools.boundary.contract import ArtifactOutput


def result(declared: Any, **parts: Any) -> Json:
    """A tool's result as it comes over the wire."""
    whole = {
        "content": [{"type": "text", "text": "Three ferries."}],
        "structuredContent": {"artifact": ferries(), "count": 3},
        "_meta": {DECLARATION: declared},
        "isError": False,
        **parts,
    }
    return json.loads(json.dumps(whole))  # type: ignore[no-any-return]  # a copy


@pytest.mark.req("REN-017", "REN-020")
def test_the_pointer_selects_the_whole_envelope_which_is_then_gone() -> None:
    wire = result({"version": 2, "source": "/structuredContent/artifact"})
    untouched = json.dumps(wire)
    declared = declaration.read(wire)
    assert declared.outputs == (ArtifactOutput(ferries()),)
    assert declared.result == {
        "content": [{"type": "text", "text": "Three ferries."}],
        "structuredContent": {"count": 3},
        "isError": False,
    }
    assert json.dumps(wire) == untouched


@pytest.mark.req("REN-017")
@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("/structuredContent", ferries()),
        ("/structuredContent/0", [ferries(), "rest"]),
        ("/structuredContent/10", [*range(10), ferries()]),
        ("/structuredContent/a~1b/m~0n", {"a/b": {"m~n": ferries()}}),
        ("/structuredContent/~01", {"~1": ferries()}),
        ("/structuredContent//", {"": {"": ferries()}}),
        ("/structuredContent/0", {"0": ferries()}),
    ],
)
def test_pointers_are_read_as_their_standard_says(source: str, content: Any) -> None:
    wire = result({"version": 2, "source": source}, structuredContent=content)
    declared = declaration.read(wire)
    assert declared.outputs == (ArtifactOutput(ferries()),)
    assert "harbour.departures" not in json.dumps(declared.result)


@pytest.mark.req("REN-017", "REN-019")
@pytest.mark.parametrize(
    "declared",
    [
        None,
        True,
        "/structuredContent/artifact",
        [],
        [{"version": 2, "source": "/structuredContent/artifact"}],
        {},
        {"version": 2},
        {"source": "/structuredContent/artifact"},
        *({"version": version, "source": "/structuredContent"} for version in (1, 3, "2", True)),
        {"version": 2, "source": "/structuredContent/artifact", "kind": "code"},
        *({"version": 2, "source": source} for source in ("", "structuredContent/artifact", 7)),
        *({"version": 2, "source": source} for source in ("#/structuredContent", "/", "/missing")),
        *(
            {"version": 2, "source": source}
            for source in ("/content/01", "/content/-", "/content/9")
        ),
        {"version": 2, "source": "/structuredContent/~2"},
        {"version": 2, "source": "/structuredContent/artifact/~"},
        {"version": 2, "source": "/_meta/io.kamiwaza~1artifact"},
        {"version": 2, "source": "https://example.test/envelope.json"},
    ],
    ids=repr,
)
def test_a_declaration_that_leads_nowhere_is_one_output_without_an_envelope(declared: Any) -> None:
    read = declaration.read(result(declared))
    assert read.outputs == (ArtifactOutput(None),)
    assert DECLARATION not in json.dumps(read.result)


@pytest.mark.req("REN-017")
def test_what_is_selected_is_not_judged_here() -> None:
    for source, selected in (("/content/0/text", "Three ferries."), ("/isError", False)):
        read = declaration.read(result({"version": 2, "source": source}))
        assert read.outputs == (ArtifactOutput(selected),)


@pytest.mark.req("REN-017", "REN-020")
def test_a_failed_result_declares_nothing_and_is_still_cleared() -> None:
    wire = result({"version": 2, "source": "/structuredContent/artifact"}, isError=True)
    read = declaration.read(wire)
    assert read.outputs == ()
    assert read.result["structuredContent"] == {"count": 3}
    assert "_meta" not in read.result


def test_a_result_without_a_declaration_stays_as_it_is() -> None:
    for meta in ({"other": 1}, {}, None, "text"):
        wire = {"content": [], "_meta": meta}
        assert declaration.read(wire) == ((), wire)
    assert declaration.read({"content": []}) == ((), {"content": []})
    both = result({"version": 2, "source": "/structuredContent/artifact"})
    both["_meta"]["progressToken"] = "p1"
    assert declaration.read(both).result["_meta"] == {"progressToken": "p1"}
