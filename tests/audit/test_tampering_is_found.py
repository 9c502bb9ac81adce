"""Whoever owns the database can rewrite the audit, and is found out."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections, transaction

from audit import anchors, chains, funnel
from audit.anchors import Heads
from audit.models import AuditEvent, ChainHead
from audit.reasons import Action, Outcome, Reason
from audit.verification import verify

ROWS = 60
EDITS = 100
SEED = 20_240
events = AuditEvent.objects.using("owner")


def place_of(event: AuditEvent) -> chains.Row:
    names = chains.Row.__dataclass_fields__
    return chains.Row(**{name: getattr(event, name) for name in names})


def execute(statement: str, *values: object) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, values or None)


def anchored() -> Heads:
    with connections["owner"].cursor() as cursor:
        cursor.execute(anchors.READ_HEADS)
        rows = cursor.fetchall()
    return Heads(at=rows[0][0], places=tuple((row[2], row[3]) for row in rows))


@pytest.fixture
def outside(committed_db: None) -> Iterator[Heads]:
    """An audit of sixty rows in an owner's transaction with every guard removed, anchored
    outside.
    """
    with transaction.atomic(using="owner"):
        execute("ALTER TABLE audit_event DISABLE TRIGGER USER")
        execute("ALTER TABLE audit_anchor DISABLE TRIGGER USER")
        for constraint in ("audit_event_place", "audit_event_range", "audit_event_id"):
            execute(f"ALTER TABLE audit_event DROP CONSTRAINT {constraint}")
        execute("TRUNCATE audit_event, audit_anchor")
        for chain in range(chains.CHAINS):
            execute(
                "UPDATE audit_chain_head SET sequence = 0, hash = %s WHERE chain = %s",
                chains.first_hash(chain),
                chain,
            )
        for number in range(ROWS):
            funnel.record(
                action=Action.TOOL_CALLED,
                actor=f"member:{number}",
                outcome=Outcome.ERROR,
                reason=Reason.TIMEOUT,
                subject=("agent", str(uuid4())),
                run_id=uuid4() if number % 2 else None,
                details={"count": number, "digest": "sha256:" + "0" * 64},
                using="owner",
            )
            execute("SELECT set_config('kaizen.audit_chain', '', true)")  # as if committed
        assert len(set(events.values_list("chain", flat=True))) > chains.CHAINS // 2
        yield anchored()
        transaction.set_rollback(True, using="owner")
    connections["owner"].close()


def change(chance: random.Random) -> None:
    event = chance.choice(list(events.all()))
    column = chance.choice([field.name for field in AuditEvent._meta.fields])
    match column:
        case "id":
            value = event.id + chance.choice([10_000, -10_000])
        case "sequence":
            value = event.sequence + chance.choice([-1, 1, 16, 10_000])
        case "chain":
            value = chance.randrange(-1, 99)
        case "at":
            value = event.at + timedelta(microseconds=chance.choice([-1, 1, 10**9]))
        case "run_id":
            value = uuid4() if chance.random() < 0.5 or event.run_id is None else None
        case "details":
            value = chance.choice([{}, {**event.details, "count": -1}, [], {"count": 10**400}])
        case _:
            text = getattr(event, column)
            value = chance.choice([text[:-1], text[::-1], f"{text[:-1]}x"])
    if value == getattr(event, column):
        value = None if column == "run_id" else "changed" if isinstance(value, str) else 77
    events.filter(id=event.id).update(**{column: value})


def rehash(chance: random.Random) -> None:
    """One row is changed and gets the hash that fits it, so only the row after it can tell."""
    event = chance.choice(list(events.all()))
    event.actor = "member:somebody"
    event.hash = chains.row_hash(event.previous_hash, place_of(event))
    event.save(using="owner")


def delete(chance: random.Random) -> None:
    events.filter(id=chance.choice(list(events.all())).id).delete()


def insert(chance: random.Random) -> None:
    """A forged row with a right hash: in the middle, at the end, beyond it, or in a chain of its
    own.
    """
    event = chance.choice(list(events.all()))
    last = events.filter(chain=event.chain).order_by("sequence").last()
    assert last is not None
    match chance.randrange(4):
        case 0:
            event.previous_hash = event.hash
            event.id += 10_000_000
        case 1:
            event.sequence, event.previous_hash = last.sequence + 1, last.hash
        case 2:
            event.sequence = last.sequence + chance.randrange(2, 9)
        case _:
            event.chain, event.sequence = chance.randrange(16, 99), 1
            event.previous_hash = chains.first_hash(event.chain)
    if event.id < 10_000_000:
        event.id = chains.row_id(event.chain, event.sequence)
    if events.filter(id=event.id).exists():
        event.id += 20_000_000
    event.actor = "member:somebody"
    event.hash = chains.row_hash(event.previous_hash, place_of(event))
    event.save(force_insert=True, using="owner")


def reorder(chance: random.Random) -> None:
    """Two rows of one chain exchange places, with or without what ties them in."""
    pairs = [
        pair
        for chain in range(chains.CHAINS)
        if len(pair := list(events.filter(chain=chain).order_by("sequence"))) >= 2
    ]
    first, second = chance.sample(chance.choice(pairs), 2)
    moved = ["action", "actor", "at", "subject_id", "run_id", "details"]
    if chance.random() < 0.5:
        moved += ["hash", "previous_hash"]
    for row, other in ((first, second), (second, first)):
        events.filter(id=row.id).update(**{name: getattr(other, name) for name in moved})


def truncate(chance: random.Random) -> None:
    """All rows go, or all from a point in time on."""
    if chance.random() < 0.2:
        execute("TRUNCATE audit_event")
    else:
        events.filter(at__gte=chance.choice(list(events.all())).at).delete()


def cut_tail(chance: random.Random) -> None:
    """The last rows of a chain go, and its head is set to fit."""
    chain = chance.choice(list(events.values_list("chain", flat=True).distinct()))
    rows = list(events.filter(chain=chain).order_by("sequence"))
    keep = rows[: chance.randrange(len(rows))]
    events.filter(chain=chain).exclude(id__in=[row.id for row in keep]).delete()
    ChainHead.objects.using("owner").filter(chain=chain).update(
        sequence=len(keep), hash=keep[-1].hash if keep else chains.first_hash(chain)
    )


def rebuild(chance: random.Random) -> None:
    """One row is changed and its whole chain computed again from there, head included."""
    event = chance.choice(list(events.all()))
    previous = event.previous_hash
    event.actor = "member:somebody"
    for row in [
        event,
        *events.filter(chain=event.chain, sequence__gt=event.sequence).order_by("sequence"),
    ]:
        row.previous_hash = previous
        previous = row.hash = chains.row_hash(previous, place_of(row))
        row.save(using="owner")
        head = (row.sequence, row.hash)
    ChainHead.objects.using("owner").filter(chain=event.chain).update(
        sequence=head[0], hash=head[1]
    )


def count_found(edit: Callable[[random.Random], None], outside: list[Heads]) -> int:
    chance = random.Random(SEED)
    found = 0
    for _ in range(EDITS):
        with transaction.atomic(using="owner"):
            edit(chance)
            found += not verify(outside=outside, using="owner").whole
            transaction.set_rollback(True, using="owner")
    return found


@pytest.mark.req("AUD-001")
@pytest.mark.parametrize("edit", [change, rehash, delete, insert, reorder, truncate])
def test_rows_that_were_tampered_with_are_found(
    outside: Heads, edit: Callable[[random.Random], None]
) -> None:
    assert count_found(edit, []) == EDITS


@pytest.mark.parametrize("edit", [cut_tail, rebuild])
def test_what_the_database_cannot_show_an_anchor_outside_does(
    outside: Heads, edit: Callable[[random.Random], None]
) -> None:
    assert count_found(edit, [outside]) == EDITS


def test_an_audit_left_alone_is_whole(outside: Heads) -> None:
    report = verify(outside=[outside], using="owner")
    assert report.whole
    assert (report.rows, report.anchors) == (ROWS, 1)


def test_without_the_anchor_a_cut_tail_goes_unseen(outside: Heads) -> None:
    """The reason anchors are taken at all."""
    cut_tail(random.Random(SEED))
    assert verify(using="owner").whole


def test_a_head_that_was_moved_or_removed_is_found(outside: Heads) -> None:
    for statement in (
        "UPDATE audit_chain_head SET sequence = sequence - 1 WHERE chain = %s",
        "UPDATE audit_chain_head SET hash = 'x' WHERE chain = %s",
        "DELETE FROM audit_chain_head WHERE chain = %s",
    ):
        with transaction.atomic(using="owner"):
            chain = events.first().chain  # type: ignore[union-attr]
            execute(statement, chain)
            assert not verify(using="owner").whole
            transaction.set_rollback(True, using="owner")


def test_an_anchor_row_that_was_changed_is_found(outside: Heads) -> None:
    anchors.take(using="owner")
    assert verify(using="owner").whole
    for heads in ("[]", '{"a":1}', "[[1,2,3]]"):
        execute("UPDATE audit_anchor SET heads = %s::jsonb", heads)
        assert not verify(using="owner").whole
