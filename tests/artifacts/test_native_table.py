"""What people see of an envelope: the native table, or the producer's text."""

import json
from typing import Any

import pytest

from artifacts.renderable.envelope import normalise
from artifacts.renderers import view
from artifacts.renderers.table import CELL_CHARACTERS, TABLE_ROWS
from tests.artifacts.envelopes import Json, ferries, payload, referring


def shown(candidate: Json) -> Json:
    return view.of(normalise(candidate).text)


def column(of: Json, key: str) -> Json:
    (found,) = (one for one in of["table"]["columns"] if one["key"] == key)
    return found


def sorted_cells(cells: list[Any], of_type: str = "") -> list[Any]:
    """The cells in the rising order of their column."""
    typed = {"type": of_type} if of_type else {}
    data = {
        "columns": [{"key": "cell", "label": "Cell", **typed}],
        "rows": [{"cell": cell} for cell in cells],
    }
    table = shown(ferries(payload={"type": "x", "data": data}))["table"]
    return [table["rows"][number][0] for number in table["columns"][0]["order"]]


@pytest.mark.req("REN-023")
def test_the_native_table_has_typed_columns_and_whole_rows() -> None:
    seen = shown(ferries())
    assert (seen["renderer"], seen["shows"]) == ("table", "table")
    assert [(one["key"], one["label"], one["type"]) for one in seen["table"]["columns"]] == [
        ("ship", "Ship", "text"),
        ("leaves", "Leaves", "datetime"),
        ("cars", "Cars", "number"),
        ("on_time", "On time", "boolean"),
        ("day", "Day", "date"),
        ("note", "Note", "text"),
    ]
    assert seen["table"]["rows"] == [
        ["Otter", "2026-03-01T08:00:00+01:00", 12, True, None, None],
        ["alba", "2026-03-01T06:30:00Z", 2.5, None, "2026-03-01", None],
        ["Berta", None, 100, False, None, "in dock"],
    ]
    assert (seen["table"]["total"], seen["table"]["cut"]) == (3, False)


@pytest.mark.req("REN-023")
def test_columns_are_sorted_by_what_their_cells_mean() -> None:
    seen = shown(ferries())
    assert column(seen, "ship")["order"] == [1, 2, 0]  # case does not matter
    assert column(seen, "leaves")["order"] == [1, 0, 2]  # 06:30 in UTC is before 07:00
    assert column(seen, "cars")["order"] == [1, 0, 2]  # 2.5, 12, 100
    assert column(seen, "on_time")["order"] == [2, 0, 1]
    assert column(seen, "day")["order"] == [1, 0, 2]
    assert sorted_cells([10, 9, None, -1.5], "number") == [-1.5, 9, 10, None]
    assert sorted_cells(["b", "B", "a", None, "A"]) == ["A", "a", "B", "b", None]
    assert sorted_cells([2, "x", True, None, 1]) == [True, 1, 2, "x", None]
    assert sorted_cells([None, None]) == [None, None]
    ends = ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z"]
    assert sorted_cells(ends, "datetime") == [ends[1], ends[2], ends[0]]
    # rows that are equal keep their order
    assert column(shown(ferries()), "note")["order"] == [2, 0, 1]


@pytest.mark.req("REN-023")
def test_a_column_without_a_type_has_the_one_of_its_cells() -> None:
    def type_of(*cells: Any) -> str:
        data = {
            "columns": [{"key": "cell", "label": "Cell"}],
            "rows": [{"cell": cell} for cell in cells],
        }
        seen = shown(ferries(payload={"type": "x", "data": data}))
        return str(seen["table"]["columns"][0]["type"])

    assert type_of(1, 2.5, None) == "number"
    assert type_of(True, False) == "boolean"
    assert type_of("x") == type_of() == type_of(None) == "text"
    assert type_of("x", 1) == type_of(True, 1) == "mixed"


@pytest.mark.req("REN-023")
def test_a_large_table_is_cut_and_says_so() -> None:
    rows = [{"cell": number} for number in range(TABLE_ROWS + 1)]
    columns = [{"key": "cell", "label": "Cell"}]

    def table(of: list[Json]) -> Json:
        data = {"columns": columns, "rows": of}
        return dict(shown(ferries(payload={"type": "x", "data": data}))["table"])

    whole, cut = table(rows[:-1]), table(rows)
    assert (len(whole["rows"]), whole["total"], whole["cut"]) == (TABLE_ROWS, TABLE_ROWS, False)
    assert (len(cut["rows"]), cut["total"], cut["cut"]) == (TABLE_ROWS, TABLE_ROWS + 1, True)
    assert sorted(cut["columns"][0]["order"]) == list(range(TABLE_ROWS))

    fits, long = table([{"cell": "x" * CELL_CHARACTERS}]), table([{"cell": "x" * 1_500}])
    assert (fits["rows"][0][0], fits["cut"]) == ("x" * CELL_CHARACTERS, False)
    assert (long["rows"][0][0], long["cut"]) == ("x" * CELL_CHARACTERS + "…", True)


@pytest.mark.req("REN-023")
@pytest.mark.parametrize("name", ["chart", "harbour.map", "tables", "table2", "table.v1"])
def test_no_other_renderer_draws(name: str) -> None:
    seen = shown(ferries(renderer={"type": name}))
    assert (seen["renderer"], seen["shows"], seen["table"]) == (name, "text", None)
    assert seen["text"] == "Three ferries.\nOtter leaves at 8."
    assert shown(payload({"any": ["thing"]}))["shows"] == "text"


@pytest.mark.req("REN-010")
def test_a_reference_shows_the_text_and_stays_as_it_is() -> None:
    seen = shown(referring(version=4))
    assert (seen["renderer"], seen["shows"], seen["table"]) == ("table", "text", None)
    assert seen["text"] == "Three ferries.\nOtter leaves at 8."
    assert seen["result_ref"] == referring(version=4)["payload"]["result_ref"]
    assert shown(ferries())["result_ref"] is None


@pytest.mark.req("REN-011")
def test_markings_are_shown_as_they_came() -> None:
    seen = shown(ferries())
    assert seen["banner"] == ["INTERNAL"]
    assert seen["markings"] == [
        {"portion": "banner", "marking": "INTERNAL"},
        {"portion": "rows", "marking": "INTERNAL // CREW"},
    ]
    seen = shown(ferries(security={"markings": ["INTERNAL", "CREW"]}))
    assert seen["banner"] == ["INTERNAL", "CREW"]
    assert seen["markings"] == [
        {"portion": None, "marking": "INTERNAL"},
        {"portion": None, "marking": "CREW"},
    ]
    # no portion is raised to the banner of the whole
    assert shown(ferries(security={"markings": {"rows": "CREW"}}))["banner"] == []


def test_a_view_is_plain_json() -> None:
    for candidate in (ferries(), referring(), payload([1, None])):
        seen = shown(candidate)
        assert json.loads(json.dumps(seen, allow_nan=False)) == seen
