"""Compacted logs for tests, and workers that do a job on the spot."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.config.log_config import LogConfig
from brokerd.log.cleaner.cleaning_round import clean
from brokerd.log.cleaner.log_cleaner_manager import Listener, LogCleanerManager
from brokerd.log.cleaner.worker_messages import Job, Limits, RoundDone
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    encode_batch,
    iter_batches,
    iter_records,
)
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, open_manager, records

SEED = bytes(range(32))
COMPACTED = LogConfig(
    cleanup_policy=("compact",), segment_bytes=3000, index_interval_bytes=300,
    delete_retention_ms=1000, file_delete_delay_ms=0,
)  # fmt: skip
SMALL = Limits(map_bytes=1 << 16, io_buffer_bytes=2048)

ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"  # keys of markers

Pair = tuple[bytes | None, bytes | None]


def keyed(
    pairs: Iterable[Pair],
    *,
    codec: int = 0,
    timestamp_ms: int = NOW_MS,
    producer: tuple[int, int, int] = (-1, -1, -1),
    attributes: int = 0,
) -> memoryview:
    """A writable batch of these keys and values, a millisecond apart."""
    made = [Record(0, timestamp_ms + i, key, value) for i, (key, value) in enumerate(pairs)]
    producer_id, epoch, sequence = producer
    return memoryview(
        encode_batch(
            made, codec=codec, producer_id=producer_id, producer_epoch=epoch,
            base_sequence=sequence, attributes=attributes,
        )
    )  # fmt: skip


@dataclass
class OnTheSpot:
    """Workers that are always free; `jobs` are those done, `done` what came of them."""

    free: int = 1
    jobs: list[Job] = field(default_factory=list)
    done: list[RoundDone] = field(default_factory=list)
    rests: int = 0

    def run(self, job: Job, listener: Listener) -> None:
        self.jobs.append(job)
        done = clean(job, listener.group_done, seed=SEED)
        self.done.append(done)
        listener.round_done(done)

    def rest(self) -> None:
        self.rests += 1


class CompactedLog:
    """A manager with one compacted log and a cleaner."""

    def __init__(
        self,
        directory: Path,
        config: LogConfig = COMPACTED,
        limits: Limits = SMALL,
        submit: Callable[[DiskJob], None] = run_now,
    ) -> None:
        self.now_ms = NOW_MS
        self.workers = OnTheSpot()
        self.manager = open_manager([str(directory)], 1, now_ms=NOW_MS, submit=submit)
        self.log: UnifiedLog = self.manager.create("t", 0, TOPIC_ID, config, NOW_MS)
        self.log.high_watermark = self.log.log_end_offset
        self.cleaner = LogCleanerManager(
            self.manager, self.workers, lambda: self.now_ms, backoff_ms=0, limits=limits
        )

    def append(self, *batches: memoryview) -> None:
        for batch in batches:
            (result,) = self.log.append([batch], 0, self.now_ms)
            assert result.error is None
        self.log.high_watermark = self.log.log_end_offset

    def transactional(self, producer_id: int, *pairs: Pair, sequence: int = 0) -> int:
        """Take in a batch of a transaction, as a leader has it; its first offset."""
        return self._replicate(
            keyed(pairs, producer=(producer_id, 0, sequence), attributes=TRANSACTIONAL)
        )

    def end(self, producer_id: int, kind: bytes) -> int:
        """Take in the marker that ends a transaction; its offset."""
        flags = TRANSACTIONAL | CONTROL
        return self._replicate(
            keyed([(kind, bytes(6))], producer=(producer_id, 0, -1), attributes=flags)
        )

    def _replicate(self, batch: memoryview) -> int:
        offset = self.log.log_end_offset
        batch[:8] = offset.to_bytes(8, "big")
        batch[12:16] = bytes(4)
        self.log.append_replicated(list(iter_batches(batch)), self.now_ms)
        self.log.high_watermark = self.log.log_end_offset
        return offset

    def roll(self) -> None:
        self.log.roll(self.now_ms)

    def clean(self) -> RoundDone:
        """Clean until there is nothing to do; what came of the last round."""
        rests = self.workers.rests
        while self.workers.rests == rests:
            self.cleaner.tick(self.now_ms)
        return self.workers.done[-1] if self.workers.done else RoundDone()

    def content(self) -> list[tuple[int, bytes | None, bytes | None]]:
        """(offset, key, value) of every record."""
        found = records(self.log, self.log.log_start_offset)
        return [(each.offset, each.key, each.value) for each in found]

    def read(self, *, committed: bool) -> list[tuple[int, bytes | None, bytes | None]]:
        """(offset, key, value) of what a consumer gives out, by one fetch a segment at most."""
        log = self.log
        offset, found = log.log_start_offset, []
        up_to = log.last_stable_offset(log.high_watermark) if committed else log.high_watermark
        while (data := log.read(offset, 1 << 20, up_to=up_to, min_one_batch=True)) is not None:
            coming = sorted(log.aborted_transactions(offset, data), key=lambda each: each[1])
            aborting: set[int] = set()
            for header, view in iter_batches(memoryview(data.read())):
                while committed and coming and coming[0][1] <= header.last_offset:
                    aborting.add(coming.pop(0)[0])
                if header.is_control:
                    aborting.discard(header.producer_id)
                elif header.producer_id not in aborting or not header.is_transactional:
                    rows = iter_records(header, view)
                    found += [(row.offset, row.key, row.value) for row in rows]
                offset = header.last_offset + 1
            data.release()
        return found

    def checkpoint(self) -> str:
        directory = Path(self.log.directory).parent
        return (directory / "cleaner-offset-checkpoint").read_text()


def last_values(
    content: Iterable[tuple[int, bytes | None, bytes | None]],
) -> dict[bytes, tuple[int, bytes]]:
    """What somebody who reads a log from its start knows in the end; tombstones remove keys."""
    known: dict[bytes, tuple[int, bytes]] = {}
    for offset, key, value in content:
        if key is None:
            continue
        if value is None:
            known.pop(key, None)
        else:
            known[key] = (offset, value)
    return known
