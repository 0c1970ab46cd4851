"""Joins values of several levels into the points of a chart. Pure NumPy.

A point is a slot of time, `step_ms` long. It has the lowest and the highest value of the buckets in
it, so that a peak of a minute is seen on a chart of 90 days, and their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitoring.history.bucket_values import Buckets, BucketValues, Floats
from monitoring.history.levels import DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, MINUTE_MS, Level

POINTS_MAX = 2000  # of any chart; ChartQuery.points_max (console/charts) decides for each chart
_SECOND_MS = 1000
_STEPS_MS = tuple(
    [n * _SECOND_MS for n in (1, 2, 5, 10, 15, 20, 30)]
    + [n * MINUTE_MS for n in (1, 2, 5, 10, 15, 20, 30)]
    + [n * HOUR_MS for n in (1, 2, 3, 4, 6, 8, 12)]
    + [n * DAY_MS for n in (1, 2, 7, 14, 30)]
)
# A longer range has at least the buckets of the next level: each span of a level is files of its
# own, and to open them takes most of the time of a chart.
_RANGES_MAX_MS = ((HOUR_MS, MINUTE), (7 * DAY_MS, HOUR))  # of raw ticks, of minutes


@dataclass(frozen=True, slots=True)
class Points:
    """The points of a chart: per slot start the values; NaN = not known.

    `amount` is what a counter added in all slots together, None for a gauge. Of a sum the lowest
    value was `low` or less, the highest `high` or more (`total`).
    """

    at_ms: np.ndarray
    step_ms: int
    low: Floats
    mean: Floats
    high: Floats
    amount: float | None
    is_sum: bool = False


def step_for(range_ms: int, points: int, interval_ms: int) -> int:
    """The length of a slot: at most `points` of them, and none shorter than a tick or than the
    buckets of a level from which so long a range is read quickly.

    Raises ValueError if `points` is not from 2 to POINTS_MAX.
    """
    if not 2 <= points <= POINTS_MAX:
        raise ValueError(f"a chart has from 2 to {POINTS_MAX} points, not {points}")
    step_min_ms = max(interval_ms, -(-range_ms // points))
    for range_max_ms, next_level in _RANGES_MAX_MS:
        if range_ms > range_max_ms:
            step_min_ms = max(step_min_ms, next_level.bucket_ms)
    return next((step for step in _STEPS_MS if step >= step_min_ms), step_min_ms)


def level_for(step_ms: int) -> Level:
    """The coarsest level whose buckets fit into a slot."""
    return max((level for level in LEVELS if level.bucket_ms <= step_ms), key=LEVELS.index)


def join(
    parts: Sequence[tuple[Buckets, BucketValues]],
    from_ms: int,
    to_ms: int,
    step_ms: int,
    *,
    rate: bool,
    is_amount: bool = False,
) -> Points:
    """The points of `[from_ms, to_ms)` from parts that do not overlap.

    With `is_amount` all values of a point are the amount of the buckets in it.
    """
    first = from_ms - from_ms % step_ms
    at_ms = np.arange(first, to_ms, step_ms)
    slots = len(at_ms)
    low, high = np.full(slots, np.inf), np.full(slots, -np.inf)
    total, weights = np.zeros(slots), np.zeros(slots)
    amount = 0.0
    for buckets, values in parts:
        inside = (buckets.at_ms >= first) & (buckets.at_ms < to_ms) & ~np.isnan(values.mean)
        slot = (buckets.at_ms[inside] - first) // step_ms
        np.minimum.at(low, slot, values.low[inside])
        np.maximum.at(high, slot, values.high[inside])
        weighted = values.last if is_amount else values.mean * values.weight
        np.add.at(total, slot, weighted[inside])
        np.add.at(weights, slot, values.weight[inside])
        within = (buckets.at_ms >= from_ms) & (buckets.at_ms < to_ms)
        amount += float(np.nansum(values.last[within])) if rate or is_amount else 0.0
    known = weights > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, total if is_amount else total / weights, np.nan)
    if is_amount:
        low = high = mean
    return Points(
        at_ms=at_ms,
        step_ms=step_ms,
        low=np.where(known, low, np.nan),
        mean=mean,
        high=np.where(known, high, np.nan),
        amount=amount if rate or is_amount else None,
    )


def total(parts: Sequence[Points]) -> Points:
    """The sum of parts with the same slots.

    Between its first and its last value a part that is not known makes the sum unknown; before and
    behind them it is no part of it. When each part had its lowest and highest value is not known.
    So `high` is only a value that the sum has reached or exceeded: the highest value of one part
    while the others had at least their lowest. Likewise `low`: the sum was that or less.
    """
    first = parts[0]
    known = np.zeros(len(first.at_ms), dtype=bool)
    low, mean, high, spread = np.zeros((4, len(first.at_ms)))  # spread: the largest of a part
    for part in parts:
        known_slots = np.flatnonzero(~np.isnan(part.mean))
        if len(known_slots):
            inside = slice(known_slots[0], known_slots[-1] + 1)
            mean[inside] += part.mean[inside]
            low[inside] += part.low[inside]
            high[inside] += part.high[inside]
            spread[inside] = np.maximum(spread[inside], part.high[inside] - part.low[inside])
            known[inside] = True
    amount = None if first.amount is None else sum(part.amount or 0.0 for part in parts)
    return Points(
        at_ms=first.at_ms,
        step_ms=first.step_ms,
        low=np.where(known, np.minimum(high - spread, mean), np.nan),
        mean=np.where(known, mean, np.nan),
        high=np.where(known, np.maximum(low + spread, mean), np.nan),
        amount=amount,
        is_sum=len(parts) > 1,
    )
