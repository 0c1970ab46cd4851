"""Counters that cost an integer addition, and histograms with fixed bounds.

Plain attributes on purpose: the hot path adds to them without a call. They are turned into text
only when somebody asks (see server/admin_http). What is measured of requests is that of Kafka's
kafka.network.RequestMetrics, as far as a broker with one loop has it:

    queue   from when the loop learned that there is something to receive to when it was received
    local   from then until the reply was made and handed to the socket
    remote  waiting: for records, for replicas, for other members, for ZooKeeper
    send    waiting for a peer that did not take its reply at once

All requests of one receive are answered together, so they share these times.
"""

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Sequence

API_COUNT = 80
PRODUCE, FETCH, UNKNOWN_API = 0, 1, -1


class Histogram:
    """How many values fell below each bound; `counts` has one more entry, for values above all."""

    __slots__ = ("bounds", "count", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.count = 0
        self.total = 0.0

    def add(self, value: float, times: int = 1) -> None:
        """Takes one value in, which was seen so many times."""
        self.counts[bisect_left(self.bounds, value)] += times
        self.count += times
        self.total += value * times


LAG_BOUNDS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
FIRST_BOUND_S = 0.0001
TIME_BOUNDS_S = (
    FIRST_BOUND_S, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
    5.0, 10.0, 30.0,
)  # fmt: skip
IDLE_WINDOW = 30
PRODUCERS_S = 0.05
PARTS = ("queue", "local", "remote", "send", "total")


class ApiTimes:
    """The requests of one API: how many, how large, how long each part took.

    Most parts of most requests take no longer than FIRST_BOUND_S. `slow_…` have the counts of the
    others by bucket, `…_s` the sums of all: so a fast request costs no look at a histogram.
    `untimed` are requests for which the next one that is timed will stand, too.
    """

    __slots__ = (
        "local_s", "queue_s", "remote_s", "request_bytes", "requests", "send_s", "slow_local",
        "slow_queue", "slow_remote", "slow_send", "slow_total", "untimed",
    )  # fmt: skip

    def __init__(self) -> None:
        self.requests = self.request_bytes = self.untimed = 0
        self.queue_s = self.local_s = self.remote_s = self.send_s = 0.0
        self.slow_queue, self.slow_local, self.slow_remote, self.slow_send, self.slow_total = (
            [0] * (len(TIME_BOUNDS_S) + 1) for _ in PARTS
        )

    def add(self, times: int, queue_s: float, local_s: float, remote_s: float = 0.0) -> None:
        """Takes in the times that so many requests shared; the requests are counted by the
        caller."""
        self.queue_s += queue_s * times
        self.local_s += local_s * times
        self.remote_s += remote_s * times
        _add_slow(self.slow_queue, queue_s, times)
        _add_slow(self.slow_local, local_s, times)
        _add_slow(self.slow_remote, remote_s, times)
        _add_slow(self.slow_total, queue_s + local_s + remote_s, times)

    def sent_late(self, send_s: float) -> None:
        """A peer took the rest of its reply after `send_s`."""
        self.send_s += send_s
        _add_slow(self.slow_send, send_s, 1)

    def histogram(self, part: str) -> Histogram:
        """The histogram of one of PARTS, with all requests in it."""
        whole = Histogram(TIME_BOUNDS_S)
        whole.count = self.requests
        whole.counts = list(getattr(self, f"slow_{part}"))
        whole.counts[0] = max(self.requests - sum(whole.counts), 0)
        if part == "total":
            whole.total = self.queue_s + self.local_s + self.remote_s
        else:
            whole.total = getattr(self, f"{part}_s")
        return whole


def _add_slow(counts: list[int], value_s: float, times: int) -> None:
    if value_s > FIRST_BOUND_S:
        counts[bisect_left(TIME_BOUNDS_S, value_s)] += times


class LoopTimes:
    """What the selector of an event loop notes (see server/network/timed_selector.py), in seconds.

    `woke_s` is when it last returned, on the monotonic clock, -1 where no selector notes anything;
    `idle_s` what was spent waiting since then; `waking` is how many of those that it found ready
    then have not had their turn yet; `produced_s` is `woke_s` of the last iteration in which
    something was produced. `note` is called about once a second.
    """

    __slots__ = ("_noted", "idle_s", "produced_s", "waking", "woke_s")

    def __init__(self) -> None:
        self.idle_s = 0.0
        self.waking = 0
        self.woke_s = -1.0
        self.produced_s = -math.inf
        self._noted: deque[tuple[float, float]] = deque(maxlen=IDLE_WINDOW)

    def note(self, now_s: float) -> None:
        """Remember how things stand now, to report the last IDLE_WINDOW notes."""
        self._noted.append((now_s, self.idle_s))

    @property
    def has_producers(self) -> bool:
        """Whether something was produced of late, so that more is probably to come."""
        return self.woke_s - self.produced_s < PRODUCERS_S

    def idle_share(self) -> float:
        """The share of the time that the loop waited lately, 0 to 1; 1 before it is known."""
        if len(self._noted) < 2 or self.woke_s < 0:
            return 1.0
        (first_s, first_idle_s), (last_s, last_idle_s) = self._noted[0], self._noted[-1]
        if last_s <= first_s:
            return 1.0
        return min(max((last_idle_s - first_idle_s) / (last_s - first_s), 0.0), 1.0)


class BrokerMetrics:
    """What one broker has done since it started."""

    __slots__ = (
        "apis", "errors", "failed_fetches", "failed_produces", "flushes_s", "loop", "loop_lag_s",
        "received_bytes", "rejected_bytes", "requests",
    )  # fmt: skip

    def __init__(self, loop: LoopTimes | None = None) -> None:
        self.loop = loop or LoopTimes()
        self.requests = 0
        self.apis: dict[int, ApiTimes] = {PRODUCE: ApiTimes(), FETCH: ApiTimes()}
        self.errors: Counter[tuple[int, int]] = Counter()
        """By API and error code, where a request or one of its partitions was refused."""
        self.failed_produces = self.failed_fetches = 0
        self.received_bytes = self.rejected_bytes = 0
        self.flushes_s = Histogram(TIME_BOUNDS_S)
        self.loop_lag_s = Histogram(LAG_BOUNDS_S)

    def api(self, key: int) -> ApiTimes:
        """The figures of an API; `key` comes from a client."""
        key = key if 0 <= key < API_COUNT else UNKNOWN_API
        times = self.apis.get(key)
        if times is None:
            times = self.apis[key] = ApiTimes()
        return times
