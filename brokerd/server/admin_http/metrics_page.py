"""`/metrics`: the broker's metrics, with the names that a JMX exporter gives to Kafka's
(docs/metrics.md). The text is made in pieces, none of which holds the loop for longer than a turn.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass

from brokerd.replication.partition import TRAFFIC, Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.broker_metric_lines import BrokerMetricLines, GroupCounts, open_files
from brokerd.server.admin_http.partition_counts import (
    ClusterCounts,
    PartitionCounts,
    is_under_replicated,
)
from brokerd.server.admin_http.prometheus_text import escape, head, singles
from brokerd.server.coordinator_runtime.group_service import GroupService
from brokerd.turns import TURN_S, in_turns

PIECE_CHARS = 1 << 16

_TOPIC_METRICS = "kafka_server_brokertopicmetrics_"
_TRAFFIC = (
    ("bytesin_total", "Bytes of records appended for producers."),
    ("bytesout_total", "Bytes of records sent to consumers."),
    ("messagesin_total", "Records appended for producers."),
    ("totalproducerequests_total", "Batches to append, one for each partition of a Produce."),
    ("totalfetchrequests_total", "Partitions that were asked for by Fetch and are led here."),
    ("failedproducerequests_total", "Batches refused, expected refusals aside."),
    ("failedfetchrequests_total", "Partitions of Fetch refused, expected refusals aside."),
)
_LOG_SIZE = "kafka_log_log_size"

_BY_PARTITION: tuple[tuple[str, str, str, Callable[[Partition], int]], ...] = (
    (_LOG_SIZE, "gauge", "Bytes of the log.", lambda p: p.log.size_bytes),
    ("kafka_log_log_logstartoffset", "gauge", "The first offset.",
     lambda p: p.log.log_start_offset),
    ("kafka_log_log_logendoffset", "gauge", "The next offset.", lambda p: p.log.log_end_offset),
    ("kafka_log_log_numlogsegments", "gauge", "Segments.", lambda p: len(p.log.local.segments)),
    ("brokerd_partition_high_watermark", "gauge", "Consumers see what is below.",
     lambda p: p.high_watermark),
    ("brokerd_partition_bytes_in_total", "counter", "As by topic.", lambda p: p.bytes_in),
    ("brokerd_partition_bytes_out_total", "counter", "As by topic.", lambda p: p.bytes_out),
    ("brokerd_partition_messages_in_total", "counter", "As by topic.", lambda p: p.messages_in),
)  # fmt: skip
_BY_LED_PARTITION: tuple[tuple[str, str, Callable[[Partition], int]], ...] = (
    ("replicascount", "Replicas.", lambda p: len(p.state.replicas) if p.state else 0),
    ("insyncreplicascount", "Replicas in sync.", lambda p: len(p.state.isr) if p.state else 0),
    ("underreplicated", "1 where a replica is not in sync.",
     lambda p: bool(p.state and is_under_replicated(p.state))),
    ("underminisr", "1 where fewer are in sync than min.insync.replicas.",
     lambda p: bool(p.state and len(p.state.isr) < p.min_isr)),
    ("atminisr", "1 where just min.insync.replicas are in sync.",
     lambda p: bool(p.state and len(p.state.isr) == p.min_isr)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PrometheusPage:
    broker_lines: BrokerMetricLines
    groups: GroupService
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
            self._topics(counts, with_sizes=not by_partition),
        ]
        if by_partition:
            parts.append(_partitions(counts.everything))
        for part in parts:
            async for piece in _pieces(part):
                yield piece

    def _topics(self, counts: PartitionCounts, *, with_sizes: bool) -> Iterator[str]:
        """Sums by topic; as in Kafka, those of all topics have the same names, without a label."""
        metrics = self.broker_lines.metrics
        total = list(counts.total)
        total[TRAFFIC.index("failed_produces")] = metrics.failed_produces
        total[TRAFFIC.index("failed_fetches")] = metrics.failed_fetches
        for place, (name, text) in enumerate(_TRAFFIC):
            name = _TOPIC_METRICS + name
            yield head(name, "counter", text)
            yield f"{name} {total[place]}\n"
            for topic, sums in counts.traffic.items():
                yield f"{name}{counts.labels[topic]} {sums[place]}\n"
        if with_sizes and counts.sizes:
            yield head(_LOG_SIZE, "gauge", "Bytes of the logs on this broker.")
            for topic, size_bytes in counts.sizes.items():
                yield f"{_LOG_SIZE}{counts.labels[topic]} {size_bytes}\n"
        text = "Bytes of records refused because they are too large."
        yield from singles(_TOPIC_METRICS, ("bytesrejected_total", text, metrics.rejected_bytes))


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


def _partitions(partitions: list[Partition]) -> Iterator[str]:
    if not partitions:
        return
    for name, kind, text, value in _BY_PARTITION:
        yield head(name, kind, text)
        for each in partitions:
            place = f'topic="{escape(each.topic)}",partition="{each.index}"'
            yield f"{name}{{{place}}} {value(each)}\n"
    led = [each for each in partitions if each.is_leader]
    for name, text, value in _BY_LED_PARTITION if led else ():
        name = f"kafka_cluster_partition_{name}"
        yield head(name, "gauge", text)
        for each in led:
            place = f'topic="{escape(each.topic)}",partition="{each.index}"'
            yield f"{name}{{{place}}} {int(value(each))}\n"
