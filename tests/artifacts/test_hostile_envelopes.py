"""Whatever a producer declares is an envelope that can be shown, or is refused by name."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifacts.renderable import declaration
from artifacts.renderable.declaration import DECLARATION
from artifacts.renderable.envelope import UnfitEnvelope, filename, normalise
from artifacts.renderers import view
from tests.artifacts.envelopes import Json, ferries, referring

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["table", "banner", "ship", "2026-03-01", "2026-02-30T25:61:00Z", "\ud800"]),
    st.binary(max_size=4),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=8), st.integers()), inner, max_size=4),
        st.tuples(inner),
    ),
    max_leaves=12,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a JSON value, the root included."""
    found = [path]
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        found += places(value[key], (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """A copy with another value at a place."""
    if not path:
        return by
    if isinstance(value, list):
        return [
            replaced(one, path[1:], by) if at == path[0] else one for at, one in enumerate(value)
        ]
    return {**value, path[0]: replaced(value[path[0]], path[1:], by)}


def judged(candidate: Any) -> None:
    """The candidate is accepted, and then the same again and fit to be shown, or is unfit."""
    with suppress(UnfitEnvelope):
        accepted = normalise(candidate)
        assert normalise(accepted.value).text == accepted.text
        assert view.of(accepted.text)["shows"] in {"table", "text"}
        assert filename(accepted.text).endswith(".json")


@pytest.mark.req("REN-003")
@settings(deadline=None)
@given(VALUES)
def test_any_value_is_judged(candidate: Any) -> None:
    judged(candidate)


@pytest.mark.req("REN-003")
@settings(deadline=None)
@given(st.data())
def test_an_envelope_with_anything_in_any_place_is_judged(data: Any) -> None:
    whole = data.draw(st.sampled_from([ferries(), referring(version=1)]))
    path = data.draw(st.sampled_from(places(whole)))
    judged(replaced(whole, path, data.draw(VALUES)))


@pytest.mark.req("REN-017", "REN-019")
@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["_meta", "content", "isError", "x"]), VALUES), VALUES)
def test_any_declaration_is_one_output_or_none(result: Json, declared: Any) -> None:
    assert len(declaration.read(result).outputs) <= 1
    read = declaration.read({**result, "isError": False, "_meta": {DECLARATION: declared}})
    assert len(read.outputs) == 1
    assert "_meta" not in read.result


@pytest.mark.req("REN-017")
@settings(deadline=None)
@given(st.text(alphabet="/~01ax-", max_size=12))
def test_any_pointer_selects_one_part_or_nothing(source: str) -> None:
    result = {"a": [ferries(), {"": 1}], "x~": {"/": 2}, "0": {"1": 3}}
    wire = {**result, "_meta": {DECLARATION: {"version": 2, "source": source}}}
    (output,) = declaration.read(wire).outputs
    assert output.envelope is None or any(output.envelope == part for part in _parts(result))


def _parts(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(part for one in inner for part in _parts(one))]
