"""The metrics of kafka.server:type=BrokerTopicMetrics, and those of partitions: kafka.log:type=Log
and kafka.cluster:type=Partition.
"""

from collections.abc import Callable, Iterator

from brokerd.metric_counters import BrokerMetrics
from brokerd.replication.partition import TRAFFIC, Partition
from brokerd.server.admin_http.metrics.prometheus_text import escape, head, singles
from brokerd.server.admin_http.metrics.replica_manager_metrics import PartitionCounts

_TOPIC_METRICS = "kafka_server_brokertopicmetrics_"
_TRAFFIC = {
    "bytes_in": ("bytesin_total", "Bytes of records appended for producers."),
    "bytes_out": ("bytesout_total", "Bytes of records sent to consumers."),
    "messages_in": ("messagesin_total", "Records appended for producers."),
    "produces": ("totalproducerequests_total",
        "Batches to append, one for each partition of a Produce."),
    "fetches": ("totalfetchrequests_total",
        "Partitions that were asked for by Fetch and are led here."),
    "failed_produces": ("failedproducerequests_total",
        "Batches refused, expected refusals aside."),
    "failed_fetches": ("failedfetchrequests_total",
        "Partitions of Fetch refused, expected refusals aside."),
}  # fmt: skip
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
     lambda p: p.is_under_replicated),
    ("underminisr", "1 where fewer are in sync than min.insync.replicas.",
     lambda p: p.is_under_min_isr),
    ("atminisr", "1 where just min.insync.replicas are in sync.",
     lambda p: p.is_at_min_isr),
)  # fmt: skip


def topic_lines(
    metrics: BrokerMetrics, counts: PartitionCounts, *, with_sizes: bool
) -> Iterator[str]:
    """Sums by topic; as in Kafka, those of all topics have the same names, without a label."""
    total = list(counts.total)
    total[TRAFFIC.index("failed_produces")] = metrics.failed_produces
    total[TRAFFIC.index("failed_fetches")] = metrics.failed_fetches
    for counter, (name, text) in _TRAFFIC.items():
        place, name = TRAFFIC.index(counter), _TOPIC_METRICS + name
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


def partition_lines(partitions: list[Partition]) -> Iterator[str]:
    if not partitions:
        return
    for name, kind, text, value in _BY_PARTITION:
        yield head(name, kind, text)
        for each in partitions:
            labels = f'topic="{escape(each.topic)}",partition="{each.index}"'
            yield f"{name}{{{labels}}} {value(each)}\n"
    led = [each for each in partitions if each.is_leader]
    for name, text, value in _BY_LED_PARTITION if led else ():
        name = f"kafka_cluster_partition_{name}"
        yield head(name, "gauge", text)
        for each in led:
            labels = f'topic="{escape(each.topic)}",partition="{each.index}"'
            yield f"{name}{{{labels}}} {int(value(each))}\n"
