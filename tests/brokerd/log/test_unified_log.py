"""Appending to and reading from one partition's log."""

import fcntl
import os
import resource
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.io.open_files import FileRange
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import crc_matches, read_header
from tests.brokerd.log.support import (
    NOW_MS,
    batch,
    batches,
    headers,
    open_log,
    records,
    reopen,
    segments_of,
)

SMALL = LogConfig(segment_bytes=2000, index_interval_bytes=200)


def fill(log: UnifiedLog, count: int, size: int = 100) -> None:
    for i in range(count):
        log.append([batch(size=size, timestamp_ms=NOW_MS + i)], 0, NOW_MS)


def test_every_record_gets_the_next_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    first = log.append([batch(3), batch(2)], 5, NOW_MS)
    second = log.append([batch(1)], 5, NOW_MS)
    assert [(r.base_offset, r.last_offset) for r in first + second] == [(0, 2), (3, 4), (5, 5)]
    assert log.log_end_offset == 6
    assert [r.offset for r in records(log)] == list(range(6))
    assert {h.leader_epoch for h in headers(log)} == {5}


def test_batches_are_stored_byte_for_byte(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    sent = [batch(i + 1, size=50 * i, codec=i) for i in range(5)]
    originals = [bytes(view) for view in sent]
    log.append(sent, 0, NOW_MS)
    for original, (header, view) in zip(originals, batches(log), strict=True):
        assert bytes(view[16:]) == original[16:]
        assert crc_matches(header, view)


def test_a_read_in_the_middle_of_a_batch_answers_the_whole_batch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([batch(10), batch(10)], 0, NOW_MS)
    assert next(headers(log, 7)).base_offset == 0
    assert next(headers(log, 10)).base_offset == 10


def test_a_read_answers_at_least_one_batch_when_asked_to(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([batch(size=5000), batch(size=5000)], 0, NOW_MS)
    found = log.read(0, 100, up_to=2, min_one_batch=True)
    assert found is not None
    assert found.size_bytes == read_header(found.read()).size_bytes
    found.release()
    assert log.read(0, 100, up_to=2, min_one_batch=False) is None


def test_nothing_at_or_past_the_limit_is_read(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    fill(log, 10)
    found = log.read(2, 1 << 20, up_to=5, min_one_batch=True)
    assert found is not None
    assert found.size_bytes == 3 * len(batch(size=100))
    found.release()
    assert log.read(5, 1 << 20, up_to=5, min_one_batch=True) is None
    assert log.read(10, 1 << 20, up_to=10, min_one_batch=True) is None


@pytest.mark.parametrize("offset", [-1, 11, 10**12])
def test_an_offset_outside_the_log_is_out_of_range(tmp_path: Path, offset: int) -> None:
    log = open_log(tmp_path)
    fill(log, 10)
    with pytest.raises(KafkaError) as caught:
        log.read(offset, 100, up_to=10, min_one_batch=True)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    groups=st.lists(
        st.lists(st.tuples(st.integers(1, 9), st.integers(0, 400)), min_size=1, max_size=5),
        min_size=1, max_size=40,
    ),
    max_bytes=st.integers(1, 5000),
    start=st.integers(0, 200),
)  # fmt: skip
def test_any_reader_sees_every_batch_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    groups: list[list[tuple[int, int]]],
    max_bytes: int,
    start: int,
) -> None:
    log = open_log(tmp_path_factory.mktemp("log"), SMALL)
    for group in groups:
        log.append([batch(count, size=size // count) for count, size in group], 0, NOW_MS)
    expected = list(range(min(start, log.log_end_offset), log.log_end_offset))
    assert [r.offset for r in records(log, min(start, log.log_end_offset), max_bytes)] == expected


def test_a_batch_larger_than_a_segment_is_refused(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    (result,) = log.append([batch(size=3000)], 0, NOW_MS)
    assert result.error is ErrorCode.RECORD_LIST_TOO_LARGE
    assert log.log_end_offset == 0


def test_a_followers_empty_log_takes_a_first_batch_of_any_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    far = batch()
    struct.pack_into(">q", far, 0, 2**31 + 5)
    log.append_replicated([(read_header(far), far)], NOW_MS)
    assert segments_of(log)[-1].base_offset == 2**31 + 5
    log.close()


def test_log_append_time_replaces_the_producers(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(message_timestamp_type="LogAppendTime"))
    (result,) = log.append([batch(3, timestamp_ms=5)], 0, NOW_MS)
    assert result.log_append_time_ms == NOW_MS
    assert {record.timestamp_ms for record in records(log)} == {NOW_MS}
    assert all(crc_matches(header, view) for header, view in batches(log))


@contextmanager
def file_size_limit(size_bytes: int) -> Iterator[None]:
    """No file of this process may grow past a size: a full disk, for one file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room_bytes", [0, 100])
def test_a_write_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, room_bytes: int) -> None:
    log = open_log(tmp_path)
    fill(log, 200)
    path, size_bytes = segments_of(log)[0].files[1][0], log.size_bytes
    with file_size_limit(size_bytes + room_bytes), pytest.raises(KafkaError) as caught:
        log.append([batch(size=50, producer=(1, 0, 0)), batch(size=5000)], 0, NOW_MS)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 200
    assert os.stat(tmp_path / path).st_size == log.size_bytes == size_bytes
    (result,) = log.append([batch(producer=(1, 0, 0))], 0, NOW_MS)
    assert (result.base_offset, result.duplicate) == (200, False)
    assert [record.offset for record in records(log)] == list(range(201))


@pytest.mark.parametrize("next_size", [10, 5000])
def test_a_write_that_cannot_be_cut_back_is_overwritten(tmp_path: Path, next_size: int) -> None:
    """The file lies in a memory that may not shrink: there ftruncate fails."""
    log = open_log(tmp_path / "log")
    fill(log, 20)
    path = tmp_path / "log" / segments_of(log)[0].files[1][0]
    fd = os.memfd_create("never shrinks", os.MFD_ALLOW_SEALING)
    try:
        os.write(fd, path.read_bytes())
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        path.unlink()
        path.symlink_to(f"/proc/self/fd/{fd}")
        log = open_log(tmp_path / "log", recovery_point=20)
        size_bytes = log.size_bytes
        with file_size_limit(size_bytes + 2000), pytest.raises(KafkaError) as caught:
            log.append([batch(size=1500), batch(size=1500)], 0, NOW_MS)
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert (log.log_end_offset, log.size_bytes) == (20, size_bytes)
        assert os.fstat(fd).st_size == size_bytes + 2000
        (result,) = log.append([batch(size=next_size)], 0, NOW_MS)
        assert result.base_offset == 20
        assert [record.offset for record in records(log)] == list(range(21))
        log.close()
        data = os.pread(fd, 1 << 20, 0)
    finally:
        os.close(fd)
    path.unlink()
    path.write_bytes(data)
    again = open_log(tmp_path / "log", recovery_point=21)
    assert [record.offset for record in records(again)] == list(range(21))


def test_whatever_the_disk_refuses_is_a_storage_error(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    (tmp_path / "00000000000000000000.snapshot").mkdir()
    with pytest.raises(KafkaError) as caught:
        log.append([batch(producer=(1, 0, 0))], 0, NOW_MS)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 0


def test_indexes_that_cannot_be_opened_are_told_before_a_byte_is_written(tmp_path: Path) -> None:
    open_log(tmp_path)
    log = open_log(tmp_path)
    (tmp_path / f"{0:020d}.index").unlink()
    (tmp_path / f"{0:020d}.index").mkdir()
    with pytest.raises(KafkaError) as caught:
        log.append([batch(size=3000), batch(size=3000)], 0, NOW_MS)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert os.stat(tmp_path / f"{0:020d}.log").st_size == 0


def test_more_batches_than_one_system_call_takes_are_appended(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    results = log.append([batch() for _ in range(2500)], 0, NOW_MS)
    assert [result.base_offset for result in results] == list(range(2500))
    assert len(records(log)) == 2500


def test_batches_that_leave_too_few_offsets_for_one_segment_get_several(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for at in (0, 10):
        wide = [batch(timestamp_ms=NOW_MS + at + each) for each in range(4)]
        for each in wide:
            each[23:27] = (INT32_MAX - 1).to_bytes(4, "big")
        results = log.append(wide, 0, NOW_MS)
        assert [result.error for result in results] == [None] * 4
    assert [each.base_offset for each in segments_of(log)] == [at * INT32_MAX for at in range(8)]
    log.roll(NOW_MS)
    assert reopen(log).log_end_offset == 8 * INT32_MAX


def test_a_followers_log_keeps_the_leaders_offsets_and_epochs(tmp_path: Path) -> None:
    leader, follower = open_log(tmp_path / "leader"), open_log(tmp_path / "follower")
    for epoch in (1, 1, 4):
        leader.append([batch(3)], epoch, NOW_MS)
    follower.append_replicated(list(batches(leader)), NOW_MS)
    assert list(headers(follower)) == list(headers(leader))
    assert follower.epochs.entries == leader.epochs.entries == [(1, 0), (4, 6)]
    with pytest.raises(KafkaError):
        follower.append_replicated(list(batches(leader)), NOW_MS)


def test_a_gap_in_the_offsets_is_read_over(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    for base_offset in (0, 10, 20, 30, 40, 50):
        view = batch(2, size=400)
        view[:8] = base_offset.to_bytes(8, "big")
        log.append_replicated([(read_header(view), view)], NOW_MS)
    assert len(segments_of(log)) > 2
    for offset, following in ((0, 0), (2, 10), (25, 30), (33, 40), (51, 50)):
        assert next(headers(log, offset)).base_offset == following


def test_truncating_cuts_batches_epochs_and_producers(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    for i in range(30):
        log.append([batch(2, size=200, producer=(7, 0, 2 * i))], i // 10, NOW_MS + i)
    log.truncate_to(21)  # inside the batch 20-21
    assert log.log_end_offset == 20
    assert log.epochs.entries == [(0, 0)]
    (result,) = log.append([batch(2, size=200, producer=(7, 0, 20))], 3, NOW_MS)
    assert (result.error, result.base_offset) == (None, 20)
    assert [record.offset for record in records(log)] == list(range(22))


def test_truncating_before_the_start_starts_anew(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    fill(log, 50)
    log.delete_records_before(30)
    log.truncate_to(12)
    assert (log.log_start_offset, log.log_end_offset) == (12, 12)
    fill(log, 3)
    assert [record.offset for record in records(log, 12)] == [12, 13, 14]


def test_a_range_being_sent_outlives_its_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    fill(log, 50)
    found = log.read(0, 1 << 20, up_to=50, min_one_batch=True)
    assert found is not None
    before = found.read()
    log.config = LogConfig(segment_bytes=2000, retention_bytes=0)
    delete_old_segments(log, NOW_MS, 50)
    assert log.log_start_offset > 0
    assert found.read() == before
    assert not found.is_cut
    found.release()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(found.fd)


def test_a_range_being_sent_is_void_when_the_log_is_cut_below_its_end(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    fill(log, 50)

    def read(offset: int, up_to: int) -> FileRange:
        found = log.read(offset, 1 << 20, up_to=up_to, min_one_batch=True)
        assert found is not None
        return found

    before, across, behind = read(0, 30), read(20, 40), read(40, 50)
    log.truncate_to(30)
    fill(log, 20, size=77)
    assert [each.is_cut for each in (before, across, behind)] == [False, True, True]
    for each in (before, across, behind):
        each.release()
    again = read(40, 50)
    assert not again.is_cut
    log.start_at(1000)
    assert again.is_cut
    again.release()
