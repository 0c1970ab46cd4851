"""Clients of a real cluster that are used again."""

import asyncio

import pytest

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.wire import client_pool
from monitoring.gateway.wire.client_pool import IDLE_MAX, ClientPool
from monitoring.gateway.wire.cluster_client import ClusterClient

TIMEOUT_S = 5.0


@pytest.fixture
def settings(live_cluster) -> ClientSettings:
    return live_cluster.row().kafka_client_settings()


def connections_of(client: ClusterClient) -> list[object]:
    return [channel._connection for channel in client._channels.values()]


async def test_the_next_use_has_the_same_connection(settings):
    async with client_pool.client(settings) as first:
        await first.read_metadata(TIMEOUT_S, topics=[])
        before = connections_of(first)
    async with client_pool.client(settings) as second:
        await second.read_metadata(TIMEOUT_S, topics=[])
        assert second is first
        assert connections_of(second) == before


async def test_two_uses_at_the_same_time_have_different_clients(settings):
    async with client_pool.client(settings) as first, client_pool.client(settings) as second:
        assert first is not second


async def test_a_client_is_not_used_for_another_cluster(settings):
    async with client_pool.client(settings) as first:
        pass
    other = ClientSettings((("127.0.0.1", 1),))
    async with client_pool.client(other) as second:
        assert second is not first


async def test_a_client_is_closed_after_an_error(settings):
    used = []

    async def fail() -> None:
        async with client_pool.client(settings) as first:
            await first.read_metadata(TIMEOUT_S, topics=[])
            used.extend([first, *connections_of(first)])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    first, connection = used
    assert connection._writer.is_closing()
    async with client_pool.client(settings) as second:
        assert second is not first


async def test_an_unused_client_is_closed(settings, monkeypatch):
    monkeypatch.setattr(client_pool, "IDLE_S", 0.01)
    async with client_pool.client(settings) as first:
        await first.read_metadata(TIMEOUT_S, topics=[])
        (connection,) = connections_of(first)
    async with asyncio.timeout(TIMEOUT_S):
        while not connection._writer.is_closing():
            await asyncio.sleep(0.01)
    async with client_pool.client(settings) as second:
        assert second is not first


async def test_more_unused_clients_than_the_limit_are_closed_oldest_first(settings):
    pool = ClientPool(asyncio.get_running_loop())
    clients = [pool.take(settings) for _ in range(IDLE_MAX + 1)]
    for each in clients:
        pool.give_back(settings, each)
    kept = [pool.take(settings) for _ in range(IDLE_MAX)]
    assert kept == clients[:0:-1]
    assert pool.take(settings) is not clients[0]
