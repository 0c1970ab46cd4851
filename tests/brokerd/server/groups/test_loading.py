"""Loading group records from a real log: in slices, from any offset, past what makes no sense."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from brokerd.groups.partitioner import OFFSETS_TOPIC
from brokerd.groups.records import (
    GroupsRecord,
    OffsetRecord,
    OffsetValue,
    encode_key,
    encode_value,
)
from brokerd.log.log_config import LogConfig
from brokerd.log.manager import LogManager
from brokerd.log.partition_log import PartitionLog
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch
from brokerd.server.groups import loading
from brokerd.server.groups.loading import load
from tests.brokerd.log.support import segments_of

NOW_MS = 1_700_000_000_000


@pytest.fixture
def log(tmp_path: Path) -> Iterator[PartitionLog]:
    logs = LogManager.open([str(tmp_path)], 1, now_ms=NOW_MS)
    config = LogConfig.from_properties({}, {"segment.bytes": "262144"})
    yield logs.create(OFFSETS_TOPIC, 0, uuid4(), config, NOW_MS)
    logs.shutdown()


def commit(number: int) -> OffsetRecord:
    return OffsetRecord(f"g{number}", "t", 0, OffsetValue(number, -1, "", NOW_MS))


def append(log: PartitionLog, *records: GroupsRecord, codec: int = Codec.NONE) -> None:
    encoded = [Record(-1, NOW_MS, encode_key(r), encode_value(r)) for r in records]
    log.append([encode_batch(encoded, codec=codec)], 0, NOW_MS)


async def loaded(log: PartitionLog, start_offset: int = 0) -> list[GroupsRecord]:
    records: list[GroupsRecord] = []
    await load(log, start_offset, log.log_end_offset, records.append)
    return records


async def test_every_record_is_replayed_in_order(log: PartitionLog) -> None:
    for first in range(0, 300, 100):
        append(log, *(commit(n) for n in range(first, first + 100)))
    assert await loaded(log) == [commit(n) for n in range(300)]


async def test_batches_compressed_by_another_broker_are_read(log: PartitionLog) -> None:
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        append(log, *(commit(n) for n in range(10)), codec=codec)
    assert await loaded(log) == [commit(n) for n in range(10)] * 4


async def test_loading_begins_in_the_middle_of_a_batch(log: PartitionLog) -> None:
    append(log, *(commit(n) for n in range(10)))
    assert await loaded(log, start_offset=7) == [commit(n) for n in range(7, 10)]


async def test_an_empty_partition_is_loaded_at_once(log: PartitionLog) -> None:
    assert await loaded(log) == []


async def test_many_slices_over_many_segments_leave_the_loop_its_turns(
    log: PartitionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "SLICE_BYTES", 64 * 1024)
    monkeypatch.setattr(loading, "TURN_S", 0)
    for first in range(0, 20_000, 1_000):
        append(log, *(commit(n) for n in range(first, first + 1_000)))
    assert len(segments_of(log)) > 1
    turns = 0
    task = asyncio.create_task(loaded(log))
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    assert task.result() == [commit(n) for n in range(20_000)]
    assert turns > 200


async def test_records_that_make_no_sense_are_passed_over_and_said(
    log: PartitionLog, caplog: pytest.LogCaptureFixture
) -> None:
    garbage = [
        Record(-1, NOW_MS, None, b"no key"),
        Record(-1, NOW_MS, b"\x00\x01", b"a torn key"),
        Record(-1, NOW_MS, encode_key(commit(1)), b"\x00\x63"),
        Record(-1, NOW_MS, b"\x00\x03\x00\x01g", b"a newer kind of group"),
    ]
    append(log, commit(1))
    log.append([encode_batch(garbage)], 0, NOW_MS)
    append(log, commit(2))
    with caplog.at_level(logging.ERROR):
        assert await loaded(log) == [commit(1), commit(2)]
    assert [record.args[0] for record in caplog.records if record.args] == [1, 2, 3]
