"""Whether a connection is accepted: at once, later, or not at all. Pure: the time is passed.

As Kafka's ConnectionQuotas: one above `max.connections.per.ip` is closed; above `max.connections`,
or faster than `max.connection.creation.rate`, connections wait in the system's queue. Each listener
has these two for itself, too. The limits of all listeners together do not apply to the protected
one, that of brokers.
"""

import socket
from collections import Counter
from collections.abc import Mapping

from brokerd.config.listeners import ConnectionLimits
from brokerd.config.value_parsers import words

RATE_BURST_S = 1.0
"""So many seconds' worth of connections may come at once."""


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
