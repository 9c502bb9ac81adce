"""Questions compiled once and asked many times.

Composing a queryset costs the ORM about a millisecond each time, which adds up on the way to the
first token. A `Prepared` question composes it once, with marks where the values go, and keeps the
SQL. So a rule such as `usable_by` still stands in one place, its queryset.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import JSONField, Model, QuerySet

Row = TypeVar("Row")
Instance = TypeVar("Instance", bound=Model)

# Values no row has: recognised among a statement's parameters and replaced by the real ones.
INTEGER_MARK: Final = 8_070_450_532_247_928_832
UUID_MARK: Final = 0x6B61697A_656E_4000_8000_6D61726B0000
TEXT_MARK: Final = "\N{OBJECT REPLACEMENT CHARACTER}mark"

Mark = int | UUID | str
Placed = TypeVar("Placed", int, UUID, str)


class Person(NamedTuple):
    """Stands for a member while a question is composed. Ask such questions for active members
    only: for others the answer is nothing, and `pk` is all a composed question knows.
    """

    pk: int
    is_active: bool = True


class Marks:
    """Hands out marks by name; each name may stand in several places."""

    def __init__(self) -> None:
        self.names: dict[Mark, str] = {}

    def integer(self, name: str) -> int:
        """A mark for a whole number."""
        return self._new(INTEGER_MARK + len(self.names), name)

    def uuid(self, name: str) -> UUID:
        """A mark for a UUID."""
        return self._new(UUID(int=UUID_MARK + len(self.names)), name)

    def text(self, name: str) -> str:
        """A mark for text."""
        return self._new(f"{TEXT_MARK}{len(self.names)}", name)

    def person(self, name: str) -> Any:
        """A mark for a member: the value is the member's primary key."""
        return Person(self.integer(name))

    def _new(self, mark: Placed, name: str) -> Placed:
        self.names[mark] = name
        return mark


class Prepared(Generic[Row]):
    """A question with named values.

    `compose` gets `Marks` and returns a `values_list` queryset; `row` makes a row of its columns.
    Raises `ValueError` when a mark got lost while the queryset was compiled, since the question
    would then ignore that value.
    """

    def __init__(
        self,
        row: Callable[[tuple[Any, ...]], Row],
        compose: Callable[[Marks], QuerySet[Any, tuple[Any, ...]]],
    ) -> None:
        self._row = row
        self._compose = compose
        self._sql = ""
        self._parameters: tuple[Any, ...] = ()
        self._names: dict[Mark, str] = {}

    def rows(self, **values: Any) -> list[Row]:
        """All rows for the named values."""
        if not self._sql:
            self._compile()
        names = self._names
        parameters = [
            values[names[each]] if _is_mark(each) and each in names else each
            for each in self._parameters
        ]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, parameters)
            return [self._row(row) for row in cursor.fetchall()]

    def first(self, **values: Any) -> Row | None:
        """The first row, None without any."""
        rows = self.rows(**values)
        return rows[0] if rows else None

    def _compile(self) -> None:
        marks = Marks()
        query = self._compose(marks).query
        sql, parameters = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        placed = {
            marks.names[each] for each in parameters if _is_mark(each) and each in marks.names
        }
        lost = set(marks.names.values()) - placed
        if lost:
            raise ValueError(f"values lost in the question: {sorted(lost)}")
        self._names, self._parameters = marks.names, tuple(parameters)
        self._sql = sql


def instances(
    model: type[Instance], compose: Callable[[Marks], QuerySet[Any]]
) -> Prepared[Instance]:
    """A question answered with whole instances of a model, all columns loaded."""

    def build(row: tuple[Any, ...]) -> Instance:
        fields = model._meta.concrete_fields
        values = [
            orjson.loads(value) if isinstance(field, JSONField) and value is not None else value
            for field, value in zip(fields, row, strict=True)
        ]
        return model.from_db(DEFAULT_DB_ALIAS, [field.attname for field in fields], values)

    def columns(marks: Marks) -> QuerySet[Any, tuple[Any, ...]]:
        names = [field.attname for field in model._meta.concrete_fields]
        return compose(marks).values_list(*names)

    return Prepared(build, columns)


def _is_mark(value: Any) -> bool:
    """Lists and JSON among the parameters cannot be looked up."""
    return isinstance(value, int | UUID | str)
