"""Reads one cluster for one tick, within the tick's time limit (time_limits.py).

`ReaderPool` keeps one reader (sample_reader.py) per cluster between ticks, so that connections,
metadata and requests are reused. When a cluster's settings change, it makes a new reader. It runs
on the gateway's event loop.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from monitoring.clock import now_ms
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.models import Cluster, parse_addresses
from monitoring.error_reason import Reason
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.brokerd_sample import BrokerdStatsReader
from monitoring.gateway.errors import GatewayError, OverLimit
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.zookeeper_server_states import ZooKeeper
from monitoring.sampling import time_limits
from monitoring.sampling.last_record_choice import LastRecords
from monitoring.sampling.sample_reader import SampleReader
from monitoring.ticks.tick import Tick


@dataclass(frozen=True, slots=True)
class SamplingTarget:
    """The addresses and client settings of a cluster. If they change, a new reader is made."""

    slug: str
    settings: ClientSettings
    admin: AdminUrls
    zookeeper: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, cluster: Cluster) -> "SamplingTarget":
        """Raises InvalidAddress or SecretUnreadable if the cluster's row cannot be used."""
        zookeeper = parse_addresses(cluster.zookeeper_connect.partition("/")[0])
        settings = cluster.kafka_client_settings()
        return cls(cluster.slug, settings, AdminUrls.of(cluster), tuple(zookeeper))


@dataclass(frozen=True, slots=True)
class SamplingResult:
    """The result of one pass: what was read, or the reason of the failure."""

    slug: str
    answers: ClusterAnswers | None
    reason: str  # a Reason; "" = none
    took_ms: int
    zookeeper_up: bool | None = None  # None = the cluster has no ZooKeeper


class ReaderPool:
    """The readers of all sampled clusters. Use it on the gateway's event loop only."""

    def __init__(self) -> None:
        self._readers: dict[str, tuple[SamplingTarget, SampleReader]] = {}
        self.last_ticks: dict[str, Tick] = {}  # cluster → newest ok tick of this process

    async def read(
        self, target: SamplingTarget, interval_ms: int, previous: Tick | None = None
    ) -> SamplingResult:
        """Read a cluster once, in less than one interval. `previous`: its last ok tick.

        If the cluster fails, the result has the reason; nothing is raised.
        """
        step_s, read_s = time_limits.step_s(interval_ms), time_limits.read_s(interval_ms)
        started_ms, answers, reason = now_ms(), None, ""
        zookeeper_check = asyncio.ensure_future(_zookeeper_up(target, read_s))
        try:
            async with asyncio.timeout(read_s) as limit:
                reader = await self._reader(target)
                read_answers = await reader.read(step_s)
                left_s = (limit.when() or 0) - asyncio.get_running_loop().time()
                await _read_last_records(reader, read_answers, previous, min(step_s, left_s / 2))
                answers = read_answers
        except TimeoutError:
            reason = Reason("longer_than_tick")
        except OverLimit as error:
            reason = Reason("answer_refused", why=error.message)
        except GatewayError as error:
            reason = Reason("cluster_silent", why=error.message)
        took_ms = now_ms() - started_ms
        return SamplingResult(target.slug, answers, reason, took_ms, await zookeeper_check)

    async def _reader(self, target: SamplingTarget) -> SampleReader:
        current = self._readers.get(target.slug)
        if current is not None and current[0] == target:
            return current[1]
        client = ClusterClient(target.settings)
        reader = SampleReader(client, BrokerdStatsReader(target.admin), now_ms)
        self._readers[target.slug] = (target, reader)
        if current is not None:
            await current[1].close()
        return reader

    async def close_others(self, slugs: Iterable[str]) -> list[str]:
        """Close the readers of other clusters; returns their slugs."""
        closed = sorted(self._readers.keys() - set(slugs))
        for slug in closed:
            _, reader = self._readers.pop(slug)
            self.last_ticks.pop(slug, None)
            await reader.close()
        return closed

    def row_count(self) -> int:
        """The number of rows of all ticks in `last_ticks`."""
        return sum(len(tick.partitions) + len(tick.groups) for tick in self.last_ticks.values())


async def _zookeeper_up(target: SamplingTarget, timeout_s: float) -> bool | None:
    """Whether any server of the ensemble is up; None = the ensemble is not known."""
    if not target.zookeeper:
        return None
    states = asyncio.to_thread(ZooKeeper(target.zookeeper).server_states)
    try:
        return any(server.up for server in await asyncio.wait_for(states, timeout_s))
    except TimeoutError:
        return False


async def _read_last_records(
    reader: SampleReader, answers: ClusterAnswers, previous: Tick | None, timeout_s: float
) -> None:
    known = LastRecords.of(previous, answers)
    rows = known.rows_to_read()
    if len(rows):
        known.add(await reader.read_last_records(answers, rows, timeout_s))
    answers.last_record_ms, answers.has_newer_records = known.times_ms, known.has_newer
