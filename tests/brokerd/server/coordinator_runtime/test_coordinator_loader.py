"""Loading group records from a real log: in slices, from any offset, past what makes no sense."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from brokerd import event_loop_turns
from brokerd.config.log_config import LogConfig
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupsRecord,
    OffsetRecord,
    OffsetValue,
    encode_key,
    encode_value,
)
from brokerd.coordinator.group.group_store import GroupStore
from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC
from brokerd.log.end_transaction_marker import ABORT, COMMIT
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import TRANSACTIONAL, Record, encode_batch
from brokerd.server.coordinator_runtime import coordinator_loader
from brokerd.server.coordinator_runtime.coordinator_loader import load
from tests.brokerd.log.support import open_manager, segments_of
from tests.brokerd.log.test_transactions import end, put

NOW_MS = 1_700_000_000_000


@pytest.fixture
def log(tmp_path: Path) -> Iterator[UnifiedLog]:
    logs = open_manager([str(tmp_path)], 1, now_ms=NOW_MS)
    config = LogConfig.from_properties({}, {"segment.bytes": "262144"})
    yield logs.create(OFFSETS_TOPIC, 0, uuid4(), config, NOW_MS)
    logs.shutdown()


def commit(number: int) -> OffsetRecord:
    return OffsetRecord(f"g{number}", "t", 0, OffsetValue(number, -1, "", NOW_MS))


def append(log: UnifiedLog, *records: GroupsRecord, codec: int = Codec.NONE) -> None:
    encoded = [Record(-1, NOW_MS, encode_key(r), encode_value(r)) for r in records]
    log.append([encode_batch(encoded, codec=codec)], 0, NOW_MS)


class Store(GroupStore):
    """Notes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[GroupsRecord] = []

    def replay(self, record: GroupsRecord) -> None:
        self.records.append(record)
        super().replay(record)


async def loaded(log: UnifiedLog, start_offset: int = 0) -> list[GroupsRecord]:
    store = Store()
    await load(log, start_offset, log.log_end_offset, store)
    return store.records


async def test_every_record_is_replayed_in_order(log: UnifiedLog) -> None:
    for first in range(0, 300, 100):
        append(log, *(commit(n) for n in range(first, first + 100)))
    assert await loaded(log) == [commit(n) for n in range(300)]


async def test_batches_compressed_by_another_broker_are_read(log: UnifiedLog) -> None:
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
        append(log, *(commit(n) for n in range(10)), codec=codec)
    assert await loaded(log) == [commit(n) for n in range(10)] * 4


async def test_loading_begins_in_the_middle_of_a_batch(log: UnifiedLog) -> None:
    append(log, *(commit(n) for n in range(10)))
    assert await loaded(log, start_offset=7) == [commit(n) for n in range(7, 10)]


def send(log: UnifiedLog, producer_id: int, record: OffsetRecord) -> None:
    """As a producer of Kafka's does within a transaction."""
    put(log, encode_batch(
        [Record(0, NOW_MS, encode_key(record), encode_value(record))],
        base_offset=log.log_end_offset, leader_epoch=0, producer_id=producer_id, producer_epoch=0,
        base_sequence=-1, attributes=TRANSACTIONAL,
    ))  # fmt: skip


async def test_offsets_that_were_sent_in_a_transaction_count_when_it_is_committed(
    log: UnifiedLog,
) -> None:
    def offset(group: int, value: int) -> OffsetRecord:
        return OffsetRecord(f"g{group}", "t", 0, OffsetValue(value, -1, "", NOW_MS))

    append(log, offset(1, 10), offset(2, 10), offset(3, 10), offset(4, 10))
    for producer_id, group, value in [(1, 1, 11), (2, 2, 12), (3, 3, 13), (4, 4, 14), (5, 4, 15)]:
        send(log, producer_id, offset(group, value))
    append(log, offset(3, 99))  # later than what is committed behind it
    for producer_id, kind in [(1, COMMIT), (2, ABORT), (3, COMMIT), (5, COMMIT), (4, COMMIT)]:
        end(log, producer_id, kind)
    send(log, 6, offset(2, 16))
    store = Store()
    await load(log, 0, log.log_end_offset, store)
    known = [store.offsets[f"g{group}"]["t", 0].offset for group in (1, 2, 3, 4)]
    assert known == [11, 10, 99, 15]
    assert [bool(store.unstable(f"g{group}", [("t", 0)])) for group in (1, 2, 3, 4)] == [
        False, True, False, False,
    ]  # fmt: skip


async def test_an_empty_partition_is_loaded_at_once(log: UnifiedLog) -> None:
    assert await loaded(log) == []


async def test_many_slices_over_many_segments_leave_the_loop_its_turns(
    log: UnifiedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator_loader, "SLICE_BYTES", 64 * 1024)
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0)
    for first in range(0, 20_000, 1_000):
        append(log, *(commit(n) for n in range(first, first + 1_000)))
    assert len(segments_of(log)) > 1
    others = 0
    task = asyncio.create_task(loaded(log))
    while not task.done():
        await asyncio.sleep(0)
        others += 1
    assert task.result() == [commit(n) for n in range(20_000)]
    assert others > 200


async def test_batches_of_one_record_leave_the_loop_its_turns_too(
    log: UnifiedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(500):
        append(log, commit(number))
    sleep, rests = asyncio.sleep, []

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(event_loop_turns, "TURN_S", 0)
    monkeypatch.setattr(asyncio, "sleep", rest)
    assert len(await loaded(log)) == 500
    assert len(rests) > 40


async def test_records_that_make_no_sense_are_passed_over_and_said(
    log: UnifiedLog, caplog: pytest.LogCaptureFixture
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
