"""The pages of the admin port. Answers about all partitions are built a slice per iteration of the
loop; counters are since the start."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.log_manager import LogManager
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.event_ring import EventRing
from brokerd.server.admin_http.http_server import Answer, Page, Query, json_answer, problem
from brokerd.server.admin_http.metrics.log_manager_metrics import disk_spaces
from brokerd.server.admin_http.metrics.metrics_page import MetricsPage
from brokerd.server.admin_http.metrics.process_metrics import resident_bytes
from brokerd.server.admin_http.metrics.prometheus_text import CONTENT_TYPE
from brokerd.server.admin_http.segment_pages import SegmentPages
from brokerd.server.network.socket_server import SocketServer

SLICE = 500
EVENT_LIMIT_MAX = 1000
COLUMNS: dict[str, Any] = {
    "topic": lambda partition: partition.topic,
    "partition": lambda partition: partition.index,
    "leader": lambda partition: partition.is_leader,
    "size_bytes": lambda partition: partition.log.size_bytes,
    "log_start_offset": lambda partition: partition.log.log_start_offset,
    "log_end_offset": lambda partition: partition.log.log_end_offset,
    "high_watermark": lambda partition: partition.high_watermark,
    "bytes_in": lambda partition: partition.bytes_in,
    "bytes_out": lambda partition: partition.bytes_out,
    "messages_in": lambda partition: partition.messages_in,
}


@dataclass(frozen=True, slots=True)
class AdminPages:
    metrics_page: MetricsPage
    cluster: BrokerLifecycle
    socket_server: SocketServer
    logs: LogManager
    cleaner: LogCleanerManager
    replicas: ReplicaManager
    segments: SegmentPages
    event_ring: EventRing
    started_at_ms: int
    is_ready: Callable[[], bool]

    def table(self) -> dict[str, Page]:
        return {
            "/healthz": self.healthz,
            "/readyz": self.readyz,
            "/metrics": self.metrics,
            "/v1/broker": self.broker,
            "/v1/partitions": self.partitions,
            "/v1/events": self.events,
            "/v1/compaction": self.compaction,
            **self.segments.table(),
        }

    def healthz(self, query: Query) -> Answer:
        return json_answer({"status": "ok"})

    def readyz(self, query: Query) -> Answer:
        if not self.is_ready():
            return problem(503, "the broker is starting or stopping")
        return json_answer({"status": "ready"})

    def metrics(self, query: Query) -> Answer:
        by_partition = bool(query.number("partitions", 0))
        return Answer(200, self.metrics_page.render(by_partition=by_partition), CONTENT_TYPE)

    def broker(self, query: Query) -> Answer:
        led = self.replicas.all()
        return json_answer(
            {
                "broker_id": self.replicas.local_id,
                "controller_id": self.cluster.image.controller_id,
                "started_at_ms": self.started_at_ms,
                "bytes_in": sum(each.bytes_in for each in led),
                "bytes_out": sum(each.bytes_out for each in led),
                "messages_in": sum(each.messages_in for each in led),
                "requests": self.metrics_page.metrics.requests,
                "connections": len(self.socket_server.connections),
                "rss_bytes": resident_bytes(),
                "cpu_seconds": round(time.process_time(), 3),
                "log_dirs": [each._asdict() for each in disk_spaces(self.logs)],
                "offline_log_dirs": self.logs.dirs.offline,
            }
        )

    async def partitions(self, query: Query) -> Answer:
        everything: Sequence[Partition] = list(self.replicas.all())
        dirs = self.logs.dirs
        number_of = {path: number for number, path in enumerate(dirs.paths)}

        def log_dir(partition: Partition) -> int:
            """An index into `log_dirs`; −1 if the partition is in none of them now."""
            held_in = dirs.of.get((partition.topic, partition.index))
            return -1 if held_in is None else number_of.get(held_in.path, -1)

        of_column = COLUMNS | {"log_dir": log_dir}
        columns: dict[str, list[str]] = {name: [] for name in of_column}
        for start in range(0, len(everything), SLICE):
            piece = everything[start : start + SLICE]
            for name, value in of_column.items():
                columns[name].append(json.dumps([value(each) for each in piece])[1:-1])
            await asyncio.sleep(0)
        body = ",".join(f'"{name}":[{",".join(parts)}]' for name, parts in columns.items())
        return Answer(200, f'{{{body},"log_dirs":{json.dumps(list(number_of))}}}')

    def events(self, query: Query) -> Answer:
        events = self.event_ring.after(query.number("after", 0), query.limit(100, EVENT_LIMIT_MAX))
        return json_answer({"events": [each._asdict() for each in events]})

    def compaction(self, query: Query) -> Answer:
        cleaner = self.cleaner
        return json_answer(
            {
                "rounds": cleaner.metrics.rounds,
                "read_bytes": cleaner.metrics.read_bytes,
                "written_bytes": cleaner.metrics.written_bytes,
                "cleaning": cleaner.busy,
                "waiting": [self._held(*key, offset) for key, offset in cleaner.held.items()],
                "uncleanable": [
                    {"topic": topic, "partition": partition, "reason": reason}
                    for (topic, partition), reason in cleaner.uncleanable.items()
                ],
            }
        )

    def _held(self, topic: str, index: int, offset: int) -> dict[str, Any]:
        """A log that an open transaction keeps from being cleaned further."""
        producers = self.segments.partition(topic, index).log.producers.entries
        return {
            "topic": topic,
            "partition": index,
            "first_unstable_offset": offset,
            "producer_ids": [
                producer_id for producer_id, entry in producers.items()
                if entry.txn_first_offset >= 0
            ],
            "reason": f"a transaction that begins at offset {offset} is open; segments behind it "
            "are cleaned when it ends",
        }  # fmt: skip
