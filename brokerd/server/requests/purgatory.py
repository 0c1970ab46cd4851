"""Delayed operations: Fetch requests that wait for records, and Produce requests whose
acknowledgements (`ack_timers`) are not all there.

A delayed Fetch is a listener of its partitions, or of its session. When one of them changes, the
operation is checked once at the end of the current iteration of the event loop, however many
appends came before; if many operations wait for the same partition, they are checked in several
iterations. Its wait ends when its check succeeds, when its time is over, or with its connection;
then all references are removed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from brokerd.protocol.api_keys import ApiKey
from brokerd.replication.partition import Partition
from brokerd.server.requests.ack_timers import AckQueues
from brokerd.server.requests.request_times import RequestTimes
from brokerd.turns import TURN_S

if TYPE_CHECKING:
    from brokerd.server.fetch.fetch_session import Session
    from brokerd.server.network.connection import Connection

logger = logging.getLogger(__name__)

PARTITIONS_MAX = 1_000_000
"""All delayed Fetches together wait on so many partitions at most (some 250 MB); for one more,
the Fetch that has waited longest is answered early."""

Check = Callable[[Collection["Partition"]], bool]


class Delayed(Protocol):
    """A request that waits."""

    @property
    def key(self) -> int:
        """Its API."""

    def look(self, moved: Collection[Partition]) -> None:
        """Some of its partitions moved."""

    def cancel(self) -> None:
        """Ends the wait without an answer."""


@dataclass(slots=True, eq=False)
class DelayedFetch:
    """A Fetch that waits: a listener of its partitions, or of its session."""

    key = ApiKey.FETCH

    _purgatory: Purgatory
    _connection: Connection
    _partitions: Collection[Partition | Session]
    _check: Check
    _resume: Callable[[], None]
    _timer: asyncio.TimerHandle | None = None
    done: bool = False

    def __call__(self, partition: Partition) -> None:
        self._purgatory.touch(self, partition)

    def start(self, timeout_s: float) -> None:
        """Begins to listen to its partitions, and starts the timeout."""
        for partition in self._partitions:
            partition.listeners[self] = None
        self._timer = asyncio.get_running_loop().call_later(timeout_s, self._time_out)

    def look(self, moved: Collection[Partition]) -> None:
        """Ends the wait if the check says so."""
        if self.done:
            return
        try:
            is_over = self._check(moved)
        except Exception:
            close_unanswered(self._connection)
            return
        if is_over:
            self.end()

    def _time_out(self) -> None:
        if not self.done:
            self._purgatory.expired += 1
            self.end()

    def end(self) -> None:
        """Ends the wait: the Fetch goes on with what there is now."""
        self.cancel()
        self._resume()

    def cancel(self) -> None:
        if self.done:
            return
        self.done = True
        for partition in self._partitions:
            del partition.listeners[self]
        if self._timer is not None:
            self._timer.cancel()
        self._purgatory.leave(self._connection, self, len(self._partitions))


def close_unanswered(connection: Connection) -> None:
    """Closes the connection: this reply, and all behind it, cannot be sent. Other operations go
    on."""
    logger.exception("a waiting request could not be answered")
    connection.close("an unexpected error in the broker")


class Purgatory:
    """All delayed operations of a broker: the number of those that wait, by API, and of the Fetches
    that expired."""

    def __init__(self, times: RequestTimes) -> None:
        self.times = times
        self.acks = AckQueues()
        self.counts: Counter[int] = Counter()
        self.expired = 0
        self._touched: OrderedDict[Delayed, set[Partition]] = OrderedDict()
        self._looks = False
        self._fetches: dict[Delayed, DelayedFetch] = {}
        self._partitions = 0

    @property
    def count(self) -> int:
        return self.counts.total()

    def delay(
        self,
        connection: Any,
        partitions: Iterable[Partition | Session],
        timeout_s: float,
        check: Check,
        resume: Callable[[], None],
    ) -> None:
        """Has a Fetch wait until `check` returns true or the time is over; then calls `resume`,
        which answers it or delays it anew. `check` gets the partitions that moved since its last
        call."""
        waits_on = partitions if isinstance(partitions, dict) else dict.fromkeys(partitions)
        operation = DelayedFetch(self, connection, waits_on, check, resume)
        self.enter(connection, operation)
        self._partitions += len(waits_on)
        self._fetches[operation] = operation
        operation.start(timeout_s)
        while self._partitions > PARTITIONS_MAX and self._fetches:
            next(iter(self._fetches.values())).end()

    def enter(self, connection: Connection, operation: Delayed) -> None:
        """Counts an operation as waiting; `touch` then has its `look` called."""
        connection.delayed_operations.add(operation)
        self.counts[operation.key] += 1

    def leave(self, connection: Connection, operation: Delayed, partitions: int = 0) -> None:
        """An operation waits no more."""
        connection.delayed_operations.discard(operation)
        self.counts[operation.key] -= 1
        self._partitions -= partitions
        self._fetches.pop(operation, None)

    def touch(self, operation: Delayed, partition: Partition) -> None:
        """A partition of an operation moved."""
        if not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._look)
        self._touched.setdefault(operation, set()).add(partition)

    def _look(self) -> None:
        touched = self._touched
        ends_s = monotonic() + TURN_S
        try:
            while touched:
                operation, moved = touched.popitem(last=False)
                operation.look(moved)
                if touched and monotonic() > ends_s:
                    break
        finally:
            self._looks = bool(touched)
            if touched:
                asyncio.get_running_loop().call_soon(self._look)
