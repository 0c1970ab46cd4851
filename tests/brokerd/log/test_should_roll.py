"""When a segment is closed and the next one begins."""

import os
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import read_header
from tests.brokerd.log.support import (
    NOW_MS,
    batch,
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


def test_a_segment_rolls_before_it_grows_over_its_size(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    fill(log, 50)
    segments = segments_of(log)
    assert len(segments) > 3
    assert all(segment.size_bytes <= 2000 for segment in segments)
    assert all(a.next_offset == b.base_offset for a, b in pairwise(segments))
    assert [r.offset for r in records(log)] == list(range(50))


def test_a_group_larger_than_a_segment_is_spread_over_segments(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL)
    results = log.append([batch(size=900) for _ in range(6)], 0, NOW_MS)
    assert [r.base_offset for r in results] == list(range(6))
    assert [segment.base_offset for segment in segments_of(log)] == [0, 2, 4]


def test_a_segment_rolls_by_the_time_of_its_records(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=1000))
    for at_ms in (0, 900, 1000, 1001, 1500, 2002):
        log.append([batch(timestamp_ms=NOW_MS + at_ms)], 0, NOW_MS)
    assert [segment.base_offset for segment in segments_of(log)] == [0, 3, 5]


def test_a_segment_without_timestamps_rolls_by_the_clock(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=1000))
    log.append([batch(timestamp_ms=-1)], 0, NOW_MS)
    log.append([batch(timestamp_ms=-1)], 0, NOW_MS + 1000)
    log.append([batch(timestamp_ms=-1)], 0, NOW_MS + 1001)
    assert [segment.base_offset for segment in segments_of(log)] == [0, 2]


def test_jitter_makes_a_segment_roll_earlier_never_later(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=1000, segment_jitter_ms=500))
    log.append([batch(timestamp_ms=NOW_MS)], 0, NOW_MS)
    log.append([batch(timestamp_ms=NOW_MS + 499)], 0, NOW_MS)
    log.append([batch(timestamp_ms=NOW_MS + 1001)], 0, NOW_MS)
    assert [segment.base_offset for segment in segments_of(log)] == [0, 2]


def test_a_segment_rolls_when_its_index_is_full(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_index_bytes=40, index_interval_bytes=1))
    fill(log, 20)
    segments = segments_of(log)
    assert len(segments) > 2
    assert all(segment.index_entries <= 5 for segment in segments)


def test_a_segment_rolls_before_a_relative_offset_overflows(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append([batch()], 0, NOW_MS)
    far = batch()
    struct.pack_into(">q", far, 0, 2**31 + 5)
    log.append_replicated([(read_header(far), far)], NOW_MS)
    assert [segment.base_offset for segment in segments_of(log)] == [0, 2**31 + 5]
    assert log.log_end_offset == 2**31 + 6
    log.roll(NOW_MS)
    assert [header.base_offset for header in headers(reopen(log))] == [0, 2**31 + 5]


@pytest.mark.parametrize("jitter_ms", [0, 1, 500, 10_000])
def test_the_jitter_is_less_than_it_may_be_and_never_the_whole_time(jitter_ms: int) -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=jitter_ms)
    drawn = {config.jitter_ms(f"t-0-{number}") for number in range(2000)}
    most_ms = min(jitter_ms, 1000)
    assert 0 <= min(drawn) <= max(drawn) < max(most_ms, 1)
    assert len(drawn) > most_ms // 2


def test_a_segment_for_which_there_is_no_space_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, buffers: object, position_bytes: int) -> None:
        raise OSError(28, "No space left on device")

    log = open_log(tmp_path, LogConfig())
    monkeypatch.setattr(os, "pwritev", refuse)
    with pytest.raises(KafkaError, match="No space left") as caught:
        log.append([batch()], 0, NOW_MS)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.log_end_offset == 0
