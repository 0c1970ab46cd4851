"""Logs for tests: real files in a temporary directory, a time that stands still."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from brokerd.config.log_config import LogConfig
from brokerd.log import describe_segments
from brokerd.log.describe_segments import SegmentInfo, describe
from brokerd.log.dirs.log_dirs import LogDirs
from brokerd.log.io.disk_jobs import DiskJob
from brokerd.log.loading.log_loader import load
from brokerd.log.log_context import Detail, LogContext
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import BatchHeader, Record, encode_batch, iter_batches, iter_records
from brokerd.topic_partition import TopicPartition

NOW_MS = 1_700_000_000_000
TOPIC_ID = UUID("12345678-1234-5678-1234-567812345678")


class Disk(list[DiskJob]):
    """A disk that does its jobs when the test says so."""

    def of(self, kind: type) -> list[DiskJob]:
        return [job for job in self if isinstance(job, kind)]

    def work(self) -> None:
        """Does what there is to do now."""
        jobs = list(self)
        self.clear()
        for job in jobs:
            job.run()
            job.finish()

    def work_off(self) -> None:
        """Does that, and what comes of it."""
        while self:
            self.work()


class Events(list[tuple[str, Detail]]):
    """An event sink that keeps what it is told."""

    def __call__(self, kind: str, detail: Detail) -> None:
        self.append((kind, detail))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self]


def batch(
    count: int = 1,
    *,
    size: int = 10,
    timestamp_ms: int = NOW_MS,
    codec: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> memoryview:
    """A writable batch of `count` records of `size` bytes; producer = (id, epoch, sequence)."""
    records = [Record(0, timestamp_ms + i, b"key", bytes(size)) for i in range(count)]
    producer_id, epoch, sequence = producer
    return memoryview(
        encode_batch(
            records, codec=codec, producer_id=producer_id, producer_epoch=epoch,
            base_sequence=sequence,
        )
    )  # fmt: skip


def open_log(
    directory: Path,
    config: LogConfig | None = None,
    *,
    context: LogContext | None = None,
    clean: bool = True,
    log_start_offset: int = 0,
    recovery_point: int | None = 0,
) -> UnifiedLog:
    """The log in `directory` (made if missing) as topic t, partition 0."""
    directory.mkdir(exist_ok=True)
    context = context or LogContext()
    loaded = load(
        context, str(directory), log_start_offset=log_start_offset, recovery_point=recovery_point,
        clean=clean, now_ms=NOW_MS,
    )  # fmt: skip
    return UnifiedLog(context, str(directory), "t", 0, TOPIC_ID, config or LogConfig(), loaded)


def reopen(log: UnifiedLog, *, clean: bool = True) -> UnifiedLog:
    """The same directory again: after a clean close, or as a crash at this point leaves it."""
    if clean:
        log.close()
    return open_log(
        Path(log.directory), log.config, clean=clean, log_start_offset=log.log_start_offset,
        recovery_point=log.recovery_point,
    )  # fmt: skip


def segments_of(log: UnifiedLog) -> list[SegmentInfo]:
    """The segments, oldest first, with their files."""
    return describe(log.directory, describe_segments.segment_summaries(log))


def headers(log: UnifiedLog, offset: int = 0, max_bytes: int = 1 << 20) -> Iterator[BatchHeader]:
    """The headers of all batches from `offset` on, read as a consumer reads them."""
    for header, _ in batches(log, offset, max_bytes):
        yield header


def batches(
    log: UnifiedLog, offset: int = 0, max_bytes: int = 1 << 20
) -> Iterator[tuple[BatchHeader, memoryview]]:
    while True:
        found = log.read(offset, max_bytes, up_to=log.log_end_offset, min_one_batch=True)
        if found is None:
            return
        data = memoryview(found.read())
        found.release()
        for header, view in iter_batches(data):
            if header.last_offset >= offset:
                yield header, view
            offset = header.last_offset + 1


def records(log: UnifiedLog, offset: int = 0, max_bytes: int = 1 << 20) -> list[Record]:
    """All records from `offset` on."""
    return [
        record
        for header, view in batches(log, offset, max_bytes)
        for record in iter_records(header, view)
        if record.offset >= offset
    ]


def open_manager(log_dirs: list[str], broker_id: int, *, now_ms: int, **options: Any) -> LogManager:
    """The logs of these directories, locked and loaded."""
    manager = LogManager(LogDirs(log_dirs, broker_id), **options)
    manager.load(now_ms)
    return manager


def write_offsets(manager: LogManager, name: str, offsets: dict[TopicPartition, int]) -> None:
    """Writes the checkpoints of that name, with these offsets of the logs that exist."""
    manager.tasks.round(name).write(offsets, offsets.get)
