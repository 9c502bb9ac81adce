"""The harness must find what it is there to find: writes that prove no fence are reported."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from agents.engine.effects import Settle, Terminal
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.members.models import Member
from agents.turns import answers
from agents.turns.admission import Admitted
from agents.turns.answers import Pending, Spent
from agents.turns.models import Turn
from tests.faults.harness import violations
from tests.turns.admitting import asked, prepare, took
from tools.effects.claims import LeaseLost

pytestmark = pytest.mark.django_db

ANSWER = Draft(Kind.ASSISTANT_MESSAGE, {"text": "Hello", "segment": 0}, {"step": 1})
COMPLETED = Settle(Terminal.COMPLETED)


@pytest.fixture
def workers(alice: Member) -> tuple[Admitted, Admitted]:
    """One that was paused past its lease, and the one that took over."""
    prepare()
    accepted = asked(alice)
    return took(accepted, lease_s=-1), took(accepted)


def settle(admitted: Admitted) -> None:
    answers.settle(admitted, Pending([ANSWER]), COMPLETED, Spent())


def unfenced(admitted: Admitted, draft: Draft) -> None:
    """What a worker without the guard would do."""
    append(
        admitted.identity.conversation_id,
        [draft],
        run_id=admitted.claim.run_id,
        input_id=admitted.input_id,
    )


def test_an_orderly_turn_is_acquitted(workers: tuple[Admitted, Admitted]) -> None:
    _, new = workers
    settle(new)
    assert violations(new.claim.run_id) == []


@pytest.mark.req("INP-019")
def test_with_the_guard_the_paused_worker_changes_nothing(
    workers: tuple[Admitted, Admitted],
) -> None:
    old, new = workers
    with pytest.raises(LeaseLost), transaction.atomic():
        settle(old)
    settle(new)
    with pytest.raises(LeaseLost), transaction.atomic():
        answers.commit(old, Pending([ANSWER]))
    assert violations(new.claim.run_id) == []


def test_without_the_guard_an_answer_before_the_end_is_reported(
    workers: tuple[Admitted, Admitted],
) -> None:
    old, new = workers
    unfenced(old, ANSWER)
    settle(new)
    assert found(new) == ["2 answers"]


def test_without_the_guard_a_write_after_the_end_is_reported(
    workers: tuple[Admitted, Admitted],
) -> None:
    old, new = workers
    settle(new)
    unfenced(old, Draft(Kind.NOTICE, {}))
    assert "something was written after its terminal" in found(new)


def test_even_without_the_guard_the_database_refuses_a_second_terminal(
    workers: tuple[Admitted, Admitted],
) -> None:
    old, new = workers
    settle(new)
    with pytest.raises(IntegrityError, match="one_terminal_per_run"), transaction.atomic():
        unfenced(old, Draft(Kind.AGENT_RUN_FAILED, {}))


@pytest.mark.parametrize(
    ("break_it", "fault"),
    [
        (lambda run: Turn.objects.filter(id=run).update(terminal="failed"), "its turn says"),
        (lambda run: Turn.objects.filter(id=run).update(terminal=""), "its turn says"),
    ],
)
def test_a_disagreement_is_reported(
    workers: tuple[Admitted, Admitted], break_it: Callable[[object], object], fault: str
) -> None:
    _, new = workers
    settle(new)
    break_it(new.claim.run_id)
    assert [text for text in found(new) if text.startswith(fault)]


def test_a_turn_left_open_is_reported(workers: tuple[Admitted, Admitted]) -> None:
    _, new = workers
    assert "0 terminals" in found(new)


def found(admitted: Admitted) -> list[str]:
    return [text.partition(": ")[2] for text in violations(admitted.claim.run_id)]
