"""The channel layer's receivers end when they are cancelled."""

import asyncio

import pytest
from channels.layers import channel_layers, get_channel_layer
from channels_redis.core import RedisChannelLayer


@pytest.fixture(autouse=True)
def _own_layer(redis_server):
    channel_layers.backends.clear()


async def test_a_receiver_whose_cancellation_was_lost_ends_all_the_same(monkeypatch):
    begun = asyncio.Event()

    async def deaf(*_):
        """What was seen of the library: the cancellation is swallowed, nothing was found."""
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return

    monkeypatch.setattr(RedisChannelLayer, "_brpop_with_clean", deaf)
    layer = get_channel_layer()
    receiver = asyncio.ensure_future(layer.receive(await layer.new_channel()))
    await begun.wait()
    receiver.cancel()
    await asyncio.wait([receiver], timeout=10)
    assert receiver.cancelled()


async def test_what_is_sent_is_received(redis_server):
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "tick", "tick": 7})
    assert (await asyncio.wait_for(layer.receive(channel), 10))["tick"] == 7
