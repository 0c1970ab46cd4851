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

    `bound_ms`: the last bound of the histogram. A percentile that reaches it may be longer.
    """

    mean: float | None = None
    p50: float | None = None
    p99: float | None = None
    bound_ms: float | None = None


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


def figures(now: Reading, before: Reading | None) -> Figures:
    """Of the time between the readings; without `before`, since the broker's start."""
    if before is not None and (before.at_ms >= now.at_ms or _is_restarted(before, now)):
        before = None
    from_ms = now.started_at_ms if before is None else before.at_ms
    seconds = (now.at_ms - from_ms) / 1000 if from_ms is not None else 0.0
    rows = [
        _row(api, counters, before.apis.get(api) if before else None, seconds)
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


def _row(api: str, now: ApiCounters, before: ApiCounters | None, seconds: float) -> ApiRow:
    """`before`: None = since the API's first request."""
    then = before or ApiCounters()

    def added(counted: float | None, counted_before: float | None) -> float | None:
        if before is None or counted is None:
            return counted
        # Since when it counts what it did not have before is unknown.
        return None if counted_before is None else max(counted - counted_before, 0.0)

    def rate(counted: float | None, counted_before: float | None) -> float | None:
        difference = added(counted, counted_before)
        return None if difference is None or seconds <= 0 else difference / seconds

    def latency(part: str) -> Latency:
        values, values_before = now.times_ms[part], then.times_ms[part]
        count = added(values.count, values_before.count)
        return _latency(values, values_before, count, added(values.total, values_before.total))

    return ApiRow(
        api,
        rate(now.count, then.count),
        rate(now.errors, then.errors),
        rate(now.size_bytes.total, then.size_bytes.total),
        {part: latency(part) for part in PARTS},
    )


def _latency(
    now: Distribution, before: Distribution, count: float | None, total: float | None
) -> Latency:
    """`count` and `total`: of the values that were added."""
    if count == 0:
        return Latency()
    mean = total / count if total is not None and count else None
    if not now.buckets:
        return Latency(mean, now.quantiles.get(0.5), now.quantiles.get(0.99))
    buckets = [
        (bound, max(counted - before.buckets.get(bound, 0.0), 0.0))
        for bound, counted in sorted(now.buckets.items())
    ]
    last = max((bound for bound, _counted in buckets if math.isfinite(bound)), default=None)
    return Latency(mean, _quantile(buckets, 0.5), _quantile(buckets, 0.99), last)


def _quantile(buckets: Sequence[tuple[float, float]], share: float) -> float | None:
    """As Prometheus' histogram_quantile: values are taken as evenly spread within a bucket."""
    wanted = buckets[-1][1] * share
    lower, below = 0.0, 0.0
    for bound, counted in buckets:
        if counted >= wanted > 0:
            if math.isinf(bound):
                return lower or None
            return lower + (bound - lower) * (wanted - below) / (counted - below)
        lower, below = bound, counted
    return None
