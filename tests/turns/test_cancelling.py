"""No change begins once its turn was asked to stop, and such a turn ends as stopped."""

import random
import secrets
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import close_old_connections, transaction

from agents.conversations import inputs
from agents.engine.effects import Settle, Terminal
from agents.journal import replay
from agents.members.models import Member
from agents.turns import answers
from agents.turns.answers import Pending, Spent
from tests.approvals.asking import PLAN, claimed
from tests.turns.admitting import asked, prepare, took
from tools.boundary import clearance, registry
from tools.boundary.contract import RunIdentity, ToolCall
from tools.boundary.failures import Denial
from tools.boundary.models import PolicyMode
from tools.boundary.permission import Permitted
from tools.effects import reservations

RACES, WRITES = 200, 4


def begin(identity: RunIdentity, call_id: str) -> bool:
    """Whether a call that changes something may begin, as the boundary asks."""
    descriptor = registry.resolve("create_artifact")
    permitted = Permitted(descriptor, PLAN, "", PolicyMode.ON, ())
    call = ToolCall(call_id, 1, 0, descriptor.name, PLAN)
    with transaction.atomic():
        return not isinstance(clearance.clear(call, identity, permitted), Denial)


def begun(identity: RunIdentity) -> int:
    """How many changes of the run have begun."""
    return len(reservations.reserved(identity.run_id))


def test_of_200_stops_none_is_followed_by_a_change(committed_db: None, alice: Member) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    total = 0
    with ThreadPoolExecutor(2) as pool:
        for _ in range(RACES):
            conversation = inputs.open_conversation(member=alice)
            claim, _ = claimed(conversation.id)
            identity = RunIdentity(
                run_id=claim.run_id,
                fence=claim.fence,
                member_id=alice.pk,
                conversation_id=conversation.id,
                agent_id=uuid4(),
                agent_version=1,
            )
            barrier, before = Barrier(2), dice.randrange(WRITES)

            def stop(where: RunIdentity = identity, start: Barrier = barrier) -> int:
                start.wait()
                inputs.stop(member=alice, conversation_id=where.conversation_id)
                seen = begun(where)  # the stop is committed
                close_old_connections()
                return seen

            def write(who: RunIdentity, start: Barrier, early: int) -> int:
                done = sum(begin(who, f"early-{number}") for number in range(early))
                start.wait()
                done += sum(begin(who, secrets.token_hex(4)) for _ in range(WRITES - early))
                close_old_connections()
                return done

            stopping, writing = pool.submit(stop), pool.submit(write, identity, barrier, before)
            total += writing.result()
            assert stopping.result() == writing.result() == begun(identity)
            assert not begin(identity, "late")
    assert 0 < total < RACES * WRITES


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("terminal", "reason", "kind"),
    [
        (Terminal.FAILED, "denials_exhausted", "agent_run_cancelled"),
        (Terminal.SALVAGED, "output_truncated", "agent_run_salvaged"),
        (Terminal.COMPLETED, "", "agent_run_completed"),
    ],
)
def test_a_turn_that_was_asked_to_stop_does_not_fail(
    alice: Member, terminal: Terminal, reason: str, kind: str
) -> None:
    prepare()
    turn = took(asked(alice))
    inputs.stop(member=alice, conversation_id=turn.identity.conversation_id)
    answers.settle(turn, Pending(), Settle(terminal, reason), Spent())
    end = replay.of_run(turn.claim.run_id)[-1]
    assert end.kind == kind
    assert end.data["reason"] == ("stopped" if terminal is Terminal.FAILED else reason or None)
