"""Requests that wait for a partition to move: long polls, and acks=all below the high watermark.

A parked request hangs on the listeners of its partitions. When one of them moves, the request is
looked at once at the end of the current turn of the loop, however many appends came before. It ends
by its check succeeding, by its time running out, or with its connection; then nothing of it is
left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brokerd.replication.partition import Partition
    from brokerd.server.connection import Connection

logger = logging.getLogger(__name__)


class Parked:
    """One waiting request. It is itself the listener that its partitions call."""

    __slots__ = ("_check", "_connection", "_expire", "_lot", "_partitions", "_timer", "done")

    def __init__(
        self,
        lot: ParkingLot,
        connection: Connection,
        partitions: list[Partition],
        check: Callable[[], bool],
        expire: Callable[[], None],
    ) -> None:
        self._lot = lot
        self._connection = connection
        self._partitions = partitions
        self._check = check
        self._expire = expire
        self._timer: asyncio.TimerHandle | None = None
        self.done = False

    def __call__(self, _partition: Partition) -> None:
        self._lot.touch(self)

    def start(self, timeout_s: float) -> None:
        for partition in self._partitions:
            partition.listeners.append(self)
        self._timer = asyncio.get_running_loop().call_later(timeout_s, self._time_out)

    def look(self) -> None:
        """Asks whether the wait is over; the check answers the client itself."""
        if self.done:
            return
        try:
            is_over = self._check()
        except Exception:
            self._fail()
            return
        if is_over:
            self.cancel()

    def _time_out(self) -> None:
        if self.done:
            return
        self.cancel()
        try:
            self._expire()
        except Exception:
            self._fail()

    def _fail(self) -> None:
        """Its reply will never come, nor any behind it; other requests must not share its fate."""
        logger.exception("a waiting request could not be answered")
        self._connection.close("an unexpected error in the broker")

    def cancel(self) -> None:
        """Ends the wait without an answer."""
        if self.done:
            return
        self.done = True
        for partition in self._partitions:
            partition.listeners.remove(self)
        if self._timer is not None:
            self._timer.cancel()
        self._connection.parked.discard(self)
        self._lot.count -= 1


class ParkingLot:
    """All parked requests of a broker."""

    def __init__(self) -> None:
        self.count = 0
        self._touched: dict[Parked, None] = {}

    def park(
        self,
        connection: Any,
        partitions: Iterable[Partition],
        timeout_s: float,
        check: Callable[[], bool],
        expire: Callable[[], None],
    ) -> None:
        """Waits until `check()` is true (it has answered) or, after the timeout, calls `expire`."""
        parked = Parked(self, connection, list(partitions), check, expire)
        connection.parked.add(parked)
        self.count += 1
        parked.start(timeout_s)

    def touch(self, parked: Parked) -> None:
        """One of its partitions moved."""
        if not self._touched:
            asyncio.get_running_loop().call_soon(self._look)
        self._touched[parked] = None

    def _look(self) -> None:
        touched, self._touched = self._touched, {}
        for parked in touched:
            parked.look()
