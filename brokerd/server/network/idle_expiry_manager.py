"""Closes connections that are idle (Kafka's IdleExpiryManager), that do not read their replies, or
that stall a request.
"""

import asyncio
from collections.abc import Callable, Collection
from time import monotonic

from brokerd.server.network.connection import Connection

INTERVAL_S_MIN, INTERVAL_S_MAX = 0.1, 2.0
CONNECTIONS_PER_CALL = 1000
REPLIES_BYTES_MAX = 1 << 28
"""What replies and kept requests of all connections may hold before slow readers are closed."""
STALLED_S = 5.0
"""How long a half-sent frame may hardly grow (GROWTH_BYTES) while others wait for the memory that
it holds."""


class IdleExpiryManager:
    """Checks `connections`, from `start` to `stop`. `max_idle_ms` is connections.max.idle.ms, below
    0 no limit; `is_memory_awaited` says whether connections wait for the memory of requests."""

    def __init__(
        self,
        connections: Collection[Connection],
        max_idle_ms: int,
        is_memory_awaited: Callable[[], bool],
    ) -> None:
        self.max_idle_ms = max_idle_ms
        self._connections = connections
        self._is_memory_awaited = is_memory_awaited
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._stalled_timer: asyncio.TimerHandle | None = None
        self._held_bytes = 0

    def start(self) -> None:
        interval_s = INTERVAL_S_MAX
        if self.max_idle_ms >= 0:
            interval_s = min(interval_s, max(self.max_idle_ms / 4000, INTERVAL_S_MIN))
        self._timer = self._loop.call_later(interval_s, self._check)

    def stop(self) -> None:
        for timer in (self._timer, self._stalled_timer):
            if timer is not None:
                timer.cancel()

    def memory_awaited(self) -> None:
        """A connection waits for memory: checks connections that hold it, until none waits."""
        if self._stalled_timer is None:
            self._stalled_timer = self._loop.call_later(STALLED_S / 2, self._end_stalled)

    def _end_stalled(self) -> None:
        """Closes connections whose large frames hold memory and hardly grow: else a few clients
        that send the start of a frame, and then almost nothing, would delay all others."""
        self._stalled_timer = None
        if not self._is_memory_awaited():
            return
        oldest = monotonic() - STALLED_S
        for connection in list(self._connections):
            if connection.stands_still_since(oldest):
                connection.close("its half-sent frame stood still while others waited for memory")
        if self._is_memory_awaited():
            self.memory_awaited()

    def _check(self) -> None:
        """Closes idle connections and those that hold too many replies, a slice at a time."""
        self._held_bytes = 0
        self._check_slice(list(self._connections))
        self.start()

    def _check_slice(self, left: list[Connection]) -> None:
        now = monotonic()
        oldest = now - self.max_idle_ms / 1000 if self.max_idle_ms >= 0 else 0.0
        for connection in left[-CONNECTIONS_PER_CALL:]:
            if connection.is_idle_since(oldest):
                connection.close("idle for longer than connections.max.idle.ms")
            else:
                self._held_bytes += connection.held_bytes
        del left[-CONNECTIONS_PER_CALL:]
        if left:
            self._loop.call_soon(self._check_slice, left)
        elif self._held_bytes > REPLIES_BYTES_MAX:
            self._end_slow_readers(now - STALLED_S)

    def _end_slow_readers(self, moment: float) -> None:
        """When replies and kept requests take too much memory: closes connections that have waited
        for a while, the largest first and those that still read last."""
        slow = [each for each in self._connections if each.is_blocked_since(moment)]
        slow.sort(key=lambda each: (each.active_at < moment, each.held_bytes), reverse=True)
        for connection in slow:
            if self._held_bytes <= REPLIES_BYTES_MAX:
                return
            self._held_bytes -= connection.held_bytes
            connection.close(
                "memory is short, and much stands in it that this client does not read, or has sent"
                " behind a request that waits"
            )
