"""What is dirty, which log is cleaned, and which segments are joined."""

from dataclasses import replace

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.integer_ranges import INT32_MAX
from brokerd.log.cleaner.log_to_clean import (
    GROUP_SEGMENTS_MAX,
    ClosedSegment,
    LogToClean,
    SegmentFiles,
    find,
    group_segments,
    is_cleanable,
)

NOW_MS = 1_000_000
CONFIG = LogConfig(cleanup_policy=("compact",))
CLOSED = [
    ClosedSegment(number * 10, number * 10 + 10, 100, NOW_MS - 500 + number, NOW_MS - 400 + number)
    for number in range(5)
]


def part(config: LogConfig = CONFIG, checkpoint: int = 0, stable_offset: int = 1000) -> LogToClean:
    return find(CLOSED, config, checkpoint=checkpoint, stable_offset=stable_offset, now_ms=NOW_MS)


def test_all_closed_segments_of_a_log_never_cleaned_are_dirty() -> None:
    assert part() == LogToClean(0, 50, 0, 500, 0)
    assert part().ratio == 1.0


def test_what_lies_before_the_checkpoint_is_clean() -> None:
    assert part(checkpoint=20) == LogToClean(20, 50, 200, 300, 0)


def test_a_segment_cleaned_in_part_is_dirty_as_a_whole() -> None:
    assert part(checkpoint=25) == LogToClean(25, 50, 200, 300, 0)


@pytest.mark.parametrize("checkpoint", [51, 10**9])
def test_a_checkpoint_past_the_log_means_that_all_is_dirty(checkpoint: int) -> None:
    assert part(checkpoint=checkpoint).start_offset == 0


@pytest.mark.parametrize(("stable", "end"), [(30, 30), (39, 30), (40, 40), (5, 0)])
def test_only_segments_wholly_below_the_stable_offset_are_cleaned(stable: int, end: int) -> None:
    assert part(stable_offset=stable).end_offset == end


def test_from_the_first_segment_with_young_records_on_nothing_is_cleaned() -> None:
    config = replace(CONFIG, min_compaction_lag_ms=398)
    assert part(config).end_offset == 30


def test_a_log_is_cleaned_when_it_is_dirty_enough() -> None:
    assert is_cleanable(part(checkpoint=20), CONFIG)
    assert not is_cleanable(part(checkpoint=30), CONFIG)
    assert not is_cleanable(part(checkpoint=50), replace(CONFIG, min_cleanable_dirty_ratio=0.0))


def test_a_log_dirty_for_too_long_is_cleaned_however_little_it_is() -> None:
    assert is_cleanable(part(replace(CONFIG, max_compaction_lag_ms=490), 40), CONFIG)
    assert not is_cleanable(part(replace(CONFIG, max_compaction_lag_ms=500), 40), CONFIG)


def test_a_log_without_closed_segments_has_nothing_to_clean() -> None:
    dirty = find([], CONFIG, checkpoint=7, stable_offset=9, now_ms=NOW_MS)
    assert not is_cleanable(dirty, CONFIG)


def bases(made: list[list[SegmentFiles]]) -> list[list[int]]:
    return [[each.base_offset for each in group] for group in made]


def test_neighbours_are_joined_up_to_the_size_of_a_segment_and_of_its_indexes() -> None:
    files = [SegmentFiles(n, n + 1, 40, 8, 12) for n in range(5)]
    assert bases(group_segments(files, segment_bytes=100, index_bytes=1000)) == [
        [0, 1],
        [2, 3],
        [4],
    ]
    assert bases(group_segments(files, segment_bytes=1000, index_bytes=24)) == [[0, 1], [2, 3], [4]]
    assert bases(group_segments(files, segment_bytes=1000, index_bytes=1000)) == [[0, 1, 2, 3, 4]]


def test_a_segment_larger_than_allowed_stays_alone() -> None:
    files = [SegmentFiles(n, n + 1, 400, 8, 12) for n in range(2)]
    assert bases(group_segments(files, segment_bytes=100, index_bytes=1000)) == [[0], [1]]


def test_offsets_of_a_joined_segment_fit_32_bits() -> None:
    near = SegmentFiles(10, INT32_MAX + 11, 1, 0, 0)
    far = SegmentFiles(10, INT32_MAX + 12, 1, 0, 0)
    first = SegmentFiles(0, 10, 1, 0, 0)
    begun = SegmentFiles(10, 11, 1, 0, 0)
    assert len(group_segments([begun, near], segment_bytes=9, index_bytes=9)) == 1
    assert len(group_segments([begun, far], segment_bytes=9, index_bytes=9)) == 2
    assert len(group_segments([first, near], segment_bytes=9, index_bytes=9)) == 2


def test_no_more_segments_are_joined_than_one_swap_can_rename() -> None:
    files = [SegmentFiles(n, n + 1, 1, 0, 0) for n in range(GROUP_SEGMENTS_MAX + 1)]
    made = group_segments(files, segment_bytes=10**6, index_bytes=10**6)
    assert [len(group) for group in made] == [GROUP_SEGMENTS_MAX, 1]
