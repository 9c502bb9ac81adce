"""Quiet connections to the broker stay open.

The Redis client closes a socket on which it waits longer than 5 s unless told otherwise, and the
channel layer waits for exactly 5 s: without the setting a quiet page loses its connection.
"""

import asyncio
import time

import pytest
from channels.layers import channel_layers
from django.conf import settings

from tests.patience import promised

QUIET_S = 8.5


async def test_a_channel_that_hears_nothing_for_long_still_gets_its_message() -> None:
    layer = channel_layers.make_backend("default")
    channel = await layer.new_channel()
    waiting = asyncio.create_task(layer.receive(channel))
    began = time.monotonic()
    while time.monotonic() - began < QUIET_S:
        await asyncio.sleep(0.25)
        assert not waiting.done(), "it stopped waiting"
    await layer.send(channel, {"type": "wake"})
    assert (await asyncio.wait_for(waiting, promised(5))) == {"type": "wake"}
    await layer.close_pools()


def test_every_configured_host_turns_the_client_s_time_limit_off() -> None:
    hosts = settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    assert hosts
    assert all(host["socket_timeout"] is None for host in hosts)


@pytest.mark.parametrize("policy", ["noeviction"])
async def test_the_broker_never_evicts_work(policy: str) -> None:
    layer = channel_layers.make_backend("default")
    connection = layer.connection(0)
    found = await connection.config_get("maxmemory-policy")
    assert found["maxmemory-policy"] == policy
    await layer.close_pools()
