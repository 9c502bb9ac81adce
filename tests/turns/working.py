"""Working a turn inside the test's own process, as a worker would."""

from collections.abc import Callable

from agents.conversations.inputs import Accepted
from agents.journal.models import Entry
from agents.journal.offloading import in_database
from agents.turns import admission
from agents.turns.admission import Admitted
from agents.turns.driver import DrivenTurn
from agents.turns.live import LivePublisher
from agents.turns.transcript import Transcripts
from tests.turns.conftest import Desk


def unchanged(admitted: Admitted) -> Admitted:
    return admitted


async def begun(
    asked: Accepted,
    publisher: LivePublisher,
    change: Callable[[Admitted], Admitted] = unchanged,
) -> DrivenTurn:
    """Claim runs until this one comes, and start to work it, with what was admitted changed."""
    transcripts = Transcripts()
    while True:
        admitted = await in_database(admission.take, "tests", lease_s=60, transcripts=transcripts)
        assert admitted is not None, "somebody else has taken the run"
        if admitted.claim.run_id == asked.run_id:
            return DrivenTurn(change(admitted), publisher, transcripts)


async def worked(desk: Desk, publisher: LivePublisher, script: str) -> list[Entry]:
    """The journal of one turn, worked to its end."""
    asked = await in_database(desk.ask, script)
    turn = await begun(asked, publisher)
    await turn.task
    return await in_database(desk.entries, asked)
