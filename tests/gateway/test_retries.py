"""Which failures are tried again, when, and what becomes of what was already said."""

import asyncio
import time
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from agents.gateway import failures, retries, stream
from agents.gateway.connection import Lifecycle
from agents.gateway.events import AttemptFailed, Completed, ThinkingDelta
from audit.reasons import Reason
from tests.gateway.conftest import HELLO, connect, gather, outcome, said
from tests.gateway.raw_server import Reply, chunk, events, serving
from tests.patience import promised

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BUSY = Reply(status="503 Service Unavailable", headers=("Content-Type: application/json",))
FINE = Reply([events(chunk(content="Fine."), chunk("stop"))])
DEFAULT = "default"
GIVE_UP = "give up"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "30"}, 30),
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:45 GMT"}, 45),
        ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5),
        ({"retry-after-ms": "soon", "Retry-After": "2"}, 2),
        ({"Retry-After": "120"}, 120),
        ({"Retry-After": "121"}, GIVE_UP),
        ({"Retry-After": "3600"}, GIVE_UP),
        ({"Retry-After": "Mon, 30 Nov 2026 13:00:00 GMT"}, GIVE_UP),
        ({"Retry-After": "soon"}, DEFAULT),
        ({"Retry-After": "-5"}, DEFAULT),
        ({"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, DEFAULT),
        ({"Retry-After": "inf"}, DEFAULT),
        ({"Retry-After": "nan"}, DEFAULT),
        ({"Retry-After": "9" * 400}, DEFAULT),
        ({}, DEFAULT),
    ],
)
@pytest.mark.req("GW-002")
def test_it_waits_as_long_as_the_provider_asks(
    headers: dict[str, str], expected: float | str
) -> None:
    failure = failures.from_status(429, "", headers, NOON)
    waits = [
        retries.wait_s(failure, attempt=1, retries=2, jitter=jitter) for jitter in (0.0, 0.999)
    ]
    if expected == DEFAULT:
        assert waits == [pytest.approx(0.5), pytest.approx(0.611, abs=0.001)]
    elif expected == GIVE_UP:
        assert waits == [None, None]
    else:
        assert waits == [expected, expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"error": {"message": "Please try again in 20s."}}', 20),
        ("Rate limit reached, try again in 94ms", 0.094),
        ("retry after 2 minutes", 120),
        ('{"error": {"retry_after": 7.5}}', 7.5),
        ('{"details": [{"retryDelay": "34s"}]}', 34),
        ('{"headers": {"Retry-After": "9"}}', 9),
        ("try again in 1 hour", 3_600),
        ("try again later", None),
        ("retry_after: soon", None),
        ("", None),
    ],
)
def test_a_wait_told_in_words_is_heard_where_no_header_says_it(
    body: str, expected: float | None
) -> None:
    assert failures.from_status(429, body, {}, NOON).retry_after_s == expected
    assert failures.from_status(503, body, {}, NOON).retry_after_s == expected
    assert failures.from_status(500, body, {}, NOON).retry_after_s is None
    told = failures.from_status(429, body, {"Retry-After": "3"}, NOON)
    assert told.retry_after_s == 3


def test_it_names_the_time_when_the_wait_is_too_long() -> None:
    failure = failures.from_status(429, "", {"Retry-After": "3600"}, NOON)
    assert failure.code is Reason.RATE_LIMITED
    assert failure.retry_after_s == 3600
    assert "60 minutes" in failure.message


def test_it_backs_off_up_to_a_bound_and_then_gives_up() -> None:
    failure = failures.unreachable()
    waits = [
        retries.wait_s(failure, attempt=number, retries=9, jitter=0.5) for number in range(1, 11)
    ]
    assert waits == [*map(pytest.approx, (0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 8.0, 8.0, 8.0)), None]


@pytest.mark.parametrize(("jitter", "pause_s"), [(0.0, 0.36), (0.5, 0.4), (0.999, 0.44)])
def test_a_pause_is_shifted_by_a_tenth_at_most(jitter: float, pause_s: float) -> None:
    waited = retries.wait_s(failures.cut_off(), attempt=2, retries=2, jitter=jitter)
    assert waited == pytest.approx(pause_s, abs=0.001)


