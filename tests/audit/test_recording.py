"""One row in the transaction of what it records, or neither."""

import threading
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import Error, connection, connections, transaction

from audit import chains, funnel
from audit.funnel import Record
from audit.models import AuditEvent, ChainHead
from audit.reasons import Action, Outcome, Reason
from audit.verification import verify


@pytest.fixture
def broken_audit(committed_db: None) -> Iterator[None]:
    """The runtime role cannot write audit rows for a while."""
    role = connections["default"].settings_dict["USER"]
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"REVOKE INSERT ON audit_event FROM {role}")
        yield
        cursor.execute(f"GRANT INSERT ON audit_event TO {role}")
    connections["owner"].close()


@pytest.mark.usefixtures("db")
@pytest.mark.req("AUD-001")
def test_it_writes_what_it_was_told() -> None:
    agent, run = uuid4(), uuid4()
    funnel.record(
        action=Action.TOOL_CALLED,
        actor=f"agent:{agent}",
        outcome=Outcome.ERROR,
        reason=Reason.TIMEOUT,
        subject=("tool", "search_about"),
        run_id=run,
        details={"duration_ms": 30_000, "arguments_digest": "sha256:" + "ab" * 32},
    )
    event = AuditEvent.objects.get(run_id=run)
    assert (event.action, event.actor, event.outcome, event.reason) == (
        "tool_called",
        f"agent:{agent}",
        "error",
        "timeout",
    )
    assert (event.subject_kind, event.subject_id) == ("tool", "search_about")
    assert event.details == {"duration_ms": 30_000, "arguments_digest": "sha256:" + "ab" * 32}
    assert ChainHead.objects.get(chain=event.chain).hash == event.hash


@pytest.mark.usefixtures("db")
def test_a_row_can_say_little() -> None:
    actor = f"system:{uuid4()}"
    funnel.record(action=Action.SIGN_OUT, actor=actor, outcome="success")
    event = AuditEvent.objects.get(actor=actor)
    assert (event.reason, event.subject_kind, event.run_id, event.details) == ("", "", None, {})


@pytest.mark.usefixtures("committed_db")
def test_what_is_rolled_back_leaves_no_row() -> None:
    actor = f"member:{uuid4()}"
    with transaction.atomic():
        funnel.record(action=Action.SIGN_IN, actor=actor, outcome=Outcome.SUCCESS)
        transaction.set_rollback(True)
    assert not AuditEvent.objects.filter(actor=actor).exists()
    assert verify().whole


@pytest.mark.usefixtures("broken_audit")
@pytest.mark.req("AUD-009")
def test_what_cannot_be_recorded_does_not_happen() -> None:
    name = str(uuid4())
    with pytest.raises(Error):
        make_group(name)
    assert not Group.objects.filter(name=name).exists()


@pytest.mark.usefixtures("broken_audit")
@pytest.mark.req("AUD-009")
def test_swallowing_the_error_does_not_save_the_action() -> None:
    name = str(uuid4())
    with transaction.atomic():
        Group.objects.create(name=name)
        with pytest.raises(Error):
            make_group(f"{name} again")
        with pytest.raises(transaction.TransactionManagementError):
            Group.objects.filter(name=name).exists()
    assert not Group.objects.filter(name=name).exists()


@pytest.mark.usefixtures("db")
@pytest.mark.req("AUD-009")
def test_an_unfit_record_dooms_the_transaction_too() -> None:
    name = str(uuid4())
    with transaction.atomic():
        with pytest.raises(funnel.Unrecordable):
            make_group(name, actor="no kind")
        assert transaction.get_rollback()
    assert not Group.objects.filter(name=name).exists()


@pytest.mark.usefixtures("db")
def test_several_rows_cost_two_statements(django_assert_num_queries: object) -> None:
    run = uuid4()
    records = [
        Record(Action.MODEL_CALLED, "system:tests", Outcome.SUCCESS, run_id=run),
        Record(Action.TURN_ENDED, "system:tests", Outcome.SUCCESS, run_id=run),
    ]
    with django_assert_num_queries(2):  # type: ignore[operator]
        funnel.record_all(records)
    with django_assert_num_queries(0):  # type: ignore[operator]
        funnel.record_all([])
    first, second = AuditEvent.objects.filter(run_id=run).order_by("sequence")
    assert (first.action, second.action) == ("model_called", "turn_ended")
    assert second.previous_hash == first.hash


@pytest.mark.usefixtures("committed_db")
def test_rows_of_one_transaction_share_a_chain_and_others_spread() -> None:
    run_ids = [uuid4() for _ in range(40)]
    with transaction.atomic():
        for run_id in run_ids[:20]:
            record_run(run_id)
    for run_id in run_ids[20:]:
        record_run(run_id)
    chain_of = dict(AuditEvent.objects.filter(run_id__in=run_ids).values_list("run_id", "chain"))
    assert len({chain_of[run_id] for run_id in run_ids[:20]}) == 1
    for run_id in run_ids[20:]:
        assert chain_of[run_id] == chains.chain_of("system:tests", run_id)


@pytest.mark.usefixtures("committed_db")
def test_writers_that_cross_each_other_all_get_through() -> None:
    """Two actors in opposite order, many times over: no deadlock, no gap, no lost row."""
    left, right = [uuid4() for _ in range(2)]
    failures: list[BaseException] = []

    def write(order: tuple[UUID, UUID]) -> None:
        try:
            for _ in range(15):
                with transaction.atomic():
                    for run_id in order:
                        record_run(run_id)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    orders = [(left, right), (right, left)] * 2
    threads = [threading.Thread(target=write, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert AuditEvent.objects.filter(run_id__in=[left, right]).count() == 4 * 15 * 2
    assert verify().whole


@pytest.mark.usefixtures("committed_db")
def test_nothing_is_recorded_on_a_chain_without_head() -> None:
    with transaction.atomic(using="owner"):
        with connections["owner"].cursor() as cursor:
            cursor.execute("DELETE FROM audit_chain_head")
        with pytest.raises(chains.HeadMissing):
            funnel.record(
                action=Action.SIGN_IN,
                actor="system:tests",
                outcome=Outcome.SUCCESS,
                using="owner",
            )
        transaction.set_rollback(True, using="owner")
    connections["owner"].close()


def make_group(name: str, *, actor: str = "system:tests") -> None:
    """An operation as they all are: the change first, the record last, one transaction."""
    with transaction.atomic(savepoint=False):
        Group.objects.create(name=name)
        funnel.record(action=Action.GROUP_CHANGED, actor=actor, outcome=Outcome.SUCCESS)


def record_run(run_id: UUID) -> None:
    funnel.record(
        action=Action.TURN_STARTED, actor="system:tests", outcome=Outcome.SUCCESS, run_id=run_id
    )
