"""`/metrics`: the broker's metrics, with the names that a JMX exporter gives to Kafka's
(docs/metrics.md). The text is made in pieces, none of which holds the loop for longer than a turn.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from brokerd.event_loop_turns import TURN_S, in_turns
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.broker_metric_lines import BrokerMetricLines, GroupCounts, open_files
from brokerd.server.admin_http.broker_topic_metrics import partition_lines, topic_lines
from brokerd.server.admin_http.kafka_controller_metrics import ClusterCounts
from brokerd.server.admin_http.replica_manager_metrics import PartitionCounts
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService

PIECE_CHARS = 1 << 16


@dataclass(frozen=True, slots=True)
class PrometheusPage:
    broker_lines: BrokerMetricLines
    groups: GroupCoordinatorService
    replicas: ReplicaManager

    async def render(self, *, by_partition: bool) -> AsyncIterator[str]:
        counts, cluster = PartitionCounts(self.replicas), ClusterCounts()
        await in_turns(counts.everything, counts.take)
        if self.broker_lines.cluster.is_controller:
            await in_turns(list(self.broker_lines.cluster.image.topics.values()), cluster.take)
        groups = GroupCounts()
        await in_turns(list(self.groups.runtimes()), groups.take)
        files = await asyncio.to_thread(open_files)
        parts = [
            self.broker_lines.lines(counts, cluster, groups, files),
            topic_lines(self.broker_lines.metrics, counts, with_sizes=not by_partition),
        ]
        if by_partition:
            parts.append(partition_lines(counts.everything))
        for part in parts:
            async for piece in _pieces(part):
                yield piece


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
