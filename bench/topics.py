"""Topics for loads: some pass with their load, some are filled once and stay."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench import raw
from bench.servers import Server

TIMEOUT_S = 120
RECORD_BYTES = 1024
BATCH_RECORDS = 950
BATCH_RECORD_BYTES = BATCH_RECORDS * RECORD_BYTES
"""A batch of about 1 MB, the largest that both brokers take by default."""

_numbers = count()
_filled: dict[tuple[str, str], str] = {}


def create(
    server: Server, prefix: str, partitions: int = 1, config: dict[str, str] | None = None
) -> str:
    """A fresh topic."""
    name = f"{prefix}-{next(_numbers)}"
    admin = AdminClient({"bootstrap.servers": server.address})
    topic = NewTopic(name, partitions, 1, config=config or {})
    admin.create_topics([topic])[name].result(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    while (
        sum(
            each.leader >= 0
            for each in admin.list_topics(name, TIMEOUT_S).topics[name].partitions.values()
        )
        < partitions
    ):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{server.name} did not make {partitions} partitions of {name}")
        time.sleep(0.1)
    return name


@contextmanager
def passing(
    server: Server, prefix: str, partitions: int = 1, config: dict[str, str] | None = None
) -> Iterator[str]:
    """A topic that goes with its files, so that no load pays for what another one wrote.

    What was written and is not on the disk yet goes with them, so no load waits for the disk.
    """
    name = create(server, prefix, partitions, config)
    try:
        yield name
    finally:
        admin = AdminClient({"bootstrap.servers": server.address})
        admin.delete_topics([name])[name].result(TIMEOUT_S)
        deadline = time.monotonic() + TIMEOUT_S
        while any(server.logs.glob(f"{name}-*")):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{server.name} did not remove the files of {name}")
            time.sleep(0.05)


def filled(server: Server, prefix: str, total_bytes: int, partitions: int = 1) -> str:
    """A topic with that many bytes of 1 KiB records in batches of about 1 MB, on the disk.

    It is filled at the first call and stays.
    """
    known = _filled.get((server.name, prefix))
    if known is not None:
        return known
    batch = raw.batch(BATCH_RECORDS, RECORD_BYTES)
    each = -(-total_bytes // BATCH_RECORD_BYTES // partitions)
    return _fill(server, prefix, batch, partitions, each)


def filled_small(server: Server) -> str:
    """A topic with 10,000 batches of one record of 100 bytes; it is filled once and stays."""
    known = _filled.get((server.name, "tiny"))
    return known or _fill(server, "tiny", raw.batch(1, 100), 1, 10_000)


def _fill(server: Server, prefix: str, batch: bytes, partitions: int, each: int) -> str:
    topic = create(server, prefix, partitions)
    connection = raw.RawConnection(server.port)
    try:
        for partition in range(partitions):
            frame = raw.produce_frame(topic, batch, partition)
            for _ in range(each):
                raw.check_produced(connection.ask(frame))
    finally:
        connection.close()
    for path in log_files(server, topic):
        sync(path, drop=False)
    _filled[server.name, prefix] = topic
    return topic


def log_files(server: Server, topic: str) -> list[Path]:
    """The segments of all the topic's partitions, in order."""
    return sorted(server.logs.glob(f"{topic}-*/*.log"))


def drop_from_page_cache(server: Server, topic: str) -> None:
    """The next read of the topic comes from the disk."""
    for path in log_files(server, topic):
        sync(path, drop=True)


def sync(path: Path, *, drop: bool) -> None:
    """Brings a file to the disk, and out of the page cache."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        if drop:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
