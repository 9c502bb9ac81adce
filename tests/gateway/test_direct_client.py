"""Calls outside a turn's steps: one row each, and the error that happened, not another one."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.gateway import budgets, client, deployments
from agents.gateway.calls import CallSubject
from agents.gateway.client import ProviderError
from agents.gateway.connection import Connection
from agents.gateway.events import ModelRequest, Usage
from agents.gateway.models import Budget, BudgetHold, Deployment, ModelCall, Purpose
from agents.journal.offloading import in_database
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import RateLimited
from tests.gateway.conftest import HELLO
from tests.gateway.raw_server import RawServer, Reply, chunk, events, serving

pytestmark = pytest.mark.usefixtures("kept_db")

LEAK = "sk-live-0123456789 for alice"
USAGE = {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9}}
FINE = Reply([events(chunk(content="Short."), chunk("stop"), USAGE)])
BUSY = Reply(status="503 Busy")


@pytest.fixture
def kept_db(committed_db: None) -> Iterator[None]:
    """The committed database; budgets would change what other tests count, so none stays."""
    yield
    Budget.objects.all().delete()


async def reach(server: RawServer) -> Connection:
    """The server as a deployment that exists, so that calls can refer to it."""

    def made() -> Connection:
        deployment = Deployment.objects.create(
            name=server.url, base_url=server.url, model="m", max_output_tokens=100
        )
        return deployments.connection(deployments.chat_deployment(deployment.pk))

    return await in_database(made)


async def rows(connection: Connection) -> list[tuple[Any, ...]]:
    """What the ledger says of a deployment's calls."""
    found = ModelCall.objects.filter(deployment_id=connection.deployment_id).order_by("id")
    columns = ("purpose", "outcome", "error_class", "failure", "status", "prompt_tokens")
    return await in_database(list, found.values_list(*columns))


SUMMARY = CallSubject(purpose=Purpose.COMPACTION)


@pytest.mark.req("GW-006", "AUD-005")
async def test_an_answer_is_one_row() -> None:
    async with serving(FINE) as server:
        connection = await reach(server)
        ended = await client.complete(connection, HELLO, SUMMARY)
    assert (ended.text, ended.usage) == ("Short.", Usage(20, 9))
    assert await rows(connection) == [("compaction", "complete", "", "", None, 20)]


@pytest.mark.parametrize(
    ("reply", "row"),
    [
        (Reply([LEAK.encode()], status="400 No"), ("provider_error", "provider_refused", 400)),
        (Reply([LEAK.encode()], status="401 No"), ("forbidden", "provider_credentials", 401)),
        (Reply([LEAK.encode()], status="418 Odd"), ("provider_error", "provider_refused", 418)),
        (Reply([LEAK.encode()], status="299 Odd"), ("provider_error", "provider_garbage", 299)),
        (
            Reply([events({"error": {"message": f"context length {LEAK}"}})]),
            ("invalid_argument", "context_too_long", None),
        ),
        (
            Reply([LEAK.encode()], headers=("Content-Type: text/html",)),
            ("provider_error", "provider_garbage", 200),
        ),
    ],
)
@pytest.mark.req("GW-005", "GW-006", "GW-007")
async def test_a_failure_is_one_row_and_the_error_itself(reply: Reply, row: tuple) -> None:
    async with serving(reply) as server:
        connection = await reach(server)
        with pytest.raises(ProviderError) as raised:
            await client.complete(connection, HELLO, SUMMARY)
    assert (raised.value.failure.code, raised.value.failure.status) == row[1:]
    assert LEAK not in repr(raised.value) + str(raised.value.failure)
    assert raised.value.__context__ is None
    assert await rows(connection) == [("compaction", "failed", *row, None)]


async def test_an_attempt_made_again_is_a_row_of_its_own() -> None:
    async with serving(BUSY, FINE) as server:
        connection = await reach(server)
        await client.complete(connection, HELLO, SUMMARY)
    assert [row[1] for row in await rows(connection)] == ["failed", "complete"]


@pytest.mark.req("GW-007")
async def test_a_request_of_no_sense_is_told_apart_from_a_refusal() -> None:
    unreadable = object()
    async with serving(FINE) as server:
        connection = await reach(server)
        request = ModelRequest(messages=[{"role": "user", "content": unreadable}])
        with pytest.raises(TypeError):
            await client.complete(connection, request, SUMMARY)
        assert server.bodies == []
    assert await rows(connection) == [
        ("compaction", "failed", "invalid_argument", "invalid_argument", None, None)
    ]


async def test_a_cancelled_call_is_a_row_as_well() -> None:
    async with serving(Reply(end="hold")) as server:
        connection = await reach(server)
        task = asyncio.create_task(client.complete(connection, HELLO, SUMMARY))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [row[1] for row in await rows(connection)] == ["cancelled"]


async def test_it_holds_and_settles_budgets_by_itself(make_member: Any) -> None:
    def people() -> tuple[Member, Budget]:
        alice = make_member("alice")
        made = Budget(member=alice, amount=500)
        budgets.save(actor="system:tests", budget=made)
        return alice, made

    alice, made = await in_database(people)
    subject = replace(SUMMARY, member_id=alice.pk)
    async with serving(FINE, Reply(status="400 No"), FINE) as server:
        connection = await reach(server)
        await client.complete(connection, HELLO, subject)
        with pytest.raises(ProviderError):
            await client.complete(connection, HELLO, subject)
        await in_database(made.refresh_from_db)
        assert (made.used, made.held) == (29, 0)
        made.amount = 30
        await in_database(budgets.save, actor="system:tests", budget=made)
        with pytest.raises(RateLimited) as refused:
            await client.complete(connection, HELLO, subject)
        assert refused.value.reason is Reason.BUDGET_EXHAUSTED
        assert len(server.bodies) == 2
    assert len(await rows(connection)) == 2
    assert not await in_database(BudgetHold.objects.filter(budget=made).exists)
