"""What is journaled stays: by trigger, by privilege, by constraint."""

from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction

from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import TERMINALS, Kind
from agents.journal.models import Entry

CHANGES = [
    "UPDATE journal_entry SET data = '{}'",
    "UPDATE journal_entry SET position = position + 1",
    "DELETE FROM journal_entry",
    "TRUNCATE journal_entry",
]


@pytest.fixture
def stream() -> UUID:
    stream_id = uuid4()
    open_stream(stream_id)
    append(stream_id, [Draft(Kind.NOTICE, {"message": "kept"})])
    return stream_id


@pytest.mark.django_db
@pytest.mark.parametrize("statement", CHANGES)
def test_the_runtime_role_may_not_change_entries(stream: UUID, statement: str) -> None:
    refusal = pytest.raises(ProgrammingError, match="permission denied")
    with connection.cursor() as cursor, refusal, transaction.atomic():
        cursor.execute(statement)


@pytest.mark.django_db(databases=["default", "owner"])
@pytest.mark.parametrize("statement", CHANGES)
def test_even_the_owner_meets_the_triggers(statement: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        stream_id = uuid4()  # a row of this transaction, so that row triggers meet one
        cursor.execute("INSERT INTO journal_stream (id, head) VALUES (%s, 1)", [stream_id])
        cursor.execute(
            "INSERT INTO journal_entry (stream_id, position, kind, data)"
            " VALUES (%s, 1, 'notice', '{}')",
            [stream_id],
        )
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(using="owner"),
        ):
            cursor.execute(statement)


@pytest.mark.django_db
def test_a_stream_with_entries_cannot_be_removed(stream: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError), transaction.atomic():
            cursor.execute("DELETE FROM journal_stream WHERE id = %s", [stream])


@pytest.mark.django_db
def test_the_orm_has_no_way_round(stream: UUID) -> None:
    entry = Entry.objects.get(stream_id=stream)
    entry.data = {"message": "changed"}
    for change in (entry.save, entry.delete, Entry.objects.all().delete):
        with pytest.raises((ProgrammingError, IntegrityError)), transaction.atomic():
            change()
    assert Entry.objects.get(stream_id=stream).data == {"message": "kept"}


@pytest.mark.django_db
@pytest.mark.req("ENG-020")
@pytest.mark.parametrize("first", TERMINALS)
def test_the_database_allows_one_terminal_a_run(stream: UUID, first: Kind) -> None:
    run_id = uuid4()
    append(stream, [Draft(first, {})], run_id=run_id)
    for second in TERMINALS:
        with pytest.raises(IntegrityError, match="one_terminal_per_run"), transaction.atomic():
            append(stream, [Draft(second, {})], run_id=run_id)
    append(stream, [Draft(first, {})], run_id=uuid4())


@pytest.mark.django_db
def test_a_position_is_given_once(stream: UUID) -> None:
    with pytest.raises(IntegrityError, match="one_entry_per_position"), transaction.atomic():
        Entry.objects.create(stream_id=stream, position=1, kind=Kind.NOTICE, data={})


@pytest.mark.django_db
def test_kinds_outside_the_contract_are_refused_by_the_database(stream: UUID) -> None:
    with pytest.raises(IntegrityError, match="entry_kind_is_known"), transaction.atomic():
        Entry.objects.create(stream_id=stream, position=2, kind="rumour", data={})


def test_the_kinds_are_those_of_the_public_contract() -> None:
    assert len(Kind) == 27
    assert set(TERMINALS) == {kind for kind in Kind.values if is_end(kind)}


def is_end(kind: str) -> bool:
    return kind.startswith("agent_run_") and kind.rpartition("_")[2] in {
        "completed",
        "salvaged",
        "failed",
        "cancelled",
    }
