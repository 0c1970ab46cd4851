"""Connections that have not sent a whole request. One of them is closed when there is no room for a
new connection, so that silent connections cannot keep other clients out. Pure.

It is the oldest, even if it sends a byte now and then. Each first has FIRST_REQUEST_S, and the same
time again if the broker does not read from it then.
"""

from collections import OrderedDict

from brokerd.server.network.connection import Connection

FIRST_REQUEST_S = 5.0
"""So long a connection may take for its first request, whoever waits for its place."""


class ConnectionsWithoutRequest:
    """Those of one broker, by listener, in the order in which they came; those that have asked are
    dropped when they are met. Without a `listener`, methods are about all of them."""

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
