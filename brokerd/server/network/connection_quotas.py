"""Whether a connection is accepted: at once, later, or not at all; and which one is
closed for it. Pure: the time is passed.

As Kafka's ConnectionQuotas: one above `max.connections.per.ip` is closed; above `max.connections`,
or faster than `max.connection.creation.rate`, connections wait in the system's queue. Each listener
has these two for itself, too. The limits of all listeners together do not apply to the protected
one, that of brokers.
"""

import socket
from collections import Counter, OrderedDict
from collections.abc import Mapping

from brokerd.config.listeners import ConnectionLimits
from brokerd.config.value_parsers import words
from brokerd.server.network.connection import Connection

RATE_BURST_S = 1.0
"""So many seconds' worth of connections may come at once."""
FIRST_REQUEST_S = 5.0
"""So long a connection may take for its first request, whoever waits for its place."""


class _Pace:
    """A limit on the rate of connections; the first second's worth may come at once."""

    def __init__(self) -> None:
        self._rate = self._tokens = 0.0
        self._filled_at_s = 0.0

    def limit(self, rate: float) -> None:
        """`rate` is connections per second."""
        self._rate, self._tokens = rate, min(self._tokens, rate * RATE_BURST_S)

    def delay_s(self, now_s: float) -> float:
        """How long the rates delay the next connection."""
        gained = (now_s - self._filled_at_s) * self._rate
        self._tokens = min(self._tokens + gained, self._rate * RATE_BURST_S)
        self._filled_at_s = now_s
        return max(1.0 - self._tokens, 0.0) / self._rate

    def take(self) -> None:
        self._tokens -= 1.0


class ConnectionQuotas:
    """The connections of one broker, by address and listener. Limits may change at any time."""

    def __init__(self, descriptors: int) -> None:
        self._descriptors = descriptors
        self._per_host: Counter[str] = Counter()
        self._per_listener: Counter[str] = Counter()
        self._most = self._most_per_host = 0
        self._overrides: Mapping[str, int] = {}
        self._of_listeners: Mapping[str, ConnectionLimits] = {}
        self._pace = _Pace()
        self._paces: dict[str, _Pace] = {}
        self.open = 0

    def limit(
        self,
        of_all: ConnectionLimits,
        of_listeners: Mapping[str, ConnectionLimits],
        per_host: int,
        overrides: Mapping[str, int],
    ) -> None:
        """`of_listeners` has each listener by its name; `overrides` those of single addresses."""
        self._most = min(of_all.connections, self._descriptors)
        self._most_per_host, self._overrides = per_host, overrides
        self._of_listeners = of_listeners
        self._pace.limit(of_all.creation_rate)
        self._paces = {name: self._paces.get(name) or _Pace() for name in of_listeners}
        for name, pace in self._paces.items():
            pace.limit(of_listeners[name].creation_rate)

    @property
    def is_full(self) -> bool:
        return self.open >= self._most

    def open_on(self, listener: str) -> int:
        return self._per_listener[listener]

    def is_listener_full(self, listener: str) -> bool:
        return self._per_listener[listener] >= self._of_listeners[listener].connections

    def delay_s(self, now_s: float, listener: str, is_protected: bool) -> float:
        """How long the next connection has to wait for the rates to allow it."""
        of_listener = self._paces[listener].delay_s(now_s)
        return of_listener if is_protected else max(of_listener, self._pace.delay_s(now_s))

    def admit(self, host: str, listener: str, is_protected: bool) -> bool:
        """Counts a connection that was accepted, unless its address has too many."""
        self._paces[listener].take()
        if not is_protected:
            self._pace.take()
        if self._per_host[host] >= self._overrides.get(host, self._most_per_host):
            return False
        self._per_host[host] += 1
        self._per_listener[listener] += 1
        self.open += 1
        return True

    def leave(self, host: str, listener: str) -> None:
        self.open -= 1
        self._per_listener[listener] -= 1
        self._per_host[host] -= 1
        if self._per_host[host] <= 0:
            del self._per_host[host]


class ConnectionsWithoutRequest:
    """The connections of one broker that have not sent a whole request. One of them is closed when
    there is no room for a new connection, so that silent connections cannot keep other clients out:
    the oldest, even if it sends a byte now and then. Each first has FIRST_REQUEST_S, and the same
    time again if the broker does not read from it then.

    They are kept by listener, in the order in which they came; those that have asked are dropped
    when they are met. Without a `listener`, methods are about all of them."""

    def __init__(self) -> None:
        self._came_at_s: dict[str, OrderedDict[Connection, float]] = {}

    def add(self, connection: Connection, now_s: float) -> None:
        self._came_at_s.setdefault(connection.listener, OrderedDict())[connection] = now_s

    def discard(self, connection: Connection) -> None:
        if (came_at_s := self._came_at_s.get(connection.listener)) is not None:
            came_at_s.pop(connection, None)

    def wait_s(self, now_s: float, listener: str | None = None) -> float | None:
        """How long until one may be closed for another; None if there is none."""
        first = self._first(now_s, listener)
        return None if first is None else max(first[1] + FIRST_REQUEST_S - now_s, 0.0)

    def to_end(self, now_s: float, listener: str | None = None) -> Connection | None:
        """The connection to close for another one."""
        first = self._first(now_s, listener)
        return first[0] if first is not None and first[1] + FIRST_REQUEST_S <= now_s else None

    def _first(self, now_s: float, listener: str | None) -> tuple[Connection, float] | None:
        names = self._came_at_s if listener is None else [listener]
        firsts = [each for name in names if (each := self._first_on(name, now_s)) is not None]
        return min(firsts, key=lambda each: each[1], default=None)

    def _first_on(self, listener: str, now_s: float) -> tuple[Connection, float] | None:
        came_at_s = self._came_at_s.get(listener)
        while came_at_s:
            connection, at_s = next(iter(came_at_s.items()))
            if connection.has_asked:
                del came_at_s[connection]
            elif at_s + FIRST_REQUEST_S < now_s and not connection.awaits_client:
                came_at_s[connection] = now_s
                came_at_s.move_to_end(connection)
            else:
                return connection, at_s
        return None


def limits_by_address(text: str) -> dict[str, int]:
    """`max.connections.per.ip.overrides` with names looked up; ValueError for one not found."""
    found: dict[str, int] = {}
    for entry in words(text):
        host, _, limit = entry.rpartition(":")
        try:
            addresses = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
        except OSError as error:
            why = error.strerror or error
            raise ValueError(
                f"max.connections.per.ip.overrides: {host} is not found: {why}"
            ) from None
        found |= {str(each[4][0]): int(limit) for each in addresses}
    return found


def descriptors_for_connections(limit: int, files: int) -> int:
    """How many of the `limit` descriptors of the process connections may take: log files (`files`
    at most, half of all where these are few) and the rest of the broker keep theirs."""
    return max(limit - min(files, limit // 2) - _OTHERS, 1)


_OTHERS = 64
"""ZooKeeper, checkpoints, locks, the admin port's readers, and files opened for a moment."""
