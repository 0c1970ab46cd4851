"""What is described of segments for people."""

from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log import describe_segments
from brokerd.log.describe_segments import BatchInfo, batches, describe
from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, batch, headers, open_log, reopen, segments_of


@pytest.fixture
def log(tmp_path: Path) -> UnifiedLog:
    log = open_log(tmp_path, LogConfig(segment_bytes=2000, index_interval_bytes=200))
    for i in range(40):
        log.append([batch(size=100, codec=i % 5, timestamp_ms=NOW_MS + i)], 0, NOW_MS)
    return log


def listed(log: UnifiedLog, base_offset: int, position: int, limit: int) -> list[BatchInfo]:
    data = describe_segments.data_from(log, base_offset, position)
    try:
        return batches(data, limit)
    finally:
        data.release()


@pytest.mark.parametrize("restarted", [False, True])
def test_segments_are_described_with_their_files(log: UnifiedLog, restarted: bool) -> None:
    if restarted:
        log = reopen(log)
    segments = segments_of(log)
    assert [s.active for s in segments] == [False] * (len(segments) - 1) + [True]
    assert segments[0].base_offset == 0
    assert segments[-1].next_offset == 40
    for segment in segments:
        assert segment.first_timestamp_ms == NOW_MS + segment.base_offset
        assert segment.largest_timestamp_ms == NOW_MS + segment.next_offset - 1
        files = dict(segment.files)
        assert files[f"{segment.base_offset:020d}.log"] == segment.size_bytes
        if not segment.active:
            assert files[f"{segment.base_offset:020d}.index"] == segment.index_entries * 8
            assert files[f"{segment.base_offset:020d}.timeindex"] == segment.time_index_entries * 12


def test_segments_are_described_without_loading_their_indexes(
    log: UnifiedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = segments_of(log)
    log = reopen(log)
    loaded: list[str] = []
    load = OffsetIndex.load

    def noting(path: str, base_offset: int, size_bytes: int) -> OffsetIndex:
        loaded.append(path)
        return load(path, base_offset, size_bytes)

    monkeypatch.setattr(OffsetIndex, "load", noting)
    assert segments_of(log)[:-1] == before[:-1]
    assert [Path(path).name for path in loaded] == [f"{before[-1].base_offset:020d}.index"]


def test_segments_that_go_meanwhile_are_described_as_empty(log: UnifiedLog) -> None:
    seen = describe_segments.segment_summaries(reopen(log))
    for path in Path(log.directory).glob("*0.*"):
        path.unlink()
    gone = describe(log.directory, seen)[0]
    assert (gone.index_entries, gone.largest_timestamp_ms, gone.files) == (0, -1, ())


def test_index_entries_point_at_batches(log: UnifiedLog) -> None:
    first = segments_of(log)[0]
    total, entries = describe_segments.index_entries(log, 0, "offset", 0, 100)
    assert total == len(entries) == first.index_entries > 2
    for offset, position in entries:
        (found,) = listed(log, 0, position, 1)
        assert found.header.last_offset == offset
    assert describe_segments.index_entries(log, 0, "offset", 1, 2) == (total, entries[1:3])
    assert describe_segments.index_entries(log, 0, "time", 0, 1)[1][0][0] > NOW_MS


def scanned(log: UnifiedLog, base_offset: int, position: int, up_to: int) -> list[BatchInfo]:
    data = describe_segments.data_from(log, base_offset, position)
    try:
        return batches(data, 100, up_to)
    finally:
        data.release()


@pytest.mark.parametrize("restarted", [False, True])
def test_each_offset_is_found_by_the_steps_of_a_look_up(log: UnifiedLog, restarted: bool) -> None:
    if restarted:
        log = reopen(log)
    for segment in segments_of(log):
        _, entries = describe_segments.index_entries(log, segment.base_offset, "offset", 0, 100)
        for offset in range(segment.base_offset, segment.next_offset):
            steps = describe_segments.index_steps(log, segment.base_offset, offset, None)
            before = [entry for entry in entries if entry[0] <= offset]
            assert (steps.entry, steps.time_entry) == (before[-1] if before else None, None)
            assert steps.entry_count == len(entries)
            assert steps.near_entries == entries[max(0, len(before) - 3) : max(1, len(before)) + 1]
            read = scanned(log, segment.base_offset, steps.scan_from_bytes, offset)
            assert read[-1].header.base_offset <= offset <= read[-1].header.last_offset
            assert len(read) <= 4, "the scan begins near the batch"


def test_a_time_is_found_by_the_time_index_first(log: UnifiedLog) -> None:
    _, times = describe_segments.index_entries(log, 0, "time", 0, 100)
    at_ms, offset = times[1]
    steps = describe_segments.index_steps(log, 0, offset + 1, at_ms)
    assert steps.time_entry == (at_ms, offset)
    assert steps.entry is not None
    assert steps.entry[0] <= offset
    before_all = describe_segments.index_steps(log, 0, 0, NOW_MS - 1)
    assert (before_all.time_entry, before_all.scan_from_bytes) == (None, 0)


def test_batches_are_listed_page_by_page(log: UnifiedLog) -> None:
    position, seen = 0, []
    while page := listed(log, 0, position, 3):
        seen += [found.header for found in page]
        assert all(found.crc_ok for found in page)
        position = page[-1].position_bytes + page[-1].header.size_bytes
    assert seen == [h for h in headers(log) if h.base_offset < segments_of(log)[0].next_offset]


def test_a_damaged_batch_is_shown_as_such(log: UnifiedLog, tmp_path: Path) -> None:
    path = tmp_path / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[80] ^= 1
    path.write_bytes(data)
    assert [found.crc_ok for found in listed(log, 0, 0, 3)] == [False, True, True]


def test_what_is_not_there_is_a_clear_error(log: UnifiedLog) -> None:
    with pytest.raises(KafkaError, match="no segment begins at offset 1"):
        listed(log, 1, 0, 10)
    with pytest.raises(KafkaError, match="no batch starts at byte 9999999"):
        listed(log, 0, 9_999_999, 5)
    with pytest.raises(KafkaError, match="no batch starts at byte 7"):
        listed(log, 0, 7, 10)
