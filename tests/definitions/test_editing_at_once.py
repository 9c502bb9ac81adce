"""Many editors of one version at the same moment."""

import threading

from django.db import connection

from agents.definitions import versions
from agents.members.models import Member
from audit.refusals import Conflict

CONTENT = {"name": "Helper", "persona": "You help."}


def test_one_wins_and_the_others_are_told(committed_db: None, alice: Member) -> None:
    agent_id = versions.create(actor=alice, content=CONTENT).agent_id
    start, outcomes = threading.Barrier(6), []

    def edit(number: int) -> None:
        start.wait()
        try:
            version = versions.append(
                actor=alice,
                agent_id=agent_id,
                content={**CONTENT, "name": f"E{number}"},
                expected_version=1,
            )
            outcomes.append(version.number)
        except Conflict as conflict:
            outcomes.append(-conflict.current)
        connection.close()

    threads = [threading.Thread(target=edit, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [-2, -2, -2, -2, -2, 2]


def test_copies_made_at_once_get_names_of_their_own(committed_db: None, alice: Member) -> None:
    agent_id = versions.create(actor=alice, content=CONTENT).agent_id
    start, names = threading.Barrier(6), []

    def copy() -> None:
        start.wait()
        names.append(versions.duplicate(actor=alice, agent_id=agent_id).agent.name)
        connection.close()

    threads = [threading.Thread(target=copy) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(names) == [f"Helper {number}" for number in range(2, 8)]
