"""`/metrics`: the broker's metrics, with the names that a JMX exporter gives to Kafka's
(docs/metrics.md). Each module here is named after the MBean whose metrics it has, with those of
brokerd's own on the same subject. The text is made in pieces, none of which holds the loop for
longer than a turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokerd.clock import Clock
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.event_loop_turns import TURN_S, in_turns
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.log_manager import LogManager
from brokerd.metric_counters import BrokerMetrics
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.metrics.broker_topic_metrics import partition_lines, topic_lines
from brokerd.server.admin_http.metrics.delayed_operation_purgatory_metrics import purgatory_lines
from brokerd.server.admin_http.metrics.fetch_session_cache_metrics import fetch_session_cache_lines
from brokerd.server.admin_http.metrics.group_metadata_manager_metrics import (
    GroupCounts,
    group_metadata_manager_lines,
)
from brokerd.server.admin_http.metrics.kafka_controller_metrics import (
    ClusterCounts,
    kafka_controller_lines,
)
from brokerd.server.admin_http.metrics.log_cleaner_metrics import log_cleaner_lines
from brokerd.server.admin_http.metrics.log_manager_metrics import log_manager_lines
from brokerd.server.admin_http.metrics.process_metrics import (
    loop_lag_lines,
    open_files,
    process_lines,
)
from brokerd.server.admin_http.metrics.replica_manager_metrics import (
    PartitionCounts,
    replica_manager_lines,
)
from brokerd.server.admin_http.metrics.request_metrics import request_lines
from brokerd.server.admin_http.metrics.session_expire_listener_metrics import (
    session_expire_listener_lines,
)
from brokerd.server.admin_http.metrics.socket_server_metrics import (
    connection_lines,
    socket_server_lines,
)
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.network.socket_server import SocketServer
from brokerd.server.requests.purgatory import Purgatory

if TYPE_CHECKING:
    from brokerd.server.fetch.fetch_session_cache import FetchSessionCache

PIECE_CHARS = 1 << 16


@dataclass(frozen=True, slots=True)
class MetricsPage:
    """The parts of the broker from which metrics are read."""

    metrics: BrokerMetrics
    cluster: BrokerLifecycle
    socket_server: SocketServer
    logs: LogManager
    cleaner: LogCleanerManager
    pending_reads: PendingReads
    purgatory: Purgatory
    fetch_sessions: FetchSessionCache
    settings: BrokerConfigHandler
    clock: Clock
    started_at_ms: int
    is_ready: Callable[[], bool]
    groups: GroupCoordinatorService
    replicas: ReplicaManager

    async def render(self, *, by_partition: bool) -> AsyncIterator[str]:
        counts, cluster = PartitionCounts(self.replicas), ClusterCounts()
        await in_turns(counts.everything, counts.take)
        if self.cluster.is_controller:
            await in_turns(list(self.cluster.image.topics.values()), cluster.take)
        groups = GroupCounts()
        await in_turns(list(self.groups.runtimes()), groups.take)
        files = await asyncio.to_thread(open_files)
        parts = [
            self._lines(counts, cluster, groups, files),
            topic_lines(self.metrics, counts, with_sizes=not by_partition),
        ]
        if by_partition:
            parts.append(partition_lines(counts.everything))
        for part in parts:
            async for piece in _pieces(part):
                yield piece

    def _lines(
        self, counts: PartitionCounts, cluster: ClusterCounts, groups: GroupCounts, files: int
    ) -> Iterator[str]:
        """All metrics that are not by topic."""
        metrics, socket_server = self.metrics, self.socket_server
        yield from request_lines(metrics)
        yield from process_lines(self.started_at_ms, files)
        yield from socket_server_lines(metrics, socket_server, is_ready=self.is_ready())
        yield from replica_manager_lines(counts)
        yield from fetch_session_cache_lines(self.fetch_sessions)
        yield from kafka_controller_lines(self.cluster, cluster)
        yield from group_metadata_manager_lines(groups)
        yield from log_cleaner_lines(self.cleaner, self.started_at_ms, self.clock.now_ms())
        yield from session_expire_listener_lines(self.cluster)
        listeners = [listener.name for listener in self.settings.config.listeners]
        yield from connection_lines(metrics, socket_server, listeners)
        yield from purgatory_lines(self.purgatory, self.pending_reads)
        yield from log_manager_lines(metrics, self.logs)
        yield from loop_lag_lines(metrics)


async def _pieces(lines: Iterable[str]) -> AsyncIterator[str]:
    """The lines joined to pieces, one for each iteration of the loop."""
    now_s = asyncio.get_running_loop().time
    piece: list[str] = []
    size = 0
    ends_s = now_s() + TURN_S
    for line in lines:
        piece.append(line)
        size += len(line)
        if size >= PIECE_CHARS or now_s() > ends_s:
            yield "".join(piece)
            await asyncio.sleep(0)
            piece, size = [], 0
            ends_s = now_s() + TURN_S
    if piece:
        yield "".join(piece)
