"""The length of the buckets of a report. Pure."""

from __future__ import annotations

BUCKETS_MAX = 240
_BUCKETS_MS = [60_000 * minutes for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440)]


def longest_range_ms_below(bucket_ms: int) -> int:
    """The longest range whose buckets are shorter than this: at least a minute, at most a day."""
    return BUCKETS_MAX * max(length for length in _BUCKETS_MS if length < bucket_ms)


def bucket_ms_for(from_ms: int, to_ms: int) -> int:
    """The length of the buckets of a range: at most BUCKETS_MAX, each at least a minute long."""
    for length_ms in _BUCKETS_MS:
        if (to_ms - from_ms) <= length_ms * BUCKETS_MAX:
            return length_ms
    return -(-(to_ms - from_ms) // BUCKETS_MAX)
