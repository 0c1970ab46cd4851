"""Compaction: how fast a log is cleaned, and what a producer beside it notices.

The log is filled while nothing may be cleaned (min.cleanable.dirty.ratio 1), with 1 KiB records of
which one in REPEATS stays; the ratio is then lowered, and the log is clean when the broker's
checkpoint says so. Beside it a Produce is sent each millisecond.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from bench import raw, topics
from bench.consuming import PERCENTILE, produce_until
from bench.measured import MB, Measured
from bench.servers import Server
from brokerd.protocol.records import Record, encode_batch

BATCHES, REPEATS = 60, 20
"""1.2 GB: of less, starting brokerd's worker process is most of the time."""
SEGMENT_BYTES = 64 << 20
KEYS = 200_000
TIMEOUT_S = 120
_CONFIG = {
    "cleanup.policy": "compact", "segment.bytes": str(SEGMENT_BYTES),
    "min.cleanable.dirty.ratio": "1.0", "file.delete.delay.ms": "1000",
}  # fmt: skip


def rate(server: Server, _seconds: float) -> Measured:
    """MB of log cleaned a second."""
    with _dirty(server) as clean:
        begin = time.perf_counter()
        size = clean()
        return Measured(size / (time.perf_counter() - begin) / MB, 0)


def producer_beside(server: Server, _seconds: float) -> Measured:
    """p99 in ms of Produces of one 1 KiB record, acks=1, while a log is cleaned."""
    with _dirty(server) as clean:
        return _producing_beside(server, clean)


def producer_alone(server: Server, seconds: float) -> Measured:
    """The same while nothing is cleaned, beside a log that could be."""
    with _dirty(server):
        return _producing_beside(server, lambda: time.sleep(seconds))


def _producing_beside(server: Server, work: Callable[[], object]) -> Measured:
    with topics.passing(server, "beside") as beside, ThreadPoolExecutor(1) as threads:
        frame = raw.produce_frame(beside, raw.batch(1, topics.RECORD_BYTES))
        connection = raw.RawConnection(server.port)
        try:
            raw.check_produced(connection.ask(frame))
            working = threads.submit(work)
            times = produce_until(working, connection, frame)
            working.result()
        finally:
            connection.close()
    times.sort()
    return Measured(times[int(len(times) * PERCENTILE)] * 1000, 0)


@cache
def _batches() -> list[bytes]:
    """Batches of about 1 MB of random keys."""
    chance = random.Random(1)
    now_ms = int(time.time() * 1000)
    value = b"x" * (topics.RECORD_BYTES - 16)
    return [
        bytes(
            encode_batch(
                [
                    Record(0, now_ms, b"key-%012d" % chance.randrange(KEYS), value)
                    for _ in range(topics.BATCH_RECORDS)
                ]
            )
        )
        for _ in range(BATCHES)
    ]


@contextmanager
def _dirty(server: Server) -> Iterator[Callable[[], int]]:
    """A log to be cleaned, on the disk, which goes at the end; what has it cleaned, and returns
    how many bytes were dirty."""
    with topics.passing(server, "compacted", config=_CONFIG) as topic:
        connection = raw.RawConnection(server.port)
        try:
            for batch in _batches() * REPEATS:
                raw.check_produced(connection.ask(raw.produce_frame(topic, batch)))
        finally:
            connection.close()
        for path in topics.log_files(server, topic):
            topics.sync(path, drop=False)
        admin = AdminClient({"bootstrap.servers": server.address})
        admin.list_topics(topic, TIMEOUT_S)  # it has connected, which a producer would notice
        yield lambda: _clean(server, topic, admin)


def _clean(server: Server, topic: str, admin: AdminClient) -> int:
    closed = topics.log_files(server, topic)[:-1]
    size = sum(path.stat().st_size for path in closed)
    last_base = int(closed[-1].stem)
    entry = ConfigEntry(
        "min.cleanable.dirty.ratio", "0.01", incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)
    checkpoint = server.logs / "cleaner-offset-checkpoint"
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        lines = checkpoint.read_text().splitlines() if checkpoint.exists() else []
        found = [line.split() for line in lines if line.startswith(f"{topic} 0 ")]
        if found and int(found[0][2]) > last_base:
            return size
        if time.monotonic() > deadline:
            raise RuntimeError(f"{server.name} did not clean {topic}: {lines}")
        time.sleep(0.02)
