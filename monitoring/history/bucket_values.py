"""The values of one key in every bucket, from the stored rows, which have only changes. Pure NumPy.

A value that is not known is NaN. A bucket without samples is NaN in every array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from monitoring.history.table_specs import Table

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
        is_ok = np.array([status == "ok" for status in ticks["status"].to_pylist()], dtype=bool)
        return cls(
            at_ms=ticks["at_ms"].to_numpy(),
            samples=is_ok.astype(np.int64),
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
class Values:
    """Per bucket the lowest, mean, highest and last value, and what the mean is weighted by."""

    low: Floats
    mean: Floats
    high: Floats
    last: Floats
    weight: Floats


def spread(
    buckets: Buckets, values: dict[str, Values], bucket_ms: int, step_ms: int
) -> tuple[Buckets, dict[str, Values]]:
    """Each bucket as several shorter ones with its values; they share its amount."""
    count = -(-bucket_ms // step_ms)
    starts = np.arange(count) * step_ms
    spread_buckets = Buckets(
        at_ms=(buckets.at_ms[:, None] + starts).ravel(),
        samples=np.repeat(buckets.samples, count),
        rated_ms=np.repeat(buckets.rated_ms, count),
    )
    spread_values = {
        name: Values(*(np.repeat(getattr(of, column), count) for column in Values.__slots__))
        for name, of in values.items()
    }
    shared = {name: replace(of, last=of.last / count) for name, of in spread_values.items()}
    return spread_buckets, shared


def gauge(rows: pa.Table, name: str, buckets: Buckets) -> Values:
    """A gauge. `rows`: the level's rows of one key, in the order of time."""
    place, has_row = _places(rows, buckets)
    if f"{name}_last" in rows.column_names:
        last, low, high = (_numbers(rows, f"{name}_{kind}") for kind in ("last", "low", "high"))
        known = _numbers(rows, f"{name}_samples")
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _numbers(rows, f"{name}_sum") / known
    else:
        last = low = high = mean = _numbers(rows, name)
        known = (~np.isnan(last)).astype(float)
    held = _before_or_last(rows, f"{name}_before", last, place)
    is_sampled = buckets.samples > 0
    low, mean, high, last = (
        np.where(is_sampled, np.where(has_row, _at(array, place), held), np.nan)
        for array in (low, mean, high, last)
    )
    weight = np.where(has_row, _at(known, place), buckets.samples)
    return Values(low, mean, high, last, np.where(np.isnan(mean), 0.0, weight))


def rate(rows: pa.Table, table: Table, name: str, buckets: Buckets) -> Values:
    """A counter as amount per second. `last` is the amount of the bucket."""
    place, has_row = _places(rows, buckets)
    bit = table.counter_bit(name)
    amount = _numbers(rows, name)
    if f"{name}_rated" in rows.column_names:
        rated_ms, low, high = (_numbers(rows, f"{name}_{k}") for k in ("rated_ms", "low", "high"))
        rated = _numbers(rows, f"{name}_rated")
        rated_ms = _at(rated_ms, place)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = _at(rated, place) * _MS / rated_ms
        low, high = _at(low, place), _at(high, place)
    else:
        is_rated = (_numbers(rows, "rated").astype(np.int64) & bit) > 0
        rated_ms = np.where(_at(is_rated.astype(float), place) > 0, buckets.rated_ms, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = low = high = np.where(rated_ms > 0, _at(amount, place) * _MS / rated_ms, np.nan)
    state = _before_or_last(rows, "state_before", _numbers(rows, "state"), place)
    is_known = (np.nan_to_num(state).astype(np.int64) & bit) > 0
    idle = np.where(is_known & (buckets.rated_ms > 0), 0.0, np.nan)
    is_sampled = buckets.samples > 0
    low, mean, high = (
        np.where(is_sampled, np.where(has_row, array, idle), np.nan) for array in (low, mean, high)
    )
    weight = np.where(has_row, rated_ms, buckets.rated_ms)
    amounts = np.where(is_sampled, np.where(has_row, _at(amount, place), 0.0), np.nan)
    return Values(low, mean, high, amounts, np.where(np.isnan(mean), 0.0, weight))


def _places(rows: pa.Table, buckets: Buckets) -> tuple[np.ndarray, np.ndarray]:
    """For each bucket the newest row up to its end (−1 = none), and whether that row is in it."""
    times = rows["at_ms"].to_numpy()
    place = np.searchsorted(times, buckets.at_ms, side="right") - 1
    if not len(times):
        return place, np.zeros(len(place), dtype=bool)
    return place, (place >= 0) & (times[place] == buckets.at_ms)


def _before_or_last(rows: pa.Table, before: str, last: Floats, place: np.ndarray) -> Floats:
    """The value that holds where a bucket has no row: that of the row before it."""
    first = _numbers(rows, before)[0] if len(rows) else np.nan
    return np.where(place >= 0, _at(last, place), first)


def _numbers(rows: pa.Table, name: str) -> Floats:
    """A column; null is NaN."""
    return np.asarray(rows[name].to_numpy(), dtype=np.float64)


def _at(values: Floats, place: np.ndarray) -> Floats:
    found: Floats = values[place] if len(values) else np.full(len(place), np.nan)
    return found
