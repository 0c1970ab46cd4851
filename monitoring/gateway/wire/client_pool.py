"""Clients that stay connected for the next read of the same cluster.

A page of records needs a connection to each leader; each takes a handshake, an ApiVersions request
and a login. A client also remembers which brokers did not answer, and asks them last.
"""

import asyncio
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.wire.cluster_client import ClusterClient

IDLE_S = 30.0
"""An unused client is closed after this time; brokers close connections after ten minutes."""
IDLE_MAX = 16  # unused clients of a cluster


class ClientPool:
    """The unused clients of one event loop, by cluster."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._idle: dict[ClientSettings, dict[ClusterClient, TimerHandle]] = {}

    def take(self, settings: ClientSettings) -> ClusterClient:
        """A client that nobody else uses: the one that was given back last, or a new one."""
        idle = self._idle.get(settings)
        if not idle:
            return ClusterClient(settings)
        client, timer = idle.popitem()
        timer.cancel()
        return client

    def give_back(self, settings: ClientSettings, client: ClusterClient) -> None:
        """Keep a client, none of whose requests may still run, for a while."""
        idle = self._idle.setdefault(settings, {})
        idle[client] = self._loop.call_later(IDLE_S, self._drop, settings, client)
        if len(idle) > IDLE_MAX:
            self._drop(settings, next(iter(idle)))

    def _drop(self, settings: ClientSettings, client: ClusterClient) -> None:
        idle = self._idle[settings]
        idle.pop(client).cancel()
        if not idle:
            del self._idle[settings]
        client.close()


_pools: WeakKeyDictionary[AbstractEventLoop, ClientPool] = WeakKeyDictionary()


def pool() -> ClientPool:
    """The pool of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _pools.get(loop)
    if found is None:
        found = _pools[loop] = ClientPool(loop)
    return found


@asynccontextmanager
async def client(settings: ClientSettings) -> AsyncIterator[ClusterClient]:
    """A client for some requests; after an error it is closed."""
    taken = pool().take(settings)
    try:
        yield taken
    except BaseException:
        taken.close()
        raise
    pool().give_back(settings, taken)
