"""The pages of the admin port. Answers about all partitions are built a slice per iteration of the
loop; counters are since the start."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import compression_sample, inspection
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.inspection import BatchInfo
from brokerd.log.io.open_files import FileRange
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import codec_name
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.broker_metric_lines import disk_spaces, resident_bytes
from brokerd.server.admin_http.event_ring import EventRing
from brokerd.server.admin_http.http_server import Answer, Page, Query, json_answer, problem
from brokerd.server.admin_http.metrics_page import PrometheusPage
from brokerd.server.admin_http.prometheus_text import CONTENT_TYPE
from brokerd.server.network.socket_server import SocketServer

Result = TypeVar("Result")
SLICE = 500
INDEX_LIMIT_MAX = 10_000
BATCH_LIMIT_MAX = 200
EVENT_LIMIT_MAX = 1000
SAMPLES_MAX = 200
SAMPLES_S = 1.0
"""What the samples of one answer may take; the segments after that have none."""

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
    prometheus: PrometheusPage
    cluster: BrokerLifecycle
    socket_server: SocketServer
    logs: LogManager
    cleaner: LogCleanerManager
    replicas: ReplicaManager
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
            "/v1/segments": self.segments,
            "/v1/segments/index": self.index,
            "/v1/segments/batches": self.batches,
            "/v1/segments/compression": self.compression,
            "/v1/segments/look-up": self.look_up,
            "/v1/events": self.events,
            "/v1/compaction": self.compaction,
        }

    def healthz(self, query: Query) -> Answer:
        return json_answer({"status": "ok"})

    def readyz(self, query: Query) -> Answer:
        if not self.is_ready():
            return problem(503, "the broker is starting or stopping")
        return json_answer({"status": "ready"})

    def metrics(self, query: Query) -> Answer:
        by_partition = bool(query.number("partitions", 0))
        return Answer(200, self.prometheus.render(by_partition=by_partition), CONTENT_TYPE)

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
                "requests": self.prometheus.broker_lines.metrics.requests,
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

    async def segments(self, query: Query) -> Answer:
        partition = self._partition(query)
        log = partition.log
        seen, dirty_part = inspection.segment_summaries(log), self._dirty_part(partition)
        described = await asyncio.to_thread(inspection.describe, log.directory, seen)
        return json_answer(
            {
                "topic": log.topic,
                "partition": log.partition,
                "log_start_offset": partition.log.log_start_offset,
                "last_stable_offset": partition.last_stable_offset,
                "high_watermark": partition.high_watermark,
                "log_end_offset": partition.log.log_end_offset,
                "compaction": dirty_part,
                "segments": [
                    each._asdict()
                    | {"files": [{"name": name, "size_bytes": size} for name, size in each.files]}
                    for each in described
                ],
            }
        )

    def _dirty_part(self, partition: Partition) -> dict[str, Any] | None:
        """The clean and the dirty bytes of a log (docs/storage.md). None: it is not compacted, it
        is uncleanable, or its files cannot be read."""
        log = partition.log
        if not log.config.is_compacted:
            return None
        try:
            dirty = self.cleaner.dirty_part_of(log, partition.last_stable_offset)
        except (OSError, KafkaError):
            return None
        if dirty is None:
            return None
        return {
            "clean_bytes": dirty.clean_bytes,
            "dirty_bytes": dirty.dirty_bytes,
            "min_cleanable_dirty_ratio": log.config.min_cleanable_dirty_ratio,
        }

    async def index(self, query: Query) -> Answer:
        kind = query.text("kind")
        if kind not in ("offset", "time"):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "kind is offset or time")
        base_offset = query.number("base_offset")
        log = self._log(query)
        held = log.local.segments.between(base_offset, base_offset + 1)
        if not held or held[0].base_offset != base_offset:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"there is no segment that starts at {base_offset}",
            )
        which: inspection.Kind = "offset" if kind == "offset" else "time"
        start, limit = max(query.number("start", 0), 0), _limit(query, 1000, INDEX_LIMIT_MAX)
        total, entries = inspection.index_entries(log, base_offset, which, start, limit)
        names = ("offset", "position_bytes") if kind == "offset" else ("timestamp_ms", "offset")
        return json_answer(
            {"total": total, "entries": [dict(zip(names, each, strict=True)) for each in entries]}
        )

    async def batches(self, query: Query) -> Answer:
        base_offset = query.number("base_offset")
        position = max(query.number("position", 0), 0)
        limit = _limit(query, 50, BATCH_LIMIT_MAX)
        look = partial(inspection.batches, limit=limit)
        found = await _in_thread(self._log(query), base_offset, position, look)
        end = found[-1].position_bytes + found[-1].header.size_bytes if found else position
        return json_answer({"next_position": end, "batches": [_batch(each) for each in found]})

    async def compression(self, query: Query) -> Answer:
        """Samples of the newest segments, the newest first, until the time is over."""
        log = self._log(query)
        end_s = time.monotonic() + SAMPLES_S
        samples = []
        for each in log.local.segments.between(0, log.log_end_offset)[-SAMPLES_MAX:][::-1]:
            if time.monotonic() > end_s:
                break
            with suppress(KafkaError):  # the segment has gone meanwhile, or cannot be read
                found = await _in_thread(log, each.base_offset, 0, compression_sample.sample)
                samples.append({"base_offset": each.base_offset, **found._asdict()})
        return json_answer({"batches_max": compression_sample.BATCHES_MAX, "segments": samples})

    def look_up(self, query: Query) -> Answer:
        """The position of the batch that holds an offset, and how long the log took to find it."""
        log, offset = self._log(query), query.number("offset")
        began_ns = time.perf_counter_ns()
        found = log.read(offset, 0, up_to=log.log_end_offset, min_one_batch=True)
        took_ns = time.perf_counter_ns() - began_ns
        if found is None:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset} is not written yet")
        found.release()
        return json_answer({"position_bytes": found.position_bytes, "took_us": took_ns / 1000})

    def events(self, query: Query) -> Answer:
        events = self.event_ring.after(
            query.number("after", 0), _limit(query, 100, EVENT_LIMIT_MAX)
        )
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
        producers = self._partition_of(topic, index).log.producers.entries
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

    def _log(self, query: Query) -> UnifiedLog:
        return self._partition(query).log

    def _partition(self, query: Query) -> Partition:
        return self._partition_of(query.text("topic"), query.number("partition"))

    def _partition_of(self, topic: str, index: int) -> Partition:
        partition = self.replicas.get(topic, index)
        if partition is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}-{index} is not on this broker"
            )
        return partition


async def _in_thread(
    log: UnifiedLog, base_offset: int, position: int, look: Callable[[FileRange], Result]
) -> Result:
    """Calls `look` in a thread with the data of a segment from a position on."""
    data = inspection.data_from(log, base_offset, position)
    try:
        return await asyncio.to_thread(look, data)
    except OSError as error:
        raise log.failed(error) from error
    finally:
        data.release()


def _batch(info: BatchInfo) -> dict[str, Any]:
    header = info.header
    return {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "position_bytes": info.position_bytes,
        "size_bytes": header.size_bytes,
        "count": header.count,
        "codec": codec_name(header.codec),
        "max_timestamp_ms": header.max_timestamp,
        "producer_id": header.producer_id,
        "crc_ok": info.crc_ok,
    }


def _limit(query: Query, default: int, most: int) -> int:
    return min(max(query.number("limit", default), 0), most)
