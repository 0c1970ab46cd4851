"""A Fetch that waits: a listener of its partitions, or of its session (Kafka's DelayedFetch).

`FetchAttempt.end` (`read_from_log`) decides when it is complete: for an error, or with min_bytes. A
move of its partitions causes the next attempt; if min_bytes is above 1, only once `MinBytesTracker`
has counted as much. Its wait also ends when its time is over, or with its connection; then all
references are removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import READ_COMMITTED, FetchRequest
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session import Session
from brokerd.server.fetch.fetch_session_cache import FetchContext
from brokerd.server.fetch.read_from_log import ENOUGH, FILES_MAX, FetchAttempt, bytes_now
from brokerd.server.network.connection import Connection
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.purgatory import Purgatory, close_unanswered

PARTITIONS_MAX = 1_000_000
"""All delayed Fetches together wait on so many partitions at most (some 250 MB); for one more,
the Fetch that has waited longest is answered early."""

Check = Callable[[Collection[Partition]], bool]


def delay_fetch(
    purgatory: Purgatory,
    connection: Any,
    waits_on: Collection[Partition | Session],
    timeout_s: float,
    check: Check,
    resume: Callable[[], None],
) -> None:
    """Has a Fetch wait until `check` returns true or the time is over; then calls `resume`, which
    answers it or delays it anew. `check` gets the partitions that moved since its last call.
    `waits_on` has each partition once."""
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


class MinBytesTracker:
    """Counts the bytes of all partitions for a delayed Fetch with `min_bytes` above 1, those of the
    last attempt and those appended since: an append must not cost a read of its thousands of
    partitions."""

    __slots__ = (
        "_available_bytes",
        "_committed",
        "_fetch",
        "_least",
        "_led",
        "_total",
        "partitions",
    )

    def __init__(
        self, led: LedPartitions, request: FetchRequest, fetch: FetchContext, attempt: FetchAttempt
    ) -> None:
        self._led = led
        self._committed = request.isolation_level == READ_COMMITTED
        self._fetch = fetch
        self.partitions = attempt.partitions
        self._least = attempt.min_bytes
        self._available_bytes = attempt.available_bytes
        self._total = sum(attempt.available_bytes.values())

    def is_worth_an_attempt(self, moved: Collection[Partition]) -> bool:
        """Whether to make another attempt now that these partitions moved: there are enough bytes,
        or an error is to be answered, or there are so many files that they must be released."""
        there = self._available_bytes
        for partition in moved:
            wanted = self.partitions.get(partition) or self._fetch.wanted_of(partition)
            if wanted is None:
                return True
            now = bytes_now(self._led, partition, wanted, committed=self._committed)
            if now >= ENOUGH:
                return True
            self._total += now - there.pop(partition, 0)
            if now:
                there[partition] = now
        return self._total >= self._least or len(there) > FILES_MAX
