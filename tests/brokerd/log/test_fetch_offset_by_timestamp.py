"""Records by timestamp."""

import struct
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.fetch_offset_by_timestamp import first_at_or_after, first_record
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import (
    HEADER_BYTES,
    LOG_APPEND_TIME,
    Record,
    encode_batch,
    iter_records,
    read_header,
    write_crc,
)
from tests.brokerd.log.support import NOW_MS, batch, open_log, reopen
from tests.brokerd.protocol.generated_records import records_of_many_sizes

SMALL = LogConfig(segment_bytes=2000, index_interval_bytes=200)
around = [-1, 0, 1, 63, 64, 65, 8191, 8192, 8193, 2**20 - 1, 2**20, 2**20 + 1, 2**31, 2**40]
some_times = st.sampled_from(around) | st.integers(-(2**63), 2**63 - 1)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    groups=st.lists(
        st.lists(st.integers(0, 1000), min_size=1, max_size=6), min_size=1, max_size=40
    ),
    clean_restart=st.booleans(),
)
def test_the_first_record_at_or_after_a_time_is_found(
    tmp_path_factory: pytest.TempPathFactory, groups: list[list[int]], clean_restart: bool
) -> None:
    log = open_log(tmp_path_factory.mktemp("log"), SMALL)
    times = [at for group in groups for at in group]
    for group in groups:
        records = [Record(0, at, None, bytes(50)) for at in group]
        log.append([memoryview(encode_batch(records))], 3, 0)
    if clean_restart:
        log = reopen(log)
    for asked in (0, 250, 500, 999, 1001):
        expected = next(((i, at, 3) for i, at in enumerate(times) if at >= asked), None)
        assert first_at_or_after(log, asked) == expected
    largest = max(times)
    assert fetch_offset_by_timestamp.largest(log) == (times.index(largest), largest, 3)


