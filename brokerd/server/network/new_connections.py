"""Connections that have sent no whole request yet. Where there is no place for another connection
one of them ends for it, so that nobody keeps others out by opening connections and being silent.

It is the one that came first: a byte now and then does not keep it. Each has FIRST_REQUEST_S to
begin with, since what it sent may not be read yet, and once more where the broker itself reads
nothing of it when they are over. Pure: time comes in.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brokerd.server.network.connection import Connection

FIRST_REQUEST_S = 5.0
"""So long a connection may take for its first request, whoever waits for its place."""


class NewConnections:
    """Those of one broker, by listener, in the order in which they came. Who has asked meanwhile is
    forgotten when it is looked for. Without a `listener` all are meant."""

    def __init__(self) -> None:
        self._came_at_s: dict[str, OrderedDict[Connection, float]] = {}

    def add(self, connection: Connection, now_s: float) -> None:
        """It has come in."""
        self._came_at_s.setdefault(connection.listener, OrderedDict())[connection] = now_s

    def discard(self, connection: Connection) -> None:
        """It has ended."""
        if (came_at_s := self._came_at_s.get(connection.listener)) is not None:
            came_at_s.pop(connection, None)

    def wait_s(self, now_s: float, listener: str | None = None) -> float | None:
        """How long until one may end for another; None where there is none."""
        first = self._first(now_s, listener)
        return None if first is None else max(first[1] + FIRST_REQUEST_S - now_s, 0.0)

    def to_end(self, now_s: float, listener: str | None = None) -> Connection | None:
        """The one that is to end for another."""
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
