"""What the runtime role may do is derived from the tables, and it owns nothing."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import Error, IntegrityError, ProgrammingError, connections, migrations, transaction
from django.db.migrations.state import ProjectState

from audit import grants
from audit.append_only import RefuseChange


@pytest.fixture
def note(committed_db: None) -> Iterator[None]:
    """A table of the owner's with one row, gone again afterwards."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE note (id bigint PRIMARY KEY, body text, retired boolean)")
        cursor.execute("INSERT INTO note VALUES (1, 'first', false)")
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE note; DROP FUNCTION IF EXISTS refuse_change_note()")
    connections["owner"].close()


def apply(operation: migrations.operations.base.Operation, *, backwards: bool = False) -> None:
    state = ProjectState()
    with connections["owner"].schema_editor() as editor:
        move = operation.database_backwards if backwards else operation.database_forwards
        move("audit", editor, state, state)
    grants.apply(role=settings.RUNTIME_ROLE, using="owner")


def run(statement: str, using: str) -> None:
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.usefixtures("db")
def test_the_runtime_role_owns_nothing_and_may_create_nothing() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
            " UNION ALL SELECT count(*) FROM pg_proc WHERE proowner = current_user::regrole"
        )
        assert cursor.fetchall() == [(0,), (0,)]
        cursor.execute("SELECT has_schema_privilege(current_schema(), 'CREATE')")
        assert cursor.fetchone() == (False,)


@pytest.mark.usefixtures("db")
def test_the_runtime_role_may_not_truncate_any_table() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
            " AND relkind = 'r' AND has_table_privilege(oid, 'TRUNCATE, REFERENCES, TRIGGER')"
        )
        assert cursor.fetchall() == []


@pytest.mark.usefixtures("db")
def test_the_runtime_role_may_not_change_any_append_only_table() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, has_table_privilege(c.oid, 'UPDATE'),"
            " has_table_privilege(c.oid, 'DELETE') FROM pg_class c"
            " JOIN pg_trigger t ON t.tgrelid = c.oid"
            " WHERE t.tgname = 'refuse_bulk_change' ORDER BY c.relname"
        )
        rows = cursor.fetchall()
    assert {"audit_event", "audit_anchor", "journal_entry"} <= {table for table, *_ in rows}
    assert all(not update and not delete for _, update, delete in rows)


@pytest.mark.usefixtures("note")
def test_an_append_only_table_takes_rows_and_keeps_them() -> None:
    apply(RefuseChange("note"))
    run("INSERT INTO note VALUES (2, 'second', false)", "default")
    for statement in ("UPDATE note SET body = ''", "DELETE FROM note", "TRUNCATE note"):
        with pytest.raises(ProgrammingError, match="permission denied"):
            run(statement, "default")
        with pytest.raises(IntegrityError, match="append-only"):
            run(statement, "owner")


@pytest.mark.usefixtures("note")
def test_only_the_named_columns_may_change() -> None:
    apply(RefuseChange("note", allow_update_of=["retired"]))
    for using in ("default", "owner"):
        run("UPDATE note SET retired = true", using)
        for statement in (
            "UPDATE note SET body = 'other'",
            "UPDATE note SET retired = false, body = 'other'",
            "DELETE FROM note",
        ):
            with pytest.raises(Error):
                run(statement, using)


@pytest.mark.usefixtures("note")
def test_the_refusal_can_be_taken_away_again() -> None:
    for _ in range(2):
        apply(RefuseChange("note"))
        apply(RefuseChange("note"), backwards=True)
    run("UPDATE note SET body = 'other'", "default")
    run("DELETE FROM note", "default")


def test_the_operation_can_be_written_into_a_migration() -> None:
    assert RefuseChange("note").deconstruct() == ("RefuseChange", ["note"], {})
    assert RefuseChange("note", allow_update_of=("retired",)).deconstruct() == (
        "RefuseChange",
        ["note"],
        {"allow_update_of": ["retired"]},
    )
    assert RefuseChange("note").describe() == "Refuse change of rows in note"


@pytest.mark.usefixtures("note")
def test_a_session_posing_as_a_replica_meets_the_triggers() -> None:
    apply(RefuseChange("note"))
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'note'::regclass ORDER BY 1"
        )
        # "A" is always; the default "O" would stay silent for a replica.
        assert cursor.fetchall() == [("refuse_bulk_change", "A"), ("refuse_row_change", "A")]