def test_a_time_is_found_first_thing_where_the_time_index_is_missing(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([batch(10)], 0, NOW_MS)
    log.roll(NOW_MS)
    log.close()
    Path(tmp_path, f"{0:020d}.timeindex").unlink()
    again = open_log(tmp_path, recovery_point=10)
    assert first_at_or_after(again, NOW_MS + 4) == (4, NOW_MS + 4, 0)
    assert fetch_offset_by_timestamp.largest(again) == (9, NOW_MS + 9, 0)


def many(count: int, size: int = 0, codec: int = Codec.NONE) -> memoryview:
    """A batch whose records have the offset 1, 2, … after NOW_MS."""
    records = [Record(0, NOW_MS + number, None, bytes(size)) for number in range(count)]
    return memoryview(encode_batch(records, codec=codec))


def lacking(log: UnifiedLog, timestamp_ms: int) -> NotInPageCache:
    with pytest.raises(NotInPageCache) as raised:
        first_at_or_after(log, timestamp_ms, may_block=False)
    return raised.value


@pytest.mark.parametrize(
    "large",
    [
        many(fetch_offset_by_timestamp.AT_ONCE_RECORDS_MAX + 1),
        many(4, size=fetch_offset_by_timestamp.AT_ONCE_BYTES_MAX),
        many(4, size=fetch_offset_by_timestamp.UNPACKED_AT_ONCE_BYTES_MAX, codec=Codec.GZIP),
    ],
)
def test_a_batch_that_takes_long_to_walk_is_walked_by_another_thread(
    tmp_path: Path, large: memoryview
) -> None:
    log = open_log(tmp_path)
    log.append([large], 5, 0)
    last = log.log_end_offset - 1
    for asked in (NOW_MS + last, NOW_MS + 2):
        pending = lacking(log, asked).pending_read
        thread = Thread(target=pending.load)
        thread.start()
        thread.join()
        pending.release()
        found = first_at_or_after(log, asked, may_block=False)
        assert found == (asked - NOW_MS, asked, 5)
    assert fetch_offset_by_timestamp.largest(log, may_block=False) == (last, NOW_MS + last, 5)
    assert first_at_or_after(log, NOW_MS + last + 1, may_block=False) is None
    log.delete_records_before(2)
    assert first_at_or_after(log, NOW_MS) == (2, NOW_MS + 2, 5)


def test_a_batch_that_takes_little_to_walk_is_walked_at_once(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([many(1000, size=20), many(1000, size=200, codec=Codec.ZSTD)], 5, 0)
    assert first_at_or_after(log, NOW_MS + 999, may_block=False) == (
        999,
        NOW_MS + 999,
        5,
    )
    log.delete_records_before(1000)
    assert first_at_or_after(log, NOW_MS + 999, may_block=False) == (
        1999,
        NOW_MS + 999,
        5,
    )


def test_what_threads_found_is_kept_of_a_few_times_only(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([many(2000)], 0, 0)
    for number in range(fetch_offset_by_timestamp.KEPT_MAX + 1):
        pending = lacking(log, NOW_MS + number).pending_read
        pending.load()
        pending.release()
        assert first_at_or_after(log, NOW_MS + number, may_block=False) is not None
    assert first_at_or_after(log, NOW_MS + 1, may_block=False) == (
        1,
        NOW_MS + 1,
        0,
    )
    lacking(log, NOW_MS).pending_read.release()


def test_nothing_is_taken_of_a_log_that_was_cut_while_it_was_read(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([many(2000)], 0, 0)
    pending = lacking(log, NOW_MS + 3).pending_read
    pending.load()
    log.truncate_to(0)
    pending.release()
    log.append([many(2000)], 0, 0)
    lacking(log, NOW_MS + 3).pending_read.release()


def test_records_before_the_log_start_are_not_found(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([batch(10)], 0, NOW_MS)
    log.delete_records_before(4)
    assert first_at_or_after(log, NOW_MS) == (4, NOW_MS + 4, 0)


def test_an_empty_log_has_no_largest_timestamp(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert fetch_offset_by_timestamp.largest(log) is None
    assert first_at_or_after(log, 0) is None


def test_a_batch_that_lies_inside_is_found_as_a_whole(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    lying = bytearray(batch(3))
    lying[61:] = b"\x7f" * (len(lying) - 61)
    write_crc(lying)
    log.append([batch(timestamp_ms=1), memoryview(lying)], 2, NOW_MS)
    assert first_at_or_after(log, NOW_MS) == (1, NOW_MS + 2, 2)
    struct.pack_into(">q", lying, 35, NOW_MS + 9)
    write_crc(lying)
    log.append([memoryview(lying)], 2, NOW_MS)
    assert fetch_offset_by_timestamp.largest(log) == (4, NOW_MS + 9, 2)


def test_the_largest_timestamp_is_told_until_its_record_is_gone_as_by_kafka(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for late in (5, 9, 3, 4):
        log.append([batch(timestamp_ms=NOW_MS + late)], 0, NOW_MS)
    for start in (2, 4):
        log.delete_records_before(start)
        assert fetch_offset_by_timestamp.largest(log) == (1, NOW_MS + 9, 0)
    log.roll(NOW_MS)
    assert delete_old_segments(log, NOW_MS, 4) == [0]
    assert fetch_offset_by_timestamp.largest(log) is None


@given(
    base_ms=some_times,
    deltas=st.lists(some_times, max_size=40),
    value=st.sampled_from([None, b"v", bytes(100), bytes(9000)]),
    wanted_ms=some_times,
    is_delta=st.booleans(),
    min_offset=st.integers(0, 50),
    attributes=st.sampled_from([0, LOG_APPEND_TIME]),
)
def test_the_first_record_of_a_time_is_found_as_in_records_that_are_decoded(
    base_ms: int, deltas: list[int], value: bytes | None, wanted_ms: int, is_delta: bool,
    min_offset: int, attributes: int,
) -> None:  # fmt: skip
    times = [base_ms, *(min(max(base_ms + delta, -(2**63)), 2**63 - 1) for delta in deltas)]
    batch = encode_batch(
        [Record(0, at, None, value) for at in times], base_offset=10, attributes=attributes
    )
    header = read_header(batch)
    if is_delta and -(2**63) <= base_ms + wanted_ms < 2**63:
        wanted_ms += base_ms
    expected = next(
        (
            (each.offset, each.timestamp_ms)
            for each in iter_records(header, memoryview(batch))
            if each.timestamp_ms >= wanted_ms and each.offset >= min_offset
        ),
        None,
    )
    data = memoryview(batch)[HEADER_BYTES:]
    assert first_record(header, data, wanted_ms, min_offset) == expected


@given(records_of_many_sizes, st.data())
def test_a_search_for_a_time_stops_where_records_cannot_follow(
    records: list[Record], data: st.DataObject
) -> None:
    batch = encode_batch(records)
    header = read_header(batch)
    late_ms = header.max_timestamp + 1
    cut = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    for lying in (batch[HEADER_BYTES:cut], batch[HEADER_BYTES:] + b"\0"):
        with pytest.raises(KafkaError) as raised:
            first_record(header, memoryview(lying), late_ms, 0)
        assert raised.value.code == ErrorCode.INVALID_RECORD
