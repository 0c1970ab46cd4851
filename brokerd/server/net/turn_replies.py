"""Replies to several clients that one turn of the event loop has served leave together at its end.

A reply wakes its client, which on a machine with few cores takes the processor from the broker, or
has an idle core woken, each time anew. When all that was received is served first, the first reply
wakes them and the others find them awake. A client that is alone in its turn is answered at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brokerd.metrics import LoopTimes
    from brokerd.server.net.connection import Connection


class TurnReplies:
    """The connections with replies to send, of the turn under way."""

    __slots__ = ("_connections", "_times")

    def __init__(self, times: LoopTimes) -> None:
        self._times = times
        self._connections: list[Connection] = []

    def begin(self) -> None:
        """One of the connections that are ready in this turn is served now."""
        self._times.waking -= 1

    def send(self, connection: Connection) -> None:
        """Sends what a connection has, now or, if others are still to be served, after them."""
        waiting = self._connections
        if self._times.waking > 0:
            if not waiting:  # those others may turn out not to be connections
                asyncio.get_running_loop().call_soon(self._send_all)
            waiting.append(connection)
            return
        if waiting:
            self._send_all()
        connection.flush()

    def _send_all(self) -> None:
        waiting, self._connections = self._connections, []
        for connection in waiting:
            connection.flush()
