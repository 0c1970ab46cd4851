"""Where the offsets and times of a log are on its log diagram (log_diagram.py), in percent. Pure.

The width of a segment is in proportion to its size, its time or its offsets, but not below a
minimum, so that it can be seen. Only the bounds of segments are known: offsets and times within a
segment are assumed to be spread evenly.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

Json = dict[str, Any]

SIZE, TIME, OFFSET = "size", "time", "offset"
WIDTH_MIN = 0.5  # of a segment, in percent


@dataclass(frozen=True, slots=True)
class Scale:
    """The bounds of the segments: each begins at one and ends at the next.

    Attributes:
        edges: in percent, from 0 to 100.
        offsets: the base offsets, and the end of the last segment.
        times_ms: in order; empty = some timestamps are missing.
        kind: SIZE, TIME or OFFSET.
    """

    edges: tuple[float, ...]
    offsets: tuple[int, ...]
    times_ms: tuple[int, ...]
    kind: str = SIZE

    def at_offset(self, offset: int) -> float:
        """An offset outside of the log is at the nearer end."""
        return self._between(self.offsets, offset)

    def at_time(self, at_ms: int) -> float | None:
        """None: the time is outside of the log, or its times are not known."""
        if not self.times_ms or not self.times_ms[0] <= at_ms <= self.times_ms[-1]:
            return None
        return self._between(self.times_ms, at_ms)

    def _between(self, bounds: Sequence[int], value: int) -> float:
        index = min(max(bisect_right(bounds, value) - 1, 0), len(bounds) - 2)
        low, high = bounds[index], bounds[index + 1]
        fraction = min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0
        left, right = self.edges[index], self.edges[index + 1]
        return round(left + fraction * (right - left), 3)


def scale_of(segments: Sequence[Json], wanted: str) -> Scale:
    """The scale of at least one segment, oldest first. Its kind is `wanted`, but SIZE if that is no
    kind, or if it is TIME and not all times are known."""
    offsets = (*(each["base_offset"] for each in segments), segments[-1]["next_offset"])
    times_ms = times_of(segments)
    kind = wanted if wanted == OFFSET or (wanted == TIME and times_ms) else SIZE
    if kind == SIZE:
        weights = [each["size_bytes"] for each in segments]
    else:
        bounds = offsets if kind == OFFSET else times_ms
        weights = [end - start for start, end in pairwise(bounds)]
    return Scale(_edges(weights), offsets, times_ms, kind)


def times_of(segments: Sequence[Json]) -> tuple[int, ...]:
    """When each segment begins, and when the last ends; empty if a record's time is not known.

    Producers choose timestamps, which need not be in order: a segment that would begin before its
    predecessor begins with it.
    """
    bounds: list[int] = []
    latest_ms = 0
    for segment in segments:
        first_ms, largest_ms = segment["first_timestamp_ms"], segment["largest_timestamp_ms"]
        if not segment["size_bytes"] and bounds:  # an active one without records
            first_ms = largest_ms = latest_ms
        if first_ms is None or largest_ms is None:
            return ()
        bounds.append(max(first_ms, bounds[-1] if bounds else first_ms))
        latest_ms = max(latest_ms, largest_ms)
    return (*bounds, max(latest_ms, bounds[-1])) if bounds else ()


def _edges(weights: Sequence[int]) -> tuple[float, ...]:
    total = sum(weights)
    width_min = min(WIDTH_MIN, 50 / len(weights))
    shares = [max(100 * each / total if total else 1, width_min) for each in weights]
    ends = list(accumulate(shares))
    return (0.0, *(round(100 * end / ends[-1], 3) for end in ends))
