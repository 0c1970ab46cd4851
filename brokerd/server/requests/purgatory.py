"""Delayed operations: Fetch requests that wait for records (`fetch/delayed_fetch.py`), and Produce
requests whose acknowledgements (`ack_watchers`) are not all there (`produce/delayed_produce.py`).

The purgatory itself keeps no lists of watchers by key, and nothing is purged at intervals: a Fetch
is a listener of its partitions, a Produce is in the queues of its acknowledgements. An operation
that is complete, whose time is over or whose connection ends takes itself out of them at once
(`DelayedFetch.cancel`, `DelayedProduce.cancel`) and calls `leave`.

When a partition of an operation changes, `try_complete` is called once at the end of the current
iteration of the event loop, however many appends came before; if many operations wait for the same
partition, it is called for them in several iterations.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Collection
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from brokerd.event_loop_turns import TURN_S
from brokerd.replication.partition import Partition
from brokerd.server.requests.ack_watchers import AckWatchers
from brokerd.server.requests.request_times import RequestTimes

if TYPE_CHECKING:
    from brokerd.server.fetch.delayed_fetch import DelayedFetch
    from brokerd.server.network.connection import Connection

logger = logging.getLogger(__name__)


class Delayed(Protocol):
    """A request that waits."""

    @property
    def key(self) -> int:
        """Its API."""

    def try_complete(self, moved: Collection[Partition]) -> None:
        """Some of its partitions moved: answers the request if that is what it waited for."""

    def cancel(self) -> None:
        """Ends the wait without an answer."""


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
        self.acks = AckWatchers()
        self.counts: Counter[int] = Counter()
        self.expired = 0
        self._touched: OrderedDict[Delayed, set[Partition]] = OrderedDict()
        self._looks = False
        self.fetches: dict[Delayed, DelayedFetch] = {}  # an ordered set, the oldest first
        self.fetch_partitions = 0  # on which they wait, all together

    @property
    def count(self) -> int:
        return self.counts.total()

    def enter(self, connection: Connection, operation: Delayed) -> None:
        """Counts an operation as waiting; `check_later` then has its `try_complete` called."""
        connection.delayed_operations.add(operation)
        self.counts[operation.key] += 1

    def leave(self, connection: Connection, operation: Delayed, partitions: int = 0) -> None:
        """An operation waits no more."""
        connection.delayed_operations.discard(operation)
        self.counts[operation.key] -= 1
        self.fetch_partitions -= partitions
        self.fetches.pop(operation, None)

    def check_later(self, operation: Delayed, partition: Partition) -> None:
        """A partition of an operation moved: `try_complete` is called at the end of the loop's
        iteration."""
        if not self._looks:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._check_all)
        self._touched.setdefault(operation, set()).add(partition)

    def _check_all(self) -> None:
        touched = self._touched
        ends_s = monotonic() + TURN_S
        try:
            while touched:
                operation, moved = touched.popitem(last=False)
                operation.try_complete(moved)
                if touched and monotonic() > ends_s:
                    break
        finally:
            self._looks = bool(touched)
            if touched:
                asyncio.get_running_loop().call_soon(self._check_all)
