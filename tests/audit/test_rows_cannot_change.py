"""Audit rows cannot be changed or removed: not by the runtime role, and by the owner only after
taking the triggers away.
"""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from django.db import Error, IntegrityError, connections, models, transaction
from django.db.models import F

from audit import anchors, funnel
from audit.models import Anchor, AuditEvent, ChainHead
from audit.reasons import Action, Outcome

STATEMENTS = [
    "UPDATE audit_event SET actor = 'member:somebody'",
    "UPDATE audit_event SET details = '{}' WHERE false",
    "UPDATE audit_event SET outcome = 'success' FROM audit_chain_head",
    "DELETE FROM audit_event",
    "DELETE FROM audit_event USING audit_chain_head",
    "DELETE FROM audit_anchor",
    "TRUNCATE audit_event",
    "TRUNCATE audit_event CASCADE",
    "TRUNCATE audit_event, audit_anchor RESTART IDENTITY",
    "WITH gone AS (DELETE FROM audit_event RETURNING id) SELECT count(*) FROM gone",
    "WITH changed AS (UPDATE audit_event SET actor = 'x' RETURNING id) SELECT * FROM changed",
    "INSERT INTO audit_event SELECT * FROM audit_event ON CONFLICT (id) DO UPDATE SET actor = 'x'",
    "MERGE INTO audit_event e USING audit_chain_head h ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO audit_event e USING audit_chain_head h ON true"
    " WHEN MATCHED THEN UPDATE SET actor = 'x'",
    "SELECT * FROM audit_event FOR UPDATE",
    "DO $$ BEGIN DELETE FROM audit_event; END $$",
    "CREATE FUNCTION pg_temp.gone() RETURNS void LANGUAGE sql AS 'DELETE FROM audit_event';"
    " SELECT pg_temp.gone()",
    "CREATE FUNCTION gone() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    "CREATE OR REPLACE FUNCTION refuse_change_audit_event() RETURNS trigger LANGUAGE plpgsql"
    " AS 'BEGIN RETURN OLD; END'",
    "CREATE TABLE child (event bigint REFERENCES audit_event ON DELETE CASCADE)",
    "CREATE RULE quiet AS ON INSERT TO audit_event DO INSTEAD NOTHING",
    "CREATE TRIGGER quiet BEFORE INSERT ON audit_event"
    " EXECUTE FUNCTION refuse_change_audit_event()",
    "DROP TRIGGER refuse_row_change ON audit_event",
    "ALTER TABLE audit_event DISABLE TRIGGER ALL",
    "ALTER TABLE audit_event DROP COLUMN details",
    "ALTER TABLE audit_event OWNER TO CURRENT_USER",
    "DROP TABLE audit_event",
    "DO $$ BEGIN EXECUTE format('SET ROLE %I', (SELECT tableowner FROM pg_tables"
    " WHERE tablename = 'audit_event')); END $$",
    "SET session_replication_role = replica",
    "DELETE FROM audit_chain_head",
    "INSERT INTO audit_chain_head VALUES (99, 0, '')",
]

ATTEMPTS: dict[str, Callable[[AuditEvent], object]] = {
    "save": lambda event: event.save(force_update=True),
    "save of one field": lambda event: event.save(update_fields=["actor"]),
    "delete": lambda event: event.delete(),
    "update": lambda event: AuditEvent.objects.update(actor="member:somebody"),
    "update by expression": lambda event: AuditEvent.objects.update(sequence=F("sequence") + 1),
    "delete of all": lambda event: AuditEvent.objects.all().delete(),
    "raw delete": lambda event: AuditEvent.objects.all()._raw_delete("default"),
    "update in bulk": lambda event: AuditEvent.objects.bulk_update([event], ["actor"]),
    "insert that updates": lambda event: AuditEvent.objects.bulk_create(
        [event], update_conflicts=True, unique_fields=["id"], update_fields=["actor"]
    ),
    "update or create": lambda event: AuditEvent.objects.update_or_create(
        id=event.id, defaults={"actor": "member:somebody"}
    ),
    "row lock": lambda event: list(AuditEvent.objects.select_for_update()),
    "delete of anchors": lambda event: Anchor.objects.all().delete(),
    "a new head": lambda event: ChainHead.objects.create(chain=99, hash=""),
}


