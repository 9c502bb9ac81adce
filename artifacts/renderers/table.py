"""The native table: a bounded, typed projection that a page draws without judging values itself."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from audit.limits import limit

TABLE_ROWS = limit(
    "renderable.table_rows", 1_000, "count", "Rows a table in the artifact panel shows."
)
CELL_CHARACTERS = limit(
    "renderable.table_cell", 1_000, "characters", "Characters of one cell a table shows."
)
MIXED: Final = "mixed"
ORDER_OF_KINDS: Final = (bool, float, str)  # in a column without a type


def projected(data: dict[str, Any]) -> dict[str, Any]:
    """Columns, rows of scalars in the order of the columns, and how to sort them.

    `columns` are `{"key", "label", "type", "order"}`: `order` lists the shown rows' numbers, from
    0, in rising order of this column, empty cells last. `total` counts all rows, `cut` says that
    rows or texts were left out here; the saved JSON has everything.
    """
    rows = data["rows"][:TABLE_ROWS]
    columns = [_column(column, rows) for column in data["columns"]]
    cut = len(data["rows"]) > len(rows)
    cells: list[list[Any]] = []
    for row in rows:
        cells.append([_shown(row.get(column["key"])) for column in columns])
        cut = cut or any(_is_long(cell) for cell in row.values())
    return {"columns": columns, "rows": cells, "total": len(data["rows"]), "cut": cut}


def _column(column: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    key, of_type = column["key"], column.get("type", "")
    values = [row.get(key) for row in rows]
    if not of_type:
        of_type = _type_of(values)
    return {
        "key": key,
        "label": column["label"],
        "type": of_type,
        "order": _order(values, _compared(of_type)),
    }


def _type_of(values: list[Any]) -> str:
    """The one type of all cells, text where none has a value, else `mixed`."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) > 1:
        return MIXED
    return {bool: "boolean", float: "number", str: "text"}[kinds.pop() if kinds else str]


def _order(values: list[Any], compared: Callable[[Any], Any]) -> list[int]:
    filled = [number for number, value in enumerate(values) if value is not None]
    empty = [number for number, value in enumerate(values) if value is None]
    return [*sorted(filled, key=lambda number: compared(values[number])), *empty]


def _compared(of_type: str) -> Callable[[Any], Any]:
    """What a cell of a type is sorted by."""
    if of_type == "datetime":
        return datetime.fromisoformat
    if of_type == "text":
        return _text
    if of_type == MIXED:
        return _mixed
    return lambda value: value


def _text(value: str) -> tuple[str, str]:
    """Letters of either case together, and always in the same order."""
    return value.casefold(), value


def _mixed(value: Any) -> tuple[int, Any]:
    kind = _kind(value)
    return ORDER_OF_KINDS.index(kind), _text(value) if kind is str else value


def _kind(value: Any) -> type:
    if isinstance(value, bool):
        return bool
    return float if isinstance(value, int | float) else str


def _shown(cell: Any) -> Any:
    return f"{cell[:CELL_CHARACTERS]}…" if _is_long(cell) else cell


def _is_long(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) > CELL_CHARACTERS
