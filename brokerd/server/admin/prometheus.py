"""The broker's counters as Prometheus text: per topic, never per partition."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokerd.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from brokerd.metrics import Histogram
    from brokerd.server.broker import Broker

SLICE = 500
_TOPIC_COUNTERS = {
    "brokerd_topic_bytes_in_total": "Bytes of records appended, by topic.",
    "brokerd_topic_bytes_out_total": "Bytes of records read, by topic.",
    "brokerd_topic_messages_in_total": "Records appended, by topic.",
    "brokerd_topic_size_bytes": "Bytes of the logs on this broker, by topic.",
}


async def render(broker: Broker) -> str:
    """Everything as text; the partitions are summed a slice per turn of the loop."""
    lines = list(_broker_lines(broker))
    sums: dict[str, list[int]] = {}
    everything = list(broker.replicas.all())
    for start in range(0, len(everything), SLICE):
        for each in everything[start : start + SLICE]:
            row = sums.setdefault(each.topic, [0, 0, 0, 0])
            row[0] += each.bytes_in
            row[1] += each.bytes_out
            row[2] += each.messages_in
            row[3] += each.log.size_bytes
        await asyncio.sleep(0)
    for column, (name, text) in enumerate(_TOPIC_COUNTERS.items()):
        lines += _head(name, "gauge" if name.endswith("_bytes") else "counter", text)
        lines += (f'{name}{{topic="{topic}"}} {row[column]}' for topic, row in sums.items())
    return "\n".join(lines) + "\n"


def _broker_lines(broker: Broker) -> Iterator[str]:
    metrics = broker.metrics
    plain = (
        ("brokerd_requests_total", "counter", "Requests taken in.", metrics.requests),
        ("brokerd_request_errors_total", "counter", "Requests refused.", metrics.request_errors),
        ("brokerd_received_bytes_total", "counter", "Bytes received.", metrics.received_bytes),
        ("brokerd_connections", "gauge", "Open connections.", len(broker.network.connections)),
        ("brokerd_parked_requests", "gauge", "Long polls and acks=all that wait.",
         broker.parked.count),
        ("brokerd_cold_fetches_total", "counter", "Fetches that had to wait for the disk.",
         broker.cold_reads.requests),
        ("brokerd_request_memory_bytes", "gauge", "Memory of frames not yet whole.",
         broker.network.buffers.loaned_bytes),
        ("brokerd_log_cleaner_rounds_total", "counter", "Cleanings of compacted logs.",
         broker.cleaner.metrics.rounds),
        ("brokerd_log_cleaner_read_bytes_total", "counter", "Bytes read to clean logs.",
         broker.cleaner.metrics.read_bytes),
        ("brokerd_log_cleaner_written_bytes_total", "counter", "Bytes that stayed of them.",
         broker.cleaner.metrics.written_bytes),
        ("brokerd_log_cleaner_damaged_batches_total", "counter",
         "Batches met that do not hold together.", broker.cleaner.metrics.damaged_batches),
        ("brokerd_log_cleaner_uncleanable_partitions", "gauge",
         "Partitions whose log could not be cleaned.", len(broker.cleaner.uncleanable)),
        ("brokerd_is_controller", "gauge", "1 on the elected controller.",
         int(broker.cluster.is_controller)),
    )  # fmt: skip
    for name, kind, text, value in plain:
        yield from _head(name, kind, text)
        yield f"{name} {value}"
    yield from _head("brokerd_api_requests_total", "counter", "Requests by API.")
    for key in ApiKey:
        count = metrics.api(key).requests
        if count:
            yield f'brokerd_api_requests_total{{api="{key.name.lower()}"}} {count}'
    yield from _histogram(
        "brokerd_loop_lag_seconds", "How late the event loop runs its timers.", metrics.loop_lag_s
    )


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _histogram(name: str, text: str, histogram: Histogram) -> Iterator[str]:
    yield from _head(name, "histogram", text)
    seen = 0
    for bound, count in zip(histogram.bounds, histogram.counts, strict=False):
        seen += count
        yield f'{name}_bucket{{le="{bound:g}"}} {seen}'
    yield f'{name}_bucket{{le="+Inf"}} {histogram.count}'
    yield f"{name}_sum {histogram.total:.6f}"
    yield f"{name}_count {histogram.count}"
