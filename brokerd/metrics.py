"""Counters that cost an integer addition, and a histogram with fixed bounds.

Plain attributes on purpose: the hot path adds to them without a call. They are turned into text
only when somebody asks (see server/admin).
"""

from bisect import bisect_left
from collections.abc import Sequence

API_COUNT = 80


class Histogram:
    """How many values fell below each bound; `counts` has one more entry, for values above all."""

    __slots__ = ("bounds", "count", "counts", "maximum", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.count = 0
        self.total = 0.0
        self.maximum = 0.0

    def add(self, value: float) -> None:
        """Takes one value in."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.count += 1
        self.total += value
        if value > self.maximum:
            self.maximum = value


LAG_BOUNDS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class BrokerMetrics:
    """What one broker has done since it started."""

    __slots__ = ("loop_lag_s", "received_bytes", "request_errors", "requests", "requests_by_api")

    def __init__(self) -> None:
        self.requests = 0
        self.requests_by_api = [0] * API_COUNT
        self.request_errors = 0
        self.received_bytes = 0
        self.loop_lag_s = Histogram(LAG_BOUNDS_S)
