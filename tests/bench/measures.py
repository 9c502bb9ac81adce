"""One function a figure. Each measures the relay and us in turn, in the same minutes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Final
from uuid import UUID, uuid4

import aiohttp
from django.db import transaction

from agents.conversations import inputs
from agents.journal.append import Draft, append
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from tests.bench import readers
from tests.bench.processes import (
    BenchStack,
    broker_ids,
    cpu_s,
    database_ids,
    pss_mib,
    with_children,
)
from tests.bench.readers import Answer, Socket
from tests.stack import Person

WARM_UP_ROUNDS: Final = 5
SINGLE_ROUNDS: Final = 40
BURST_ROUNDS: Final = 8
HISTORY_ROUNDS: Final = 15
PAGE_ROUNDS: Final = 20
STREAMS: Final = 200
STREAMS_PER_PERSON: Final = 40
STREAM_ORDER: Final = "bench 600 @ 30"
RAMP_S: Final = 8.0  # questions are spread, as people are
LATE_MS: Final = 250.0

Connect = Callable[[AsyncExitStack], Awaitable[Socket]]


@dataclass(frozen=True)
class Figure:
    """One line of the table. `good` is None where no goal was set."""

    name: str
    ours: str
    relay: str
    ratio: str
    goal: str
    good: bool | None


@dataclass
class Ground:
    """What the measures stand on."""

    stack: BenchStack
    people: list[Person]

    async def conversation(self, number: int = 0) -> tuple[UUID, Person]:
        """A new conversation of one of the people."""
        person = self.people[number // STREAMS_PER_PERSON % len(self.people)]
        made = await in_database(inputs.open_conversation, member=person.member)
        return made.id, person

    async def ours(self, exits: AsyncExitStack, number: int = 0) -> Socket:
        """A socket to a new conversation."""
        conversation_id, person = await self.conversation(number)
        return await exits.enter_async_context(
            readers.governed(self.stack.url, conversation_id, person.token)
        )

    async def relay(self, exits: AsyncExitStack, _: int = 0) -> Socket:
        """A socket to the relay."""
        return await exits.enter_async_context(readers.relay(self.stack.relay_url))


async def warm_up(ground: Ground) -> None:
    """Ask until the worker is there and has everything loaded."""
    for _ in range(WARM_UP_ROUNDS):
        async with AsyncExitStack() as exits:
            await (await ground.relay(exits)).ask("bench 1")
            await (await ground.ours(exits)).ask("bench 1")


async def first_word(ground: Ground) -> list[Figure]:
    """Time to the first word, one stream at a time, socket open before the question."""
    ours, relay = [], []
    for _ in range(SINGLE_ROUNDS):
        async with AsyncExitStack() as exits:
            relay.append((await (await ground.relay(exits)).ask("bench 1")).read().first_word_ms)
            ours.append((await (await ground.ours(exits)).ask("bench 1")).read().first_word_ms)
    a, b = median(ours), median(relay)
    return [
        Figure(
            "first word, one stream, p50",
            f"{a:.1f} ms",
            f"{b:.1f} ms",
            f"{a / b:.1f} x",
            "<= 6 x",
            a <= 6 * b,
        )
    ]


async def tool_step(ground: Ground) -> list[Figure]:
    """What one call of a reading tool adds to the time to the first word."""
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(SINGLE_ROUNDS):
        for order in ("bench 1", "bench step 1"):
            async with AsyncExitStack() as exits:
                for name, socket in (
                    ("relay", await ground.relay(exits)),
                    ("ours", await ground.ours(exits)),
                ):
                    first = (await socket.ask(order)).read().first_word_ms
                    times.setdefault((name, order), []).append(first)
    added = {
        name: median(times[name, "bench step 1"]) - median(times[name, "bench 1"])
        for name in ("ours", "relay")
    }
    return [
        Figure(
            "what a tool step adds, p50",
            f"{added['ours']:.1f} ms",
            f"{added['relay']:.1f} ms",
            f"{added['ours'] / added['relay']:.1f} x",
            "<= 4 x",
            added["ours"] <= 4 * added["relay"],
        )
    ]


async def rush(ground: Ground) -> list[Figure]:
    """Turns that start within one second: when each has its first word."""
    waits = {}
    for name, connect in (("relay", ground.relay), ("ours", ground.ours)):
        async with AsyncExitStack() as exits:
            sockets = [await connect(exits, number) for number in range(STREAMS)]

            async def ask(number: int, socket: Socket) -> Answer:
                await asyncio.sleep(number / STREAMS)
                return await socket.ask("bench 1")

            answers = await asyncio.gather(*(ask(*numbered) for numbered in enumerate(sockets)))
            waits[name] = [answer.read().first_word_ms for answer in answers]
    ours, relay = _p95(waits["ours"]), _p95(waits["relay"])
    return [
        Figure(
            f"{STREAMS} turns within a second: first word p95",
            f"{ours:.0f} ms",
            f"{relay:.1f} ms",
            f"{ours / relay:.0f} x",
            "<= 30 x",
            ours <= 30 * relay,
        ),
        Figure(
            f"{STREAMS} turns within a second: the last one",
            f"{max(waits['ours']):.0f} ms",
            f"{max(waits['relay']):.1f} ms",
            "",
            "",
            None,
        ),
    ]


async def bursts(ground: Ground) -> list[Figure]:
    """Words as fast as possible: 500, and 5,000 at the same price a word."""
    speeds: dict[tuple[str, int], list[float]] = {}
    for _ in range(BURST_ROUNDS):
        for count in (500, 5_000):
            async with AsyncExitStack() as exits:
                for name, socket in (
                    ("relay", await ground.relay(exits)),
                    ("ours", await ground.ours(exits)),
                ):
                    answer = (await socket.ask(f"bench {count}")).read()
                    assert len(answer.words) == count, f"{name}: {len(answer.words)} of {count}"
                    speeds.setdefault((name, count), []).append(answer.words_per_s)
    ours, relay = median(speeds["ours", 500]), median(speeds["relay", 500])
    long, long_relay = median(speeds["ours", 5_000]), median(speeds["relay", 5_000])
    return [
        Figure(
            "500 words at full speed",
            f"{ours:,.0f}/s",
            f"{relay:,.0f}/s",
            f"{ours / relay:.2f} x",
            ">= 0.15 x",
            ours >= 0.15 * relay,
        ),
        Figure(
            "5,000 words at full speed",
            f"{long:,.0f}/s",
            f"{long_relay:,.0f}/s",
            f"{ours / long:.2f} x time a word of 500",
            "<= 1 x",
            long >= ours,
        ),
    ]


async def many_streams(ground: Ground) -> list[Figure]:
    """200 streams of 30 words a second: delay of delivery, lateness, CPU and memory."""
    stack = ground.stack
    relay_ids = with_children(stack.ids("relay"))
    answers, cpu_relay, _ = await _crowd(ground.relay, lambda: relay_ids)
    relay = _delays(answers)
    product = with_children(stack.ids("web", "worker"))
    redis_url = stack.environment["REDIS_URL"]
    servers = await in_database(database_ids) | broker_ids(redis_url)
    answers, cpu_ours, extra_mib = await _crowd(
        ground.ours, lambda: with_children(stack.ids("web", "worker")), servers
    )
    ours = _delays(answers)
    finished = sum(answer.completed for answer in answers)
    words = max(1, len(ours))
    a, b = _p95(ours), _p95(relay)
    late = sum(delay > LATE_MS for delay in ours) / words
    price, relay_price = cpu_ours / words * 1000, cpu_relay / max(1, len(relay)) * 1000
    assert product, "the product's processes ended"
    return [
        Figure(
            "200 streams: delay p95",
            f"{a:.1f} ms",
            f"{b:.1f} ms",
            f"{a / b:.1f} x",
            "<= 25 ms",
            a <= 25,
        ),
        Figure(
            "200 streams: delay p50",
            f"{median(ours):.1f} ms",
            f"{median(relay):.1f} ms",
            f"{median(ours) / median(relay):.1f} x",
            "",
            None,
        ),
        Figure(
            f"200 streams: later than {LATE_MS:.0f} ms",
            f"{late:.3%}",
            "",
            "",
            "< 0.1 %",
            late < 0.001,
        ),
        Figure(
            "200 streams: finished", f"{finished}", f"{STREAMS}", "", "200", finished == STREAMS
        ),
        Figure(
            "200 streams: CPU s per 1,000 words",
            f"{price:.3f}",
            f"{relay_price:.3f}",
            f"{price / relay_price:.1f} x",
            "<= 5 x",
            price <= 5 * relay_price,
        ),
        Figure(
            "200 streams: memory per open stream",
            f"{extra_mib / STREAMS:.2f} MiB",
            "",
            "",
            "<= 0.5 MiB",
            extra_mib / STREAMS <= 0.5,
        ),
    ]


async def history(ground: Ground) -> list[Figure]:
    """Time to the first word with 1,000 past messages against 10, and opening such a page."""
    firsts: dict[int, list[float]] = {10: [], 1_000: []}
    for _ in range(HISTORY_ROUNDS):
        for past in firsts:
            conversation_id, person = await ground.conversation()
            await in_database(write_history, conversation_id, past)
            async with readers.governed(ground.stack.url, conversation_id, person.token) as socket:
                await socket.ask("bench 1")
                firsts[past].append((await socket.ask("bench 1")).read().first_word_ms)
    few, many = median(firsts[10]), median(firsts[1_000])
    opened_ms, idle_ms = await _open_page(ground)
    return [
        Figure(
            "first word, 1,000 past messages",
            f"{many:.1f} ms",
            f"{few:.1f} ms with 10",
            f"{many / few:.2f} x",
            "<= 1.2 x",
            many <= 1.2 * few,
        ),
        Figure(
            "page of 1,000 messages, p50",
            f"{opened_ms:.1f} ms",
            f"{idle_ms:.1f} ms healthz",
            "",
            "<= 20 ms",
            opened_ms - idle_ms <= 20,
        ),
    ]


async def idle_memory(ground: Ground) -> list[Figure]:
    """Memory of our own processes with nobody there."""
    ids = with_children(ground.stack.ids("web", "worker", "jobs"))
    total = pss_mib(ids)
    parts = ", ".join(
        f"{name} {pss_mib(with_children(ground.stack.ids(name))):.0f}"
        for name in ("web", "worker", "jobs")
    )
    return [
        Figure(
            "idle memory of our processes",
            f"{total:.0f} MiB",
            parts,
            "",
            "<= 450 MiB",
            total <= 450,
        )
    ]


def write_history(conversation_id: UUID, messages: int) -> None:
    """Past messages, questions and answers by turns, as turns leave them in the journal."""
    with transaction.atomic():
        for number in range(messages // 2):
            append(
                conversation_id,
                [
                    Draft(
                        Kind.INPUT_ACCEPTED, {"kind": "message", "message": f"question {number}"}
                    ),
                    Draft(Kind.AGENT_RUN_STARTED, {}),
                    Draft(
                        Kind.ASSISTANT_MESSAGE,
                        {"text": f"answer {number} in a sentence or two", "segment": 0},
                    ),
                    Draft(Kind.AGENT_RUN_COMPLETED, {"usage": {}}),
                ],
                run_id=uuid4(),
                input_id=uuid4(),
            )


async def _crowd(
    connect: Callable[[AsyncExitStack, int], Awaitable[Socket]],
    processes: Callable[[], set[int]],
    servers: set[int] = frozenset(),  # type: ignore[assignment]  # read only
) -> tuple[list[Answer], float, float]:
    """Ask on many sockets; the answers, CPU seconds, and MiB more than before in the middle."""
    before_mib = pss_mib(processes())
    async with AsyncExitStack() as exits:
        sockets = [await connect(exits, number) for number in range(STREAMS)]
        counted = processes() | servers
        started_s = cpu_s(counted)

        async def ask(number: int, socket: Socket) -> Answer:
            await asyncio.sleep(RAMP_S * number / STREAMS)
            return await socket.ask(STREAM_ORDER)

        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(ask(*numbered)) for numbered in enumerate(sockets)]
            await asyncio.sleep(RAMP_S + 10)
            during_mib = pss_mib(processes())
        used_s = cpu_s(counted) - started_s
    return [task.result().read() for task in asked], used_s, during_mib - before_mib


async def _open_page(ground: Ground) -> tuple[float, float]:
    """Milliseconds to open a long conversation's page, and for an answer that does nothing."""
    conversation_id, person = await ground.conversation()
    await in_database(write_history, conversation_id, 1_000)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        await _sign_in(session, ground.stack.url, person)
        page = f"{ground.stack.url}/c/{conversation_id}"
        return await _typical_ms(session, page), await _typical_ms(
            session, f"{ground.stack.url}/healthz"
        )


async def _sign_in(session: aiohttp.ClientSession, url: str, person: Person) -> None:
    async with session.get(f"{url}/sign-in"):
        cookies = {cookie.key: cookie.value for cookie in session.cookie_jar}
    form = {
        "username": person.username,
        "password": person.password,
        "csrfmiddlewaretoken": cookies["csrftoken"],
    }
    async with session.post(f"{url}/sign-in", data=form, headers={"Referer": url}) as answer:
        assert answer.status == 200, f"sign-in answered {answer.status}"


async def _typical_ms(session: aiohttp.ClientSession, url: str) -> float:
    times = []
    for _ in range(PAGE_ROUNDS):
        started = time.perf_counter()
        async with session.get(url) as answer:
            await answer.read()
            assert answer.status == 200, f"{url} answered {answer.status}"
        times.append((time.perf_counter() - started) * 1000)
    return median(times)


def _delays(answers: list[Answer]) -> list[float]:
    return [delay for answer in answers for delay in answer.delays_ms] or [float("inf")]


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
