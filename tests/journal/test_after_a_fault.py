"""An append that fails takes nothing else with it."""

from uuid import uuid4

import pytest
from django.db import Error as DatabaseFault

from agents.journal import replay
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind
from tools.effects import claims
from tools.effects.claims import Claim, LeaseLost


def note(text: str) -> Draft:
    return Draft(Kind.NOTICE, {"message": text})


@pytest.mark.req("BND-049")
def test_later_appends_of_the_same_session_still_succeed(committed_db: None) -> None:
    stream_id = uuid4()
    open_stream(stream_id)
    append(stream_id, [note("first")])
    with pytest.raises(DatabaseFault):
        append(stream_id, [note("second"), note("cannot be stored: \0")])
    with pytest.raises(LookupError):
        append(uuid4(), [note("no such stream")])
    append(stream_id, [note("third")])
    shown = [(entry.position, entry.data["message"]) for entry in replay.after(stream_id, 0)]
    assert shown == [(1, "first"), (2, "third")]


@pytest.mark.req("BND-049")
def test_a_refused_fence_does_not_spoil_the_next_claim(committed_db: None) -> None:
    stream_id, run_id = uuid4(), uuid4()
    open_stream(stream_id)
    claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=run_id.hex)
    (claim,) = claims.claim("tests", limit=1, lease_s=30, queue=run_id.hex)
    with pytest.raises(LeaseLost):
        append(stream_id, [note("stale")], claim=Claim(run_id, claim.fence + 1, attempts=1))
    (entry,) = append(stream_id, [note("mine")], claim=claim)
    assert entry.position == 1
