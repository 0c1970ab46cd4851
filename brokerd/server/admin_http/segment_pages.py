"""The pages of the admin port about the segments of a log: files, index entries, batches, and how
an offset is found."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import describe_segments, estimate_compression_ratio
from brokerd.log.cleaner.log_cleaner_manager import LogCleanerManager
from brokerd.log.describe_segments import BatchInfo
from brokerd.log.io.open_files import FileRange
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import codec_name
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.http_server import Answer, Page, Query, json_answer

Result = TypeVar("Result")
INDEX_LIMIT_MAX = 10_000
BATCH_LIMIT_MAX = 200
SCANNED_BATCHES_MAX = 4000
SAMPLES_MAX = 200
SAMPLES_S = 1.0
"""What the samples of one answer may take; the segments after that have none."""

OFFSET_ENTRY, TIME_ENTRY = ("offset", "position_bytes"), ("timestamp_ms", "offset")


@dataclass(frozen=True, slots=True)
class SegmentPages:
    replicas: ReplicaManager
    cleaner: LogCleanerManager

    def table(self) -> dict[str, Page]:
        return {
            "/v1/segments": self.segments,
            "/v1/segments/index": self.index,
            "/v1/segments/batches": self.batches,
        }

    def partition(self, topic: str, index: int) -> Partition:
        """Raises KafkaError if the broker has no such partition."""
        partition = self.replicas.get(topic, index)
        if partition is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}-{index} is not on this broker"
            )
        return partition

    def _partition(self, query: Query) -> Partition:
        return self.partition(query.text("topic"), query.number("partition"))

    def _log(self, query: Query) -> UnifiedLog:
        return self._partition(query).log

    async def segments(self, query: Query) -> Answer:
        """The segments of a log; with `samples=1` also how their first batches are compressed, with
        `offset` also how the log finds it, and with `at_ms` by its time index first."""
        partition = self._partition(query)
        log = partition.log
        seen, dirty_part = describe_segments.segment_summaries(log), self._dirty_part(partition)
        described = await asyncio.to_thread(describe_segments.describe, log.directory, seen)
        samples = await _samples(log) if query.number("samples", 0) else {}
        return json_answer(
            {
                "topic": log.topic,
                "partition": log.partition,
                "log_start_offset": partition.log.log_start_offset,
                "last_stable_offset": partition.last_stable_offset,
                "high_watermark": partition.high_watermark,
                "log_end_offset": partition.log.log_end_offset,
                "compaction": dirty_part,
                "look_up": await _look_up(log, query) if "offset" in query.values else None,
                "settings": _retention_settings(log.config),
                "sampled_batches_max": estimate_compression_ratio.BATCHES_MAX,
                "segments": [
                    each._asdict()
                    | {
                        "files": [{"name": name, "size_bytes": size} for name, size in each.files],
                        "compression": samples.get(each.base_offset),
                    }
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
        which: describe_segments.Kind = "offset" if kind == "offset" else "time"
        start, limit = max(query.number("start", 0), 0), query.limit(1000, INDEX_LIMIT_MAX)
        total, entries = describe_segments.index_entries(log, base_offset, which, start, limit)
        names = OFFSET_ENTRY if kind == "offset" else TIME_ENTRY
        return json_answer({"total": total, "entries": [_entry(names, each) for each in entries]})

    async def batches(self, query: Query) -> Answer:
        base_offset = query.number("base_offset")
        position = max(query.number("position", 0), 0)
        limit = query.limit(50, BATCH_LIMIT_MAX)
        look = partial(describe_segments.batches, limit=limit)
        found = await _in_thread(self._log(query), base_offset, position, look)
        end = found[-1].position_bytes + found[-1].header.size_bytes if found else position
        return json_answer({"next_position": end, "batches": [_batch(each) for each in found]})


async def _look_up(log: UnifiedLog, query: Query) -> dict[str, Any] | None:
    """How the log finds `offset`, the first record at or after the time `at_ms` if there is one;
    None if no segment has it."""
    offset = query.number("offset")
    at_ms = query.number("at_ms") if "at_ms" in query.values else None
    if not log.log_start_offset <= offset < log.log_end_offset:
        return None
    [segment] = log.local.segments.between(offset, offset + 1)
    steps = describe_segments.index_steps(log, segment.base_offset, offset, at_ms)
    scan = partial(describe_segments.batches, limit=SCANNED_BATCHES_MAX, up_to=offset)
    batches = await _in_thread(log, segment.base_offset, steps.scan_from_bytes, scan)
    return {
        "offset": offset,
        "base_offset": segment.base_offset,
        "time_entry": steps.time_entry and _entry(TIME_ENTRY, steps.time_entry),
        "entry": steps.entry and _entry(OFFSET_ENTRY, steps.entry),
        "near_entries": [_entry(OFFSET_ENTRY, each) for each in steps.near_entries],
        "entry_count": steps.entry_count,
        "scan_from_bytes": steps.scan_from_bytes,
        "batches": [_batch(each) for each in batches],
        "took_us": _read_us(log, offset),
    }


async def _in_thread(
    log: UnifiedLog, base_offset: int, position: int, look: Callable[[FileRange], Result]
) -> Result:
    """Calls `look` in a thread with the data of a segment from a position on."""
    data = describe_segments.data_from(log, base_offset, position)
    try:
        return await asyncio.to_thread(look, data)
    except OSError as error:
        raise log.failed(error) from error
    finally:
        data.release()


async def _samples(log: UnifiedLog) -> dict[int, dict[str, Any]]:
    """Base offset → how the segment is compressed; of the newest segments, until the time is
    over."""
    end_s = time.monotonic() + SAMPLES_S
    samples: dict[int, dict[str, Any]] = {}
    for each in log.local.segments.between(0, log.log_end_offset)[-SAMPLES_MAX:][::-1]:
        if time.monotonic() > end_s:
            break
        with suppress(KafkaError):  # the segment has gone meanwhile, or cannot be read
            sample = await _in_thread(log, each.base_offset, 0, estimate_compression_ratio.sample)
            samples[each.base_offset] = sample._asdict()
    return samples


def _retention_settings(config: LogConfig) -> dict[str, str]:
    """The settings that decide what is deleted or compacted next, as DescribeConfigs has them."""
    return {
        "cleanup.policy": ",".join(config.cleanup_policy),
        "retention.ms": str(config.retention_ms),
        "retention.bytes": str(config.retention_bytes),
        "min.compaction.lag.ms": str(config.min_compaction_lag_ms),
    }


def _read_us(log: UnifiedLog, offset: int) -> float:
    """How long the log takes to find the batch that holds an offset, in microseconds."""
    began_ns = time.perf_counter_ns()
    found = log.read(offset, 0, up_to=log.log_end_offset, min_one_batch=True)
    took_ns = time.perf_counter_ns() - began_ns
    if found is not None:
        found.release()
    return took_ns / 1000


def _entry(names: Sequence[str], values: tuple[int, int]) -> dict[str, int]:
    return dict(zip(names, values, strict=True))


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
