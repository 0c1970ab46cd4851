"""One iteration of the event loop: the appends and sends shared by all connections that are ready.

Small Produces of several clients are appended together: one write for each partition. The replies
to several clients are sent together at the end: a reply wakes its client, which takes the processor
from the broker or has to wake an idle core, once per reply; so only the first one does. A client
that is alone in its tick is served and answered at once.
"""

import asyncio
import logging
from collections.abc import Callable

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.connection import Connection
from brokerd.server.requests.request_times import RequestTimes

logger = logging.getLogger(__name__)


class LoopTick:
    """The connections served in this tick that wait for its end. `append` answers Produces."""

    __slots__ = (
        "_answered", "_append", "_connections", "_loop", "_since", "_times",
        "connections_for_next_tick",
    )  # fmt: skip

    def __init__(self, loop: LoopTimes, times: RequestTimes, append: Callable[[], None]) -> None:
        self._loop = loop
        self._times = times
        self._append = append
        self._connections: list[Connection] = []
        self._answered = 0  # the first so many only wait for their replies to be sent
        self._since: tuple[Connection, float] | None = None
        self.connections_for_next_tick = 0  # how many have requests left for it

    def begin(self) -> None:
        """A connection that is ready in this tick is served now."""
        self._loop.waking -= 1

    @property
    def has_more_connections(self) -> bool:
        """Whether more ready connections are to be served after this one. An estimate: `waking`
        counts every ready file, and only connections that are served are taken off."""
        return self._loop.waking > 0

    @property
    def connections_to_serve(self) -> int:
        """How many connections have something to be served, the current one included."""
        return max(self._loop.waking, 0) + self.connections_for_next_tick + 1

    def defer_until_append(self, connection: Connection, start_s: float) -> None:
        """A receive that began at `start_s` brought Produces that wait for the end of the tick."""
        if self._since is None:
            self._since = connection, start_s
        self._add(connection)

    def append_tick(self) -> None:
        """Appends the Produces that wait, and puts their replies into the output queues."""
        since, self._since = self._since, None
        self._append()
        self._answered = len(self._connections)
        if since is not None:
            self._times.receive_ends(*since)

    def send(self, connection: Connection) -> None:
        """Sends a connection's replies: now or, if others are to be served, after the tick."""
        if self.has_more_connections:
            self._add(connection)
            # A connection with Produces that wait comes through `defer_until_append`, never here.
            self._answered = len(self._connections)
            return
        if self._connections:
            self._end()
        connection.flush()

    def fail(self) -> None:
        """Closes the connections whose Produces are not appended; the others keep their replies."""
        self._since = None
        waiting = self._connections[self._answered :]
        del self._connections[self._answered :]
        for connection in waiting:
            connection.close("an unexpected error in the broker")

    def _add(self, connection: Connection) -> None:
        # What else is ready may not be a connection: so the end of the tick is scheduled here.
        if not self._connections:
            asyncio.get_running_loop().call_soon(self._end)
        self._connections.append(connection)

    def _end(self) -> None:
        if self._since is not None:
            try:
                self.append_tick()
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
