"""How fast a log is compacted: `python -m bench.compaction [MB]`, of records of 100 B and 1 KiB.

Writes a log with four records a key into a temporary directory, cleans it as the worker process
does, and prints MB of log a second of wall and of CPU time. Kafka's own rate stands in the log of
its broker ("MB of log processed in … seconds") after the same log was cleaned there.
"""

import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from brokerd.config.log_config import LogConfig
from brokerd.log.cleaner.cleanable_offsets import closed_segments, end_of
from brokerd.log.cleaner.cleaning_round import clean
from brokerd.log.cleaner.worker_messages import Job, RoundDone
from brokerd.log.dirs.log_dirs import LogDirs
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch

CONFIG = LogConfig(cleanup_policy=("compact",), segment_bytes=64 << 20)
BATCH_BYTES = 16_000


def batches(record_bytes: int, total_bytes: int, codec: int) -> Iterator[bytearray]:
    """Batches of about BATCH_BYTES before compression, of random keys; values compress to half."""
    chance = random.Random(1)
    keys = total_bytes // record_bytes // 4
    values = [os.urandom(record_bytes // 2) * 2 for _ in range(500)]
    for _ in range(total_bytes // BATCH_BYTES):
        records = [
            Record(0, 1_700_000_000_000, b"key-%012d" % chance.randrange(keys), values[n % 500])
            for n in range(BATCH_BYTES // record_bytes)
        ]
        yield encode_batch(records, codec=codec)


def job_for(log: UnifiedLog) -> Job:
    """A job that compacts all closed segments of a log."""
    closed = closed_segments(log)
    return Job(
        directory=log.directory,
        segments=[(each.base_offset, end_of(log, each), each.size_bytes) for each in closed],
        dirty_start=0,
        now_ms=1_700_000_000_000,
        delete_retention_ms=86_400_000,
        segment_bytes=CONFIG.segment_bytes,
        segment_index_bytes=CONFIG.segment_index_bytes,
        index_interval_bytes=CONFIG.index_interval_bytes,
    )


def measure(record_bytes: int, total_bytes: int, codec: int) -> tuple[int, float, float, RoundDone]:
    """Bytes of the log, seconds of wall and of CPU time that its cleaning took, what came of it."""
    with TemporaryDirectory() as directory:
        manager = LogManager(LogDirs([str(Path(directory))], 1))
        manager.load(now_ms=0)
        log = manager.create("t", 0, uuid4(), CONFIG, 0)
        for batch in batches(record_bytes, total_bytes, codec):
            log.append([batch], 0, 0)
        log.roll(0)
        job = job_for(log)
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        done = clean(job, lambda group: True, seed=os.urandom(32))
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        size_bytes = log.size_bytes
        manager.shutdown()
    return size_bytes, wall_s, cpu_s, done


def main() -> None:
    """Prints a table; the first argument is how many MB each log has (200)."""
    total_bytes = int(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000
    print("record  codec   MB/s wall  MB/s CPU  records         stay")
    for record_bytes in (100, 1024):
        for codec in (Codec.NONE, Codec.LZ4, Codec.ZSTD):
            size_bytes, wall_s, cpu_s, done = measure(record_bytes, total_bytes, codec)
            assert not done.failed, done.failed
            print(
                f"{record_bytes:6}  {codec.name.lower():6}  {size_bytes / wall_s / 1e6:9.0f}  "
                f"{size_bytes / cpu_s / 1e6:8.0f}  {done.records_before:9}  {done.records_after:9}"
            )


if __name__ == "__main__":
    main()
