"""Statements compiled once and run many times, and sent together where none needs another's answer.

Composing a queryset costs the ORM about a millisecond each time, which adds up on the way to the
first token. A prepared statement composes it once, with marks where the values go, and keeps the
SQL. So a rule such as `usable_by` still stands in one place, its queryset.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import AutoField, JSONField, Model, QuerySet
from django.db.models.sql import UpdateQuery

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
        self.looked_up: dict[Mark, str] = {}

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

    def person_of(self, lookup: str, name: str) -> Any:
        """A mark for the member that `lookup` finds: SQL for one number, of one named value."""
        mark = self.integer(name)
        self.looked_up[mark] = lookup
        return Person(mark)

    def _new(self, mark: Placed, name: str) -> Placed:
        self.names[mark] = name
        return mark


@contextmanager
def together() -> Iterator[None]:
    """Send the statements inside without waiting for one another's answers.

    An answer is waited for where it is read, a statement's fault is raised at the next read or at
    the end. Stands inside a transaction: after a fault only its end makes the connection usable.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


class Statement:
    """SQL made once by `compose`, which gets `Marks`, with the values of each run put in.

    Raises `ValueError` when a mark got lost while it was compiled, since the statement would
    then ignore that value.
    """

    def __init__(self, compose: Callable[[Marks], tuple[str, tuple[Any, ...]]]) -> None:
        self._compose = compose
        self._sql = ""
        self._parameters: tuple[Any, ...] = ()
        self._names: dict[Mark, str] = {}

    def execute(self, values: dict[str, Any]) -> Any:
        """Run it with the named values; answers with the open cursor."""
        if not self._sql:
            self._compile()
        names = self._names
        parameters = [
            values[names[each]] if _is_mark(each) and each in names else each
            for each in self._parameters
        ]
        cursor = connection.cursor()
        try:
            cursor.execute(self._sql, parameters)
        except BaseException:
            cursor.close()
            raise
        return cursor

    def _compile(self) -> None:
        marks = Marks()
        sql, parameters = self._compose(marks)
        placed = {
            marks.names[each] for each in parameters if _is_mark(each) and each in marks.names
        }
        lost = set(marks.names.values()) - placed
        if lost:
            raise ValueError(f"values lost in the statement: {sorted(lost)}")
        self._names, self._parameters = marks.names, parameters
        pieces = sql.split("%s")
        slots = [marks.looked_up.get(each, "%s") if _is_mark(each) else "%s" for each in parameters]
        self._sql = "".join(map("".join, zip(pieces, [*slots, ""], strict=True)))


class Asked(Generic[Row]):
    """A question under way; read its answer once."""

    def __init__(self, cursor: Any, row: Callable[[tuple[Any, ...]], Row]) -> None:
        self._cursor = cursor
        self._row = row

    def rows(self) -> list[Row]:
        """All rows of the answer."""
        with self._cursor as cursor:
            return [self._row(row) for row in cursor.fetchall()]

    def first(self) -> Row | None:
        """The first row, None without any."""
        rows = self.rows()
        return rows[0] if rows else None


class Prepared(Generic[Row]):
    """A question with named values.

    `compose` returns a `values_list` queryset; `row` makes a row of its columns.
    """

    def __init__(
        self,
        row: Callable[[tuple[Any, ...]], Row],
        compose: Callable[[Marks], QuerySet[Any, tuple[Any, ...]]],
    ) -> None:
        self._row = row
        self._statement = Statement(lambda marks: _sql(compose(marks).query))

    def ask(self, **values: Any) -> Asked[Row]:
        """Ask for the named values; the answer is read later."""
        return Asked(self._statement.execute(values), self._row)

    def rows(self, **values: Any) -> list[Row]:
        """All rows for the named values."""
        return self.ask(**values).rows()

    def first(self, **values: Any) -> Row | None:
        """The first row, None without any."""
        return self.ask(**values).first()


class Change:
    """An update with named values: `compose` returns the rows and what their fields become."""

    def __init__(self, compose: Callable[[Marks], tuple[QuerySet[Any], dict[str, Any]]]) -> None:
        def update(marks: Marks) -> tuple[str, tuple[Any, ...]]:
            rows, fields = compose(marks)
            query = rows.query.chain(UpdateQuery)
            query.add_update_values(fields)  # type: ignore[attr-defined]  # chain gave its class
            return _sql(query)

        self._statement = Statement(update)

    def make(self, **values: Any) -> None:
        """Change the rows for the named values."""
        self._statement.execute(values).close()


class Insertion(Generic[Instance]):
    """Inserts of one model's rows. What only the database has a default for is left to it, and so
    are numbers it counts up by itself.
    """

    def __init__(self, model: type[Instance]) -> None:
        self._fields = [
            field
            for field in model._meta.local_concrete_fields
            if (field.has_default() or not field.has_db_default())
            and not isinstance(field, AutoField)
        ]
        quoted = connection.ops.quote_name
        columns = ", ".join(quoted(str(field.column)) for field in self._fields)
        slots = ", ".join(["%s"] * len(self._fields))
        self._sql = f"INSERT INTO {quoted(model._meta.db_table)} ({columns}) VALUES ({slots})"

    def add(self, instance: Instance) -> None:
        """Write the row of a new instance."""
        values = [
            field.get_db_prep_save(field.pre_save(instance, True), connection)
            for field in self._fields
        ]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, values)


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


def _sql(query: Any) -> tuple[str, tuple[Any, ...]]:
    sql, parameters = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
    return sql, tuple(parameters)


def _is_mark(value: Any) -> bool:
    """Lists and JSON among the parameters cannot be looked up."""
    return isinstance(value, int | UUID | str)
