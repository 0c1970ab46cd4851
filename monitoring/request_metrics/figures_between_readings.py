"""The requests of a broker by API: rates and times, from one reading or between two. Pure.

A counter that is less than before, or another start, means that the broker was restarted: then the
figures are since its start.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.request_metrics.counters import PARTS, ApiCounters, Distribution, Reading

_NOTHING = ApiCounters()
_START_SPREAD_MS = 2000  # some sources compute their start anew, from a clock that is adjusted


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds; None = unknown.

    `first_ms`, `last_ms`: the bounds of the source's histogram, None without one. A percentile at
    the first one is at most this, a percentile at the last one at least this.
    """

    mean: float | None = None
    p50: float | None = None
    p99: float | None = None
    first_ms: float | None = None
    last_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One API. Rates are per second; `times` has a Latency for each of PARTS."""

    api: str
    requests: float | None
    errors: float | None
    bytes_in: float | None
    times: dict[str, Latency]


@dataclass(frozen=True, slots=True)
class Figures:
    """The rows, and their time. `is_since_start`: from the broker's start, `from_ms` if known."""

    rows: list[ApiRow]
    from_ms: int | None
    at_ms: int
    is_since_start: bool

    @property
    def seconds(self) -> float | None:
        return None if self.from_ms is None else (self.at_ms - self.from_ms) / 1000


def figures_between(now: Reading, before: Reading | None) -> Figures:
    """The figures of the time between the readings; without `before`, since the broker's start."""
    if before is not None and (before.at_ms >= now.at_ms or _is_restarted(before, now)):
        before = None
    from_ms = now.started_at_ms if before is None else before.at_ms
    seconds = (now.at_ms - from_ms) / 1000 if from_ms is not None else 0.0
    earlier = before.apis if before else {}
    rows = [
        _row(api, _between(earlier[api], counters) if api in earlier else counters, seconds)
        for api, counters in now.apis.items()
        if counters.count
    ]
    return Figures(rows, from_ms, now.at_ms, before is None)


def _is_restarted(before: Reading, now: Reading) -> bool:
    starts = [each.started_at_ms for each in (before, now) if each.started_at_ms is not None]
    if starts and max(starts) - min(starts) > _START_SPREAD_MS:
        return True
    return any(
        now.apis.get(api, _NOTHING).count < counters.count for api, counters in before.apis.items()
    )


def _between(before: ApiCounters, now: ApiCounters) -> ApiCounters:
    """What was counted between two readings."""
    return ApiCounters(
        _increase(before.count, now.count),
        _increase(before.errors, now.errors),
        _values_between(before.size_bytes, now.size_bytes),
        {part: _values_between(before.times_ms[part], now.times_ms[part]) for part in PARTS},
    )


def _values_between(before: Distribution, now: Distribution) -> Distribution:
    """The quantiles are those of `now`: the source computes them over a time of its own."""
    buckets = {
        bound: max(counted - before.buckets.get(bound, 0.0), 0.0)
        for bound, counted in now.buckets.items()
    }
    return Distribution(
        count=_increase(before.count, now.count),
        sum=_increase(before.total, now.total),
        buckets=buckets,
        quantiles=now.quantiles,
    )


def _increase(before: float | None, now: float | None) -> float | None:
    """The increase of a counter; None if one of its values is not known."""
    return None if before is None or now is None else max(now - before, 0.0)


def _row(api: str, counted: ApiCounters, seconds: float) -> ApiRow:
    def rate(total: float | None) -> float | None:
        return None if total is None or seconds <= 0 else total / seconds

    # brokerd measures one of 16 fast requests: of a few, possibly none.
    is_measured = counted.times_ms["total"].total != 0
    return ApiRow(
        api,
        rate(counted.count),
        rate(counted.errors),
        rate(counted.size_bytes.total),
        {
            part: _latency(values) if is_measured else Latency()
            for part, values in counted.times_ms.items()
        },
    )


def _latency(values: Distribution) -> Latency:
    if values.count == 0:
        return Latency()
    mean = values.total / values.count if values.total is not None and values.count else None
    if not values.buckets:
        return Latency(mean, values.quantiles.get(0.5), values.quantiles.get(0.99))
    buckets = sorted(values.buckets.items())
    bounds = [bound for bound, _count in buckets if math.isfinite(bound)]
    if not bounds:
        return Latency(mean)
    if mean == 0:  # then all values are 0
        return Latency(mean=0.0, p50=0.0, p99=0.0, first_ms=bounds[0], last_ms=bounds[-1])
    return Latency(mean, _quantile(buckets, 0.5), _quantile(buckets, 0.99), bounds[0], bounds[-1])


def _quantile(buckets: Sequence[tuple[float, float]], share: float) -> float | None:
    """The quantile, computed as Prometheus' histogram_quantile does: the values within a bucket are
    taken as evenly spread. Of the first bucket, which has most values of a fast broker, the result
    is the bound. None = there are no values."""
    wanted = buckets[-1][1] * share
    lower, below = None, 0.0
    for bound, counted in buckets:
        if counted >= wanted > 0:
            if lower is None or math.isinf(bound):
                return bound if lower is None else lower
            return lower + (bound - lower) * (wanted - below) / (counted - below)
        lower, below = bound, counted
    return None
