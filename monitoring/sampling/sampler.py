"""The adapter around one tick of one cluster: connections, clock and time limits.

`Samplers` keeps a reader per cluster between ticks, so that connections, metadata and requests
are reused; a cluster whose settings changed gets a new one. Runs on the gateway's loop.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from monitoring.clock import now_ms
from monitoring.clusters import Cluster, parse_addresses
from monitoring.gateway.admin_urls import AdminUrls
from monitoring.gateway.counters import CounterSource
from monitoring.gateway.errors import GatewayError, OverLimit
from monitoring.gateway.wire.reader import ClusterReader
from monitoring.gateway.wire.reads import ClusterReads
from monitoring.gateway.zookeeper import ZooKeeper
from monitoring.ticks.tick import Tick

_STEP_SHARE, _STEP_S_MIN, _STEP_S_MAX = 0.25, 0.5, 3.0
_WHOLE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Target:
    """What a reader needs to know of a cluster; another value means another reader."""

    slug: str
    bootstrap: tuple[tuple[str, int], ...]
    admin: AdminUrls
    zookeeper: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, cluster: Cluster) -> "Target":
        """Raises ValueError or SecretUnreadable if the cluster's row cannot be used."""
        bootstrap = tuple(parse_addresses(cluster.bootstrap_servers))
        zookeeper = parse_addresses(cluster.zookeeper_connect.partition("/")[0])
        return cls(cluster.slug, bootstrap, AdminUrls.of(cluster), tuple(zookeeper))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One pass: what was read, or why not."""

    slug: str
    reads: ClusterReads | None
    reason: str
    took_ms: int
    zookeeper_up: bool | None = None  # None = there is none to ask


class Samplers:
    """The readers of every sampled cluster; belongs to the gateway's loop."""

    def __init__(self) -> None:
        self._readers: dict[str, tuple[Target, ClusterReader]] = {}
        self.last: dict[str, Tick] = {}  # the newest good tick of each, as far as made here

    async def read(self, target: Target, interval_ms: int) -> Outcome:
        """One pass over a cluster, in less than one interval. Never raises for its faults."""
        step_s = min(max(interval_ms / 1000 * _STEP_SHARE, _STEP_S_MIN), _STEP_S_MAX)
        started_ms, reads, reason = now_ms(), None, ""
        asked = asyncio.ensure_future(_zookeeper_up(target, interval_ms / 1000 * _WHOLE_SHARE))
        try:
            async with asyncio.timeout(interval_ms / 1000 * _WHOLE_SHARE):
                reader = await self._reader(target)
                reads = await reader.read(step_s)
        except TimeoutError:
            reason = "reading the cluster took longer than a tick allows"
        except OverLimit as error:
            reason = f"what the cluster tells is refused: {error}"
        except GatewayError as error:
            reason = f"the cluster does not answer: {error}"
        took_ms = now_ms() - started_ms
        return Outcome(target.slug, reads, reason, took_ms, await asked)

    async def keep_only(self, slugs: Iterable[str]) -> list[str]:
        """Close the readers of clusters that are gone; which."""
        gone = sorted(self._readers.keys() - set(slugs))
        for slug in gone:
            _, reader = self._readers.pop(slug)
            self.last.pop(slug, None)
            await reader.close()
        return gone

    async def _reader(self, target: Target) -> ClusterReader:
        kept = self._readers.get(target.slug)
        if kept is not None and kept[0] == target:
            return kept[1]
        reader = ClusterReader(target.bootstrap, CounterSource(target.admin), now_ms)
        self._readers[target.slug] = (target, reader)
        if kept is not None:
            await kept[1].close()
        return reader


async def _zookeeper_up(target: Target, timeout_s: float) -> bool | None:
    """Whether any server of the ensemble serves."""
    if not target.zookeeper:
        return None
    asking = asyncio.to_thread(ZooKeeper(target.zookeeper).presence)
    try:
        return any(server.up for server in await asyncio.wait_for(asking, timeout_s))
    except TimeoutError:
        return False
