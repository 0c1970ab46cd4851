"""What one turn of the event loop does for all clients that it finds ready, at its end.

Small Produces of several clients are appended together: one write for each partition, however many
clients sent to it. And the replies to several clients leave together: a reply wakes its client,
which on a machine with few cores takes the processor from the broker, or has an idle core woken,
each time anew. When all that was received is served first, the first reply wakes them and the
others find them awake. A client that is alone in its turn is served and answered at once.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from brokerd.metrics import LoopTimes
    from brokerd.server.net.connection import Connection
    from brokerd.server.request_times import RequestTimes

logger = logging.getLogger(__name__)


class Appends(Protocol):
    """What was taken in and is not appended yet (`handlers.produce.ProduceRound`)."""

    def commit(self) -> None:
        """Appends it and answers."""


class Turn:
    """The connections that were served in the turn under way and have something to wait for."""

    __slots__ = ("_answered", "_appends", "_connections", "_loop", "_since", "_times", "kept")

    def __init__(self, loop: LoopTimes, times: RequestTimes, appends: Appends) -> None:
        self._loop = loop
        self._times = times
        self._appends = appends
        self._connections: list[Connection] = []
        self._answered = 0  # so many of them, from the first, only wait to be sent to
        self._since: tuple[Connection, float] | None = None
        self.kept = 0  # so many connections have requests that are served in the next turn

    def begin(self) -> None:
        """One of the connections that are ready in this turn is served now."""
        self._loop.waking -= 1

    @property
    def has_others(self) -> bool:
        """Whether more connections are ready, that are served after this one."""
        return self._loop.waking > 0

    @property
    def waiting(self) -> int:
        """How many connections have something to be served, with the one that is being served."""
        return max(self._loop.waking, 0) + self.kept + 1

    def wait(self, connection: Connection, start_s: float) -> None:
        """A receive that began at `start_s` brought Produces that are appended with others'."""
        if self._since is None:
            self._since = connection, start_s
        self._add(connection)

    def commit(self) -> None:
        """Appends what waits, and answers into the connections' queues."""
        since, self._since = self._since, None
        self._appends.commit()
        self._answered = len(self._connections)
        if since is not None:
            self._times.receive_ends(*since)

    def send(self, connection: Connection) -> None:
        """Sends what a connection has, now or, if others are still to be served, after them."""
        if self.has_others:
            self._add(connection)
            self._answered = len(self._connections)  # nothing waits, else it came by `wait`
            return
        if self._connections:
            self._end()
        connection.flush()

    def fail(self) -> None:
        """What waits will not be appended, so its clients are told by closing; the others keep
        their replies."""
        self._since = None
        waiting = self._connections[self._answered :]
        del self._connections[self._answered :]
        for connection in waiting:
            connection.close("an unexpected error in the broker")

    def _add(self, connection: Connection) -> None:
        if not self._connections:  # those others may turn out not to be connections
            asyncio.get_running_loop().call_soon(self._end)
        self._connections.append(connection)

    def _end(self) -> None:
        if self._since is not None:
            try:
                self.commit()
            except Exception:
                logger.exception("the Produces of several clients could not be appended")
                self.fail()
        waiting, self._connections, self._answered = self._connections, [], 0
        for connection in waiting:
            try:
                connection.flush()
            except Exception:
                logger.exception("%s could not be answered", connection.peer_host)
                connection.close("an unexpected error in the broker")
