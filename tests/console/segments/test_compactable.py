"""Which part of a log compaction may read."""

from console.segments.compactable import ALL, CLOSED, NOT_YET, CompactablePart, compactable_part

NOW_MS = 1_000_000
LOG = range(5, 40)


def segment(end: int, *, time_ms: int = 0, active: bool = False) -> dict[str, object]:
    return {"next_offset": end, "largest_timestamp_ms": time_ms, "active": active}


CLOSED_AND_ACTIVE = [segment(10), segment(30, time_ms=NOW_MS - 50), segment(40, active=True)]


def part(segments=CLOSED_AND_ACTIVE, last_stable_offset: int | None = 40, min_lag_ms: int = 0):
    return compactable_part(LOG, segments, last_stable_offset, min_lag_ms, NOW_MS)


def test_it_is_the_closed_segments():
    assert part() == CompactablePart(range(5, 30), CLOSED)


def test_segments_with_young_records_or_open_transactions_and_later_ones_are_left_out():
    assert part(min_lag_ms=100) == CompactablePart(range(5, 10), CLOSED)
    assert part(last_stable_offset=20) == CompactablePart(range(5, 10), CLOSED)


def test_without_a_closed_segment_or_known_bounds_it_is_the_whole_log():
    assert part([segment(40, active=True)]) == CompactablePart(LOG, NOT_YET)
    assert part(None) == CompactablePart(LOG, ALL)
