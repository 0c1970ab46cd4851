"""Which level is read for which part of a time range. Pure.

A part is read from the coarsest level that is allowed and has it. What a level does not have yet
(the newest hours) or any more (expired ticks) is read from another one, so that each time is read
once. At the ends of a range a bucket that is only partly inside is read from a finer level; where
none has it, the bucket is left out. What only coarser levels than the allowed one have is added by
`add_coarser`. How many points a chart has is in points.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from monitoring.history.levels import HOUR_MS, LEVELS, RAW, Level


@dataclass(frozen=True, slots=True)
class LevelRange:
    """A range `[from_ms, to_ms)` that is read from one level."""

    level: Level
    from_ms: int
    to_ms: int


TimesOf = Callable[[Level, int, int], np.ndarray]
"""The times in the ticks table of a level within `[from_ms, to_ms)`."""


def choose_levels(from_ms: int, to_ms: int, times_of: TimesOf, coarsest: Level) -> list[LevelRange]:
    """The parts of a range, oldest first. A finer level is only asked for what coarser ones lack:
    its ticks are in many more files."""
    parts: list[LevelRange] = []
    rest = [(from_ms, to_ms)] if from_ms < to_ms else []
    for level in reversed(LEVELS[: LEVELS.index(coarsest) + 1]):
        left = []
        for start_ms, end_ms in rest:
            found = list(_ranges(level, times_of(level, start_ms, end_ms), start_ms, end_ms))
            parts += found
            left += _missing_ranges(found, start_ms, end_ms)
        rest = left
    return sorted(parts, key=lambda part: part.from_ms)


def add_coarser(
    parts: Sequence[LevelRange], from_ms: int, to_ms: int, times_of: TimesOf, coarsest: Level
) -> list[LevelRange]:
    """The parts of `choose_levels`, and parts of coarser levels for what these leave.

    The first bucket of an added part can begin before it, and the last one end behind it.
    """
    found = list(parts)
    for level in LEVELS[LEVELS.index(coarsest) + 1 :]:
        for start_ms, end_ms in _missing_ranges(found, from_ms, to_ms):
            first_ms = start_ms // level.bucket_ms * level.bucket_ms
            last_ms = -(-end_ms // level.bucket_ms) * level.bucket_ms
            times = times_of(level, first_ms, last_ms)
            for part in _ranges(level, times, first_ms, last_ms):
                inside = LevelRange(level, max(part.from_ms, start_ms), min(part.to_ms, end_ms))
                found.append(inside)
        found.sort(key=lambda part: part.from_ms)
    return found


def _ranges(level: Level, times: np.ndarray, from_ms: int, to_ms: int) -> Sequence[LevelRange]:
    """The ranges within `[from_ms, to_ms)` that the level has."""
    inside = times[(times >= from_ms) & (times + max(level.bucket_ms, 1) <= to_ms)]
    if not len(inside):
        return []
    # A roll-up does whole hours (or whole buckets, where they are longer), ticks expire by hours.
    unit_ms = max(level.bucket_ms, HOUR_MS)
    units = np.unique(inside - inside % unit_ms)
    starts = units[np.diff(units, prepend=units[0] - 2 * unit_ms) != unit_ms]
    ends = units[np.diff(units, append=units[-1] + 2 * unit_ms) != unit_ms] + unit_ms
    first_ms, last_ms = from_ms, to_ms
    if level is not RAW:  # whole buckets
        first_ms = -(-from_ms // level.bucket_ms) * level.bucket_ms
        last_ms = to_ms // level.bucket_ms * level.bucket_ms
    return [
        LevelRange(level, max(int(start), first_ms), min(int(end), last_ms))
        for start, end in zip(starts, ends, strict=True)
    ]


def _missing_ranges(parts: Sequence[LevelRange], from_ms: int, to_ms: int) -> list[tuple[int, int]]:
    """The ranges within `[from_ms, to_ms)` that no part covers."""
    ends = [from_ms, *(part.to_ms for part in parts)]
    starts = [*(part.from_ms for part in parts), to_ms]
    return [(end, start) for end, start in zip(ends, starts, strict=True) if start > end]
