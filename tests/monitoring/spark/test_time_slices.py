"""The files and buckets of each task of a roll-up."""

import pytest

from monitoring.history.levels import HOUR_MS, MINUTE_MS
from monitoring.spark.jobs.time_slices import ROWS_A_SLICE, SourceFile, time_slices
from monitoring.spark.transforms.buckets import Bucket

STEP_MS = 5_000
TICKS = [Bucket(at_ms, 1, STEP_MS) for at_ms in range(0, HOUR_MS, STEP_MS)]


def flushed(rows: int, offset_ms: int = 0) -> list[SourceFile]:
    """A file a minute, each with so many rows; the first one begins at `offset_ms`."""
    starts = range(offset_ms, HOUR_MS, MINUTE_MS)
    ends = [min(start + MINUTE_MS, HOUR_MS) - STEP_MS for start in starts]
    return [SourceFile(f"{a}", rows, a, b) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("offset_ms", [0, 25_000])
def test_each_bucket_is_in_one_slice_with_all_files_that_have_its_rows(offset_ms: int) -> None:
    files = flushed(ROWS_A_SLICE // 5, offset_ms)
    slices = time_slices(files, TICKS, MINUTE_MS)
    assert [bucket for part in slices for bucket in part.buckets] == TICKS
    minutes = [{bucket.at_ms // MINUTE_MS for bucket in part.buckets} for part in slices]
    assert sum(map(len, minutes)) == 60  # no minute is in two slices
    for part in slices:
        for bucket in part.buckets:
            has_rows = [f for f in files if f.min_at_ms <= bucket.at_ms <= f.max_at_ms]
            assert all(file in part.files for file in has_rows)


def test_a_slice_has_no_more_rows_than_fit_into_a_task() -> None:
    assert len(time_slices(flushed(ROWS_A_SLICE // 5), TICKS, MINUTE_MS)) == 12
    assert len(time_slices(flushed(ROWS_A_SLICE), TICKS, MINUTE_MS)) == 60
    assert time_slices(flushed(ROWS_A_SLICE * 3), TICKS, MINUTE_MS) == []


def test_few_rows_are_one_slice() -> None:
    [part] = time_slices(flushed(100), TICKS, MINUTE_MS)
    assert (part.rows, part.buckets) == (6000, TICKS)


def test_a_merged_file_is_not_cut() -> None:
    merged = SourceFile("hour", ROWS_A_SLICE * 10, 0, HOUR_MS - STEP_MS)
    assert time_slices([merged], TICKS, MINUTE_MS) == []


def test_nothing_to_roll_up_has_no_slices() -> None:
    assert time_slices([], [], MINUTE_MS) == []
    assert time_slices(flushed(1), [], MINUTE_MS) == []