@pytest.fixture
def event(db: None) -> AuditEvent:
    actor = f"member:{uuid4()}"
    funnel.record(action=Action.SIGN_IN, actor=actor, outcome=Outcome.SUCCESS)
    anchors.take()
    return AuditEvent.objects.get(actor=actor)


@pytest.fixture
def owner(committed_db: None) -> Iterator[AuditEvent]:
    """A row in a transaction of the owner, who may do everything but pass the triggers."""
    with transaction.atomic(using="owner"):
        actor = f"member:{uuid4()}"
        funnel.record(action=Action.SIGN_IN, actor=actor, outcome=Outcome.SUCCESS, using="owner")
        yield AuditEvent.objects.using("owner").get(actor=actor)
        transaction.set_rollback(True, using="owner")
    connections["owner"].close()


@pytest.mark.req("AUD-001")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_runtime_role_is_refused(event: AuditEvent, statement: str) -> None:
    with pytest.raises(Error), transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(statement)
    assert AuditEvent.objects.filter(id=event.id, hash=event.hash).exists()


@pytest.mark.req("AUD-001")
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_the_orm_is_refused(event: AuditEvent, attempt: Callable[[AuditEvent], object]) -> None:
    with pytest.raises(Error), transaction.atomic():
        attempt(event)
    assert AuditEvent.objects.filter(id=event.id, hash=event.hash).exists()


def test_the_lists_are_as_long_as_promised() -> None:
    assert len(STATEMENTS) >= 25
    assert len(ATTEMPTS) >= 10


@pytest.mark.req("AUD-001")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET actor = 'member:somebody'",
        "UPDATE audit_event SET actor = 'member:somebody' WHERE false",
        "DELETE FROM audit_event",
        "TRUNCATE audit_event",
        "INSERT INTO audit_event SELECT * FROM audit_event"
        " ON CONFLICT (id) DO UPDATE SET actor = ''",
        "MERGE INTO audit_event e USING audit_chain_head h ON true WHEN MATCHED THEN DELETE",
        "UPDATE audit_anchor SET heads = '[]'",
        "TRUNCATE audit_anchor",
    ],
)
def test_the_owner_meets_the_triggers(owner: AuditEvent, statement: str) -> None:
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(using="owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute(statement)


def test_a_cascade_of_the_owner_meets_the_triggers(owner: AuditEvent) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE parent (id bigint PRIMARY KEY)")
        cursor.execute("INSERT INTO parent VALUES (%s)", [owner.id])
        cursor.execute(
            "ALTER TABLE audit_event ADD CONSTRAINT parent FOREIGN KEY (id) REFERENCES parent (id)"
            " ON DELETE CASCADE NOT VALID"
        )
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(using="owner"):
            cursor.execute("DELETE FROM parent")


@pytest.mark.usefixtures("db")
def test_no_foreign_key_enters_or_leaves_the_audit() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND"
            " ('audit_event'::regclass IN (conrelid, confrelid)"
            " OR 'audit_chain_head'::regclass IN (conrelid, confrelid)"
            " OR 'audit_anchor'::regclass IN (conrelid, confrelid))"
        )
        assert cursor.fetchall() == []


@pytest.mark.usefixtures("db")
def test_no_model_refers_to_the_audit() -> None:
    for model in (AuditEvent, ChainHead, Anchor):
        relations = [item for item in model._meta.get_fields() if item.is_relation]
        assert relations == []
        assert isinstance(model._meta.pk, models.Field)
