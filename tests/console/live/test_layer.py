"""The channel layer that carries "a tick came" from the workers to the web processes."""

import asyncio

import pytest
from channels.layers import channel_layers, get_channel_layer


@pytest.fixture(autouse=True)
def _own_layer(redis_server):
    channel_layers.backends.clear()


async def test_what_is_sent_to_a_group_reaches_all_its_channels():
    layer = get_channel_layer()
    channels = [await layer.new_channel(), await layer.new_channel()]
    for channel in channels:
        await layer.group_add("tick.east", channel)
    await layer.group_send("tick.east", {"type": "tick", "tick": 7})
    for channel in channels:
        assert (await asyncio.wait_for(layer.receive(channel), 30))["tick"] == 7
    await layer.flush()


async def test_a_receiver_that_is_cancelled_ends():
    layer = get_channel_layer()
    receiver = asyncio.ensure_future(layer.receive(await layer.new_channel()))
    await asyncio.sleep(0)
    receiver.cancel()
    await asyncio.wait([receiver], timeout=30)
    assert receiver.cancelled()
    await layer.flush()
