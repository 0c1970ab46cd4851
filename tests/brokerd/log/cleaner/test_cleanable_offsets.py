"""What is dirty, and which log is cleaned."""

from dataclasses import replace

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.cleaner.cleanable_offsets import ClosedSegment, LogToClean, find
from brokerd.log.cleaner.log_cleaner_manager import is_cleanable

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