async def test_it_tries_again_before_anything_was_said() -> None:
    async with serving(BUSY, FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    failed = [event for event in got if isinstance(event, AttemptFailed)]
    assert [(event.number, event.failure.code, event.failure.status) for event in failed] == [
        (1, Reason.PROVIDER_UNREACHABLE, 503)
    ]
    assert 0.18 <= failed[0].wait_s <= 0.22
    assert (outcome(got).text, outcome(got).attempts) == ("Fine.", 2)
    assert server.bodies[0] == server.bodies[1]


async def test_it_gives_up_after_the_last_try() -> None:
    wait = Reply(status="429 Too Many Requests", headers=("retry-after-ms: 1",))
    async with serving(wait) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    ended = outcome(got)
    assert (ended.end, ended.attempts, len(server.bodies)) == ("failed", 3, 3)
    assert ended.failure is not None
    assert ended.failure.code is Reason.RATE_LIMITED


@pytest.mark.parametrize("retries_allowed", [0, 1])
async def test_how_often_it_tries_again_is_a_setting_of_the_stream(retries_allowed: int) -> None:
    async with serving(BUSY) as server:
        kept = Lifecycle(retries=retries_allowed)
        got = await gather(stream.stream(connect(server.url), HELLO, kept))
    assert (outcome(got).end, len(server.bodies)) == ("failed", 1 + retries_allowed)


async def test_it_does_not_wait_longer_than_allowed() -> None:
    async with serving(Reply(status="429 No", headers=("Retry-After: 3600",))) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    assert len(server.bodies) == 1
    assert outcome(got).failure is not None


@pytest.mark.req("ENG-008")
async def test_it_never_tries_again_once_the_answer_has_begun() -> None:
    cut = Reply([events(chunk(content="Once upon"), done=False)])
    async with serving(cut, FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    ended = outcome(got)
    assert (ended.end, ended.text, len(server.bodies)) == ("failed", "Once upon", 1)
    assert ended.failure is not None
    assert ended.failure.code is Reason.PROVIDER_CUT_OFF


@pytest.mark.req("ENG-006", "ENG-007")
async def test_thinking_is_no_answer_and_stays_shown() -> None:
    thinks = Reply([events(chunk(reasoning="Hmm. "), done=False)])
    also = Reply([events(chunk(reasoning="Aha."), chunk(content="Fine."), chunk("stop"))])
    async with serving(thinks, also) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    assert said(got, ThinkingDelta) == "Hmm. Aha."
    assert (outcome(got).text, outcome(got).thinking) == ("Fine.", "Aha.")


@pytest.mark.parametrize(
    "said", [{}, {"content": " \n"}, {"content": None}, {"reasoning": "Hmm."}], ids=str
)
@pytest.mark.req("ENG-005", "ENG-006")
async def test_an_answer_without_text_is_handed_on_and_not_asked_for_again(said: dict) -> None:
    async with serving(Reply([events(chunk(**said), chunk("stop"))]), FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    ended = outcome(got)
    assert (ended.text, ended.calls, ended.end, ended.failure) == ("", (), "complete", None)
    assert (ended.attempts, len(server.bodies)) == (1, 1)


@pytest.mark.req("ENG-009")
async def test_what_a_failed_attempt_thought_is_shown_but_never_sent_back() -> None:
    thinks = Reply([events(chunk(reasoning="Hmm. "), done=False)], end="reset")
    async with serving(thinks, thinks, FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    assert said(got, ThinkingDelta) == "Hmm. Hmm. "
    assert server.bodies[0] == server.bodies[1] == server.bodies[2]
    assert "Hmm" not in str(server.bodies)


async def test_calls_of_a_failed_attempt_are_not_run() -> None:
    half = {"index": 0, "id": "a", "function": {"name": "send", "arguments": "{}"}}
    cut = Reply([events(chunk(tool_calls=[half]), done=False)])
    async with serving(cut, FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    assert (outcome(got).text, outcome(got).calls, len(server.bodies)) == ("Fine.", (), 2)


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "403 No", "404 None", "302 Found"])
async def test_what_cannot_get_better_is_not_tried_again(status: str) -> None:
    async with serving(Reply(status=status), FINE) as server:
        got = await gather(stream.stream(connect(server.url), HELLO))
    assert outcome(got).end == "failed"
    assert len(server.bodies) == 1


async def test_a_pause_ends_at_once_when_the_turn_is_stopped() -> None:
    async with serving(Reply(status="429 No", headers=("Retry-After: 60",))) as server:
        failed = asyncio.Event()

        async def read() -> None:
            async with aclosing(stream.stream(connect(server.url), HELLO)) as got:
                async for event in got:
                    assert not isinstance(event, Completed)
                    failed.set()

        task = asyncio.create_task(read())
        await failed.wait()
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - started < promised(5)
