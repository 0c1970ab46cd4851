"""How long requests took (Kafka's RequestMetrics): noted once for a receive, and for each request
that had to wait.

A receive is served whole before anything is sent, and its replies leave in one send: so its
requests share one set of times, and noting them costs the same for one request as for a hundred.
Where receives bring few requests, and fast ones, only some of them are timed.
A request that waits (a long poll, acks=all, a coroutine) leaves the receive and is noted when it
is answered.

A request that took longer than `brokerd.slow.request.ms` is logged, at most one every
LOG_INTERVAL_S; the time for which a request asked to wait does not count.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from brokerd.metric_counters import FETCH, PRODUCE, UNKNOWN_API, ApiTimes, BrokerMetrics
from brokerd.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from brokerd.server.network.connection import Connection
    from brokerd.server.network.sender import Sender

logger = logging.getLogger(__name__)

LOG_INTERVAL_S = 10.0
TIMED_OF = 16
"""One request of so many is timed, and stands for them: timing each costs a twentieth of what a
small request costs. A receive that brings as many is always timed."""
ALWAYS_TIMED_S = 0.005
"""What took longer since the loop woke is timed, and stands for itself alone."""
LONG_POLLING = frozenset({FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
"""They wait as long as the client, or the other members, have them wait."""


class Since(NamedTuple):
    """The times of a waiting request: its API, when it became readable, was received and was
    delayed."""

    key: int
    woke_s: float
    start_s: float
    left_s: float


class RequestTimes:
    """The requests of the current receive, and the metrics to which their times are added."""

    __slots__ = (
        "_loop", "_next_log_s", "_not_logged", "_slow_s", "_waiting_keys", "metrics", "other_bytes",
        "others", "produce", "produces",
    )  # fmt: skip

    def __init__(self, metrics: BrokerMetrics, slow_s: float) -> None:
        self.metrics = metrics
        self._loop = metrics.loop
        self._slow_s = slow_s
        self._next_log_s = 0.0
        self._not_logged = 0
        self.produce = metrics.api(PRODUCE)
        self.produces = self.other_bytes = 0
        self.others: list[int] = []
        self._waiting_keys: list[int] = []

    def discard(self) -> None:
        """Drops the current receive, which failed."""
        self.produces = self.other_bytes = 0
        self.others.clear()
        self._waiting_keys.clear()

    def receive_ends(self, connection: Connection, start_s: float) -> None:
        """A receive that began at `start_s` is served and its replies are handed to the socket.

        On the hot path, once for each receive.
        """
        count = self.produces
        others = self.others
        if self._waiting_keys:
            self._share_bytes()
        if others:
            key, count = others[0], len(others)
            if self.produces or (count > 1 and others.count(key) != count):
                self._mixed_receive_ends(connection, start_s)
                return
            times = self.metrics.api(key)
            times.request_bytes += self.other_bytes
            self.other_bytes = 0
            others.clear()
        elif count:
            times = self.produce
            self.produces = 0
        else:
            return  # no request was whole yet, or all of them wait
        times.requests += count
        now_s = monotonic()
        if now_s - self._loop.woke_s < ALWAYS_TIMED_S:
            untimed = times.untimed + count
            if untimed < TIMED_OF:
                times.untimed = untimed
                return
            times.untimed = 0
            count = untimed
        self._time(connection, {times: count}, start_s, now_s)

    def _time(
        self, connection: Connection, timed: Mapping[ApiTimes, int], start_s: float, now_s: float
    ) -> None:
        """Adds the times of the receive that ends now, for so many requests."""
        # What waited for the end of an iteration ends after the loop has woken once more.
        queue_s = max(start_s - self._woke_s(start_s), 0.0)
        local_s = now_s - start_s
        for times, count in timed.items():
            times.add(count, queue_s, local_s)
        if local_s > self._slow_s:
            self._log_slow(connection, local_s, 0.0)

    def _share_bytes(self) -> None:
        """Requests of the receive wait: they get a mean share of its bytes."""
        mean = self.other_bytes // (len(self.others) + len(self._waiting_keys))
        for key in self._waiting_keys:
            self.metrics.api(key).request_bytes += mean
            self.other_bytes -= mean
        self._waiting_keys.clear()

    def _mixed_receive_ends(self, connection: Connection, start_s: float) -> None:
        timed = Counter({self.produce: self.produces})
        self.other_bytes //= len(self.others)
        for key, count in Counter(self.others).items():
            times = self.metrics.api(key)
            times.request_bytes += self.other_bytes * count
            timed[times] += count  # a refused Produce is among them, too
        for times, count in timed.items():
            times.requests += count
        self.discard()
        self._time(connection, timed, start_s, monotonic())

    def _woke_s(self, start_s: float) -> float:
        woke_s = self._loop.woke_s
        return woke_s if woke_s >= 0 else start_s

    def begin_wait(self, connection: Connection, key: int) -> Since:
        """A request of the current receive has to wait."""
        if key == PRODUCE:
            self.produces -= 1
        else:
            self.others.remove(key)
            self._waiting_keys.append(key)
        start_s = connection.active_at
        return Since(key, self._woke_s(start_s), start_s, monotonic())

    def answered(self, connection: Connection, since: Since) -> None:
        key, woke_s, start_s, left_s = since
        remote_s = monotonic() - left_s
        queue_s = max(start_s - woke_s, 0.0)
        times = self.metrics.api(key)
        times.requests += 1
        times.add(1, queue_s, left_s - start_s, remote_s)
        if remote_s > self._slow_s and key not in LONG_POLLING:
            self._log_slow(connection, left_s - start_s, remote_s, key)

    def sent_late(self, connection: Sender, seconds: float) -> None:
        """The peer has taken the rest of a reply, `seconds` after it took no more at once."""
        header = connection.last_header
        times = self.metrics.api(PRODUCE if header is None else header.api_key)
        times.sent_late(seconds)

    def _log_slow(
        self, connection: Connection, local_s: float, remote_s: float, key: int | None = None
    ) -> None:
        now_s = monotonic()
        if now_s < self._next_log_s:
            self._not_logged += 1
            return
        self._next_log_s = now_s + LOG_INTERVAL_S
        header = connection.last_header
        if key is None:
            key = PRODUCE if header is None else header.api_key
        logger.warning(
            "a slow request: %s of client %r at %s took %.0f ms (%.0f to serve, %.0f waiting); "
            "brokerd.slow.request.ms is %.0f%s",
            api_name(key), header.client_id if header else None, connection.peer_host,
            (local_s + remote_s) * 1000, local_s * 1000, remote_s * 1000, self._slow_s * 1000,
            f"; {self._not_logged} more since the last such line" if self._not_logged else "",
        )  # fmt: skip
        self._not_logged = 0


def api_name(key: int) -> str:
    """As Kafka's metrics name APIs: Produce, ListOffsets …; each key has a name of its own."""
    try:
        return "".join(word.capitalize() for word in ApiKey(key).name.split("_"))
    except ValueError:
        return "Unknown" if key == UNKNOWN_API else f"Unknown{key}"
