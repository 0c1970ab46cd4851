"""Old segments go: by time, by size, by log start; never past the high watermark."""

from pathlib import Path

from brokerd.config.log_config import LogConfig
from brokerd.log import fetch_offset_by_timestamp
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.io.open_files import OpenFiles
from brokerd.log.log_context import LogContext
from brokerd.log.unified_log import UnifiedLog
from tests.brokerd.log.support import NOW_MS, Events, batch, open_log, records, reopen, segments_of

DAY_MS = 86_400_000


def filled(directory: Path, context: LogContext | None = None, **settings: object) -> UnifiedLog:
    """Ten segments of two records; the records of segment i are from day i."""
    config = LogConfig(segment_bytes=2200, **settings)  # type: ignore[arg-type]
    log = open_log(directory, config, context=context)
    for i in range(20):
        at_ms = NOW_MS + (i // 2) * DAY_MS
        log.append([batch(size=1000, timestamp_ms=at_ms)], 0, NOW_MS)
    assert len(segments_of(log)) == 10
    return log


def test_segments_older_than_the_limit_go(tmp_path: Path) -> None:
    log = filled(tmp_path, retention_ms=3 * DAY_MS)
    assert delete_old_segments(log, NOW_MS + 8 * DAY_MS + 1, 20) == [0, 2, 4, 6, 8, 10]
    assert log.log_start_offset == 12
    assert [record.offset for record in records(log, 12)] == list(range(12, 20))


def test_segments_over_the_size_go(tmp_path: Path) -> None:
    log = filled(tmp_path, retention_ms=-1, retention_bytes=10_000)
    delete_old_segments(log, NOW_MS, 20)
    assert 10_000 <= log.size_bytes < 10_000 + 2200
    assert log.log_start_offset == segments_of(log)[0].base_offset


def test_segments_before_the_log_start_go_even_from_compacted_topics(tmp_path: Path) -> None:
    log = filled(tmp_path, retention_ms=1, cleanup_policy=("compact",))
    assert delete_old_segments(log, NOW_MS + 100 * DAY_MS, 20) == []
    log.delete_records_before(7)
    assert delete_old_segments(log, NOW_MS + 100 * DAY_MS, 20) == [0, 2, 4]
    assert log.log_start_offset == 7
    assert [record.offset for record in records(log, 7)] == list(range(7, 20))


def test_the_active_segment_stays_though_all_its_records_are_deleted(tmp_path: Path) -> None:
    """As in Kafka, until it is too old or too large."""
    log = filled(tmp_path, retention_ms=DAY_MS)
    log.delete_records_before(20)
    assert delete_old_segments(log, NOW_MS, 20) == [0, 2, 4, 6, 8, 10, 12, 14, 16]
    assert [segment.base_offset for segment in segments_of(log)] == [18]
    assert log.log_start_offset == 20
    assert delete_old_segments(log, NOW_MS + 10 * DAY_MS + 1, 20) == [18]
    assert [segment.base_offset for segment in segments_of(log)] == [20]


def test_nothing_past_the_high_watermark_goes(tmp_path: Path) -> None:
    log = filled(tmp_path, retention_ms=1)
    assert delete_old_segments(log, NOW_MS + 100 * DAY_MS, 5) == [0, 2]


def test_the_active_segment_goes_too_and_offsets_go_on(tmp_path: Path) -> None:
    log = filled(tmp_path, retention_ms=1)
    delete_old_segments(log, NOW_MS + 100 * DAY_MS, 20)
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (20, 20, 0)
    assert delete_old_segments(log, NOW_MS + 200 * DAY_MS, 20) == []
    assert log.append([batch()], 0, NOW_MS)[0].base_offset == 20


def test_the_youngest_record_counts_also_where_the_file_was_closed_for_room(tmp_path: Path) -> None:
    context = LogContext(files=OpenFiles(limit=1))
    config = LogConfig(retention_ms=3 * DAY_MS, index_interval_bytes=250)
    log, rolled, other = (open_log(tmp_path / each, config, context=context) for each in "abc")
    for at_ms in (NOW_MS, NOW_MS, NOW_MS + 1, NOW_MS + DAY_MS):
        for each in (log, rolled, other):
            each.append([batch(size=90, timestamp_ms=at_ms)], 0, NOW_MS)
    other.read(0, 1, up_to=1, min_one_batch=True)
    rolled.roll(NOW_MS)
    for each in (reopen(log), reopen(rolled)):
        assert fetch_offset_by_timestamp.first_at_or_after(each, NOW_MS + DAY_MS) == (
            3,
            NOW_MS + DAY_MS,
            0,
        )
        assert delete_old_segments(each, NOW_MS + 4 * DAY_MS - 1, 4) == []
        assert delete_old_segments(each, NOW_MS + 4 * DAY_MS + 1, 4) == [0]


def test_files_are_renamed_first_and_removed_later(tmp_path: Path) -> None:
    events = Events()
    context = LogContext(on_event=events)
    log = filled(tmp_path, context, retention_ms=DAY_MS, file_delete_delay_ms=1000)
    now_ms = NOW_MS + 9 * DAY_MS
    delete_old_segments(log, now_ms, 20)
    deleted = sorted(str(path) for path in tmp_path.glob("*.deleted"))
    assert len(deleted) == 8 * 3 + 7  # data, two indexes, and a snapshot for all but the first
    assert context.trash.take_due(now_ms + 999, 100) == []
    assert sorted(context.trash.take_due(now_ms + 1000, 100)) == deleted
    kind, detail = events[-1]
    assert (kind, detail["segments"]) == ("retention", [0, 2, 4, 6, 8, 10, 12, 14])


def test_a_segment_without_timestamps_counts_by_its_file(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(retention_ms=DAY_MS))
    log.append([batch(timestamp_ms=-10)], 0, NOW_MS)
    written_ms = int((tmp_path / f"{0:020d}.log").stat().st_mtime * 1000)
    assert delete_old_segments(log, written_ms + DAY_MS, 1) == []
    assert delete_old_segments(log, written_ms + DAY_MS + 1, 1) == [0]
