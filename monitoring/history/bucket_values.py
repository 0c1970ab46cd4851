"""The values of one key in every bucket, from the stored rows, which have only changes. Pure NumPy.

A value that is not known is NaN. A bucket without samples is NaN in every array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history.table_specs import EXISTS, UNANSWERED, UNANSWERED_MS, Table

Floats = np.ndarray
_MS = 1000


@dataclass(frozen=True, slots=True)
class Buckets:
    """The buckets of a level, in the order of time; of raw ticks one for each tick."""

    at_ms: np.ndarray
    samples: np.ndarray
    rated_ms: np.ndarray

    @classmethod
    def of_ticks(cls, ticks: pa.Table) -> Buckets:
        """From the ticks table of the raw level."""
        return cls(
            at_ms=ticks["at_ms"].to_numpy(),
            samples=pc.equal(ticks["status"], "ok").to_numpy().astype(np.int64),
            rated_ms=ticks["step_ms"].fill_null(0).to_numpy(),
        )

    @classmethod
    def of_level(cls, ticks: pa.Table) -> Buckets:
        """From the ticks table of another level."""
        return cls(
            at_ms=ticks["at_ms"].to_numpy(),
            samples=ticks["samples"].to_numpy(),
            rated_ms=ticks["rated_ms"].to_numpy(),
        )


@dataclass(frozen=True, slots=True)
class BucketValues:
    """Per bucket the lowest, mean, highest and last value, and what the mean is weighted by."""

    low: Floats
    mean: Floats
    high: Floats
    last: Floats
    weight: Floats


def spread(
    buckets: Buckets, values: dict[str, BucketValues], bucket_ms: int, step_ms: int
) -> tuple[Buckets, dict[str, BucketValues]]:
    """Each bucket as several shorter ones with its values; they share its amount."""
    count = -(-bucket_ms // step_ms)
    starts = np.arange(count) * step_ms
    spread_buckets = Buckets(
        at_ms=(buckets.at_ms[:, None] + starts).ravel(),
        samples=np.repeat(buckets.samples, count),
        rated_ms=np.repeat(buckets.rated_ms, count),
    )
    spread_values = {
        name: BucketValues(
            *(np.repeat(getattr(each, column), count) for column in BucketValues.__slots__)
        )
        for name, each in values.items()
    }
    shared = {name: replace(each, last=each.last / count) for name, each in spread_values.items()}
    return spread_buckets, shared


def gauge(rows: pa.Table, name: str, buckets: Buckets) -> BucketValues:
    """A gauge. `rows`: the level's rows of one key, in the order of time."""
    row_numbers, has_row = _newest_rows(rows, buckets)
    if f"{name}_last" in rows.column_names:
        last, low, high = (_numbers(rows, f"{name}_{kind}") for kind in ("last", "low", "high"))
        known = _numbers(rows, f"{name}_samples")
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _numbers(rows, f"{name}_sum") / known
    else:
        last = low = high = mean = _numbers(rows, name)
        known = (~np.isnan(last)).astype(float)
    held = _held_values(rows, f"{name}_before", last, row_numbers)
    is_sampled = buckets.samples > 0
    low, mean, high, last = (
        np.where(is_sampled, np.where(has_row, _take(array, row_numbers), held), np.nan)
        for array in (low, mean, high, last)
    )
    weight = np.where(has_row, _take(known, row_numbers), buckets.samples)
    return BucketValues(low, mean, high, last, np.where(np.isnan(mean), 0.0, weight))


def rate(rows: pa.Table, table: Table, name: str, buckets: Buckets) -> BucketValues:
    """A counter as amount per second. `last` is the amount of the bucket."""
    row_numbers, has_row = _newest_rows(rows, buckets)
    bit = table.counter_bit(name)
    amount = _numbers(rows, name)
    if f"{name}_rated" in rows.column_names:
        rated_ms, low, high = (_numbers(rows, f"{name}_{k}") for k in ("rated_ms", "low", "high"))
        rated = _numbers(rows, f"{name}_rated")
        rated_ms = _take(rated_ms, row_numbers)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _take(rated, row_numbers) * _MS / rated_ms
        low, high = _take(low, row_numbers), _take(high, row_numbers)
    else:
        is_rated = (_numbers(rows, "rated").astype(np.int64) & bit) > 0
        rated_ms = np.where(_take(is_rated.astype(float), row_numbers) > 0, buckets.rated_ms, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = low = high = np.where(
                rated_ms > 0, _take(amount, row_numbers) * _MS / rated_ms, np.nan
            )
    is_known = (_held_states(rows, row_numbers) & bit) > 0
    idle = np.where(is_known & (buckets.rated_ms > 0), 0.0, np.nan)
    is_sampled = buckets.samples > 0
    low, mean, high = (
        np.where(is_sampled, np.where(has_row, array, idle), np.nan) for array in (low, mean, high)
    )
    weight = np.where(has_row, rated_ms, buckets.rated_ms)
    amounts = np.where(is_sampled, np.where(has_row, _take(amount, row_numbers), 0.0), np.nan)
    return BucketValues(low, mean, high, amounts, np.where(np.isnan(mean), 0.0, weight))


def unanswered(rows: pa.Table, buckets: Buckets) -> BucketValues:
    """The milliseconds of samples without an answer; each value is the amount of the bucket."""
    row_numbers, has_row = _newest_rows(rows, buckets)
    held = _held_states(rows, row_numbers)
    amounts = np.where((held & UNANSWERED) > 0, buckets.rated_ms, 0).astype(float)
    is_known = (held & EXISTS) > 0
    if UNANSWERED_MS in rows.column_names:
        stored = _take(_numbers(rows, UNANSWERED_MS), row_numbers)
        is_older = np.isnan(stored) & (row_numbers >= 0)
        is_known = (is_known | has_row) & ~is_older
        amounts = np.where(has_row, stored, amounts)
    found = np.where(is_known & (buckets.samples > 0), amounts, np.nan)
    return BucketValues(found, found, found, found, np.where(np.isnan(found), 0.0, 1.0))


def _newest_rows(rows: pa.Table, buckets: Buckets) -> tuple[np.ndarray, np.ndarray]:
    """For each bucket the newest row up to its end (−1 = none), and whether that row is in it."""
    times = rows["at_ms"].to_numpy()
    row_numbers = np.searchsorted(times, buckets.at_ms, side="right") - 1
    if not len(times):
        return row_numbers, np.zeros(len(row_numbers), dtype=bool)
    return row_numbers, (row_numbers >= 0) & (times[row_numbers] == buckets.at_ms)


def _held_values(rows: pa.Table, before: str, last: Floats, row_numbers: np.ndarray) -> Floats:
    """The value that holds where a bucket has no row: that of the row before it."""
    first = _numbers(rows, before)[0] if len(rows) else np.nan
    return np.where(row_numbers >= 0, _take(last, row_numbers), first)


def _held_states(rows: pa.Table, row_numbers: np.ndarray) -> np.ndarray:
    """The state that holds where a bucket has no row; 0 = unknown."""
    held = _held_values(rows, "state_before", _numbers(rows, "state"), row_numbers)
    states: np.ndarray = np.nan_to_num(held).astype(np.int64)
    return states


def _numbers(rows: pa.Table, name: str) -> Floats:
    """A column; null is NaN."""
    return np.asarray(rows[name].to_numpy(), dtype=np.float64)


def _take(values: Floats, row_numbers: np.ndarray) -> Floats:
    found: Floats = values[row_numbers] if len(values) else np.full(len(row_numbers), np.nan)
    return found
