"""Positions of a stream: 1, 2, 3 … in commit order, whoever writes and whatever is rolled back."""

import random
import threading
from collections import defaultdict
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from agents.journal import replay
from agents.journal.append import Draft, append, open_stream
from agents.journal.frames import Kind, frame
from agents.journal.models import Entry

WRITERS, ROUNDS, STREAMS = 8, 40, 3


def note(text: str = "") -> Draft:
    return Draft(Kind.NOTICE, {"message": text})


@pytest.fixture
def stream() -> UUID:
    stream_id = uuid4()
    open_stream(stream_id)
    return stream_id


class Changed(Exception):
    """A writer that changes its mind."""


@pytest.mark.req("CFG-004")
def test_many_writers_and_rollbacks_leave_no_gap_and_no_repeat(committed_db: None) -> None:
    streams = [uuid4() for _ in range(STREAMS)]
    for stream_id in streams:
        open_stream(stream_id)
    kept: defaultdict[UUID, int] = defaultdict(int)
    guard = threading.Lock()
    seed = random.randrange(2**32)

    def write(number: int) -> None:
        chance = random.Random(seed + number)
        for _ in range(ROUNDS):
            stream_id, count = chance.choice(streams), chance.randint(1, 3)
            try:
                with transaction.atomic():
                    append(stream_id, [note(f"{number}")] * count)
                    if chance.random() < 0.3:
                        raise Changed
            except Changed:
                continue
            with guard:
                kept[stream_id] += count
        connection.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(kept.values()) > WRITERS * ROUNDS / 2, f"seed {seed}"
    for stream_id in streams:
        positions = list(
            Entry.objects.filter(stream_id=stream_id)
            .order_by("id")
            .values_list("position", flat=True)
        )
        assert sorted(positions) == list(range(1, kept[stream_id] + 1)), f"seed {seed}"
        assert replay.head(stream_id) == kept[stream_id]


def test_a_reader_that_follows_the_head_misses_nothing(committed_db: None, stream: UUID) -> None:
    total = 120
    ended = threading.Event()

    def write() -> None:
        for _ in range(total // 4):
            append(stream, [note()])
        connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]

    def join() -> None:
        for thread in threads:
            thread.join()
        ended.set()

    for thread in threads:
        thread.start()
    threading.Thread(target=join).start()
    read: list[int] = []
    last_look = False
    while not last_look:
        last_look = ended.is_set()
        read += [entry.position for entry in replay.after(stream, read[-1] if read else 0, limit=7)]
        last_look = last_look and len(read) >= total
    assert read == list(range(1, total + 1))


@pytest.mark.django_db
def test_one_append_keeps_its_drafts_together_and_in_order(stream: UUID) -> None:
    append(stream, [note("before")])
    entries = append(stream, [note(str(n)) for n in range(12)], run_id=uuid4(), input_id=uuid4())
    assert [(entry.position, entry.data["message"]) for entry in entries] == [
        (n + 2, str(n)) for n in range(12)
    ]
    stored = replay.after(stream, 1)
    assert [(e.position, e.data, e.run_id, e.input_id, e.at) for e in stored] == [
        (e.position, e.data, e.run_id, e.input_id, e.at) for e in entries
    ]
    assert [frame(e) for e in stored] == [frame(e) for e in entries]


@pytest.mark.django_db
def test_streams_count_for_themselves(stream: UUID) -> None:
    other = uuid4()
    open_stream(other)
    append(stream, [note(), note()])
    assert [entry.position for entry in append(other, [note()])] == [1]


@pytest.mark.django_db
def test_an_unknown_stream_takes_nothing() -> None:
    with pytest.raises(LookupError), transaction.atomic():
        append(uuid4(), [note()])


@pytest.mark.django_db
def test_replay_pages_forward_and_back(stream: UUID) -> None:
    append(stream, [note(str(n)) for n in range(1, 8)])
    pages, last = [], 0
    while page := replay.after(stream, last, limit=3):
        pages.append([entry.position for entry in page])
        last = page[-1].position
    assert pages == [[1, 2, 3], [4, 5, 6], [7]]
    assert [entry.position for entry in replay.before(stream, 5, limit=3)] == [2, 3, 4]
    assert replay.before(stream, 1) == []
    assert replay.heads([stream, uuid4()]) == {stream: 7}


@pytest.mark.django_db
def test_what_is_private_stays_out_of_replay_until_it_is_asked_for(stream: UUID) -> None:
    run_id = uuid4()
    append(stream, [Draft(Kind.TOOL_ENDED, {}, {"model_view": "secret"})], run_id=run_id)
    (shown,) = replay.after(stream, 0)
    assert not hasattr(shown, "private")
    assert "secret" not in repr(shown)
    (whole,) = replay.of_run(run_id)
    assert whole.hidden == {"model_view": "secret"}
