"""A Fetch that waits: a listener of its partitions, or of its session (Kafka's DelayedFetch).

Its wait ends when its check succeeds, when its time is over, or with its connection; then all
references are removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from brokerd.protocol.api_keys import ApiKey
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session import Session
from brokerd.server.network.connection import Connection
from brokerd.server.requests.purgatory import Purgatory, close_unanswered

PARTITIONS_MAX = 1_000_000
"""All delayed Fetches together wait on so many partitions at most (some 250 MB); for one more,
the Fetch that has waited longest is answered early."""

Check = Callable[[Collection[Partition]], bool]


def delay_fetch(
    purgatory: Purgatory,
    connection: Any,
    partitions: Iterable[Partition | Session],
    timeout_s: float,
    check: Check,
    resume: Callable[[], None],
) -> None:
    """Has a Fetch wait until `check` returns true or the time is over; then calls `resume`, which
    answers it or delays it anew. `check` gets the partitions that moved since its last call."""
    waits_on = partitions if isinstance(partitions, dict) else dict.fromkeys(partitions)
    operation = DelayedFetch(purgatory, connection, waits_on, check, resume)
    purgatory.enter(connection, operation)
    purgatory.fetch_partitions += len(waits_on)
    purgatory.fetches[operation] = operation
    operation.start(timeout_s)
    while purgatory.fetch_partitions > PARTITIONS_MAX and purgatory.fetches:
        next(iter(purgatory.fetches.values())).end()


@dataclass(slots=True, eq=False)
class DelayedFetch:
    """See `delay_fetch`."""

    key = ApiKey.FETCH

    _purgatory: Purgatory
    _connection: Connection
    _partitions: Collection[Partition | Session]
    _check: Check
    _resume: Callable[[], None]
    _timer: asyncio.TimerHandle | None = None
    done: bool = False

    def __call__(self, partition: Partition) -> None:
        self._purgatory.check_later(self, partition)

    def start(self, timeout_s: float) -> None:
        """Begins to listen to its partitions, and starts the timeout."""
        for partition in self._partitions:
            partition.listeners[self] = None
        self._timer = asyncio.get_running_loop().call_later(timeout_s, self._time_out)

    def try_complete(self, moved: Collection[Partition]) -> None:
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
