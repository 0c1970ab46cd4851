"""Ties the ZooKeeper session to the event loop.

kazoo pings from a thread of its own, so a broker whose loop stands still would keep its
registration, and its partitions, while it serves nobody. A thread watches the loop; when it stood
still for half the session timeout the thread gives the session up. The loop, when it moves again,
joins anew.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

BEATS_PER_LIMIT = 8


class Watchdog:
    """`limit_s` is called each time, since each connection is granted its own timeout; `give_up` is
    called by the watching thread, once for each standstill."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limit_s: Callable[[], float],
        give_up: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._limit_s = limit_s
        self._give_up = give_up
        self._beaten_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        """The loop is watched no longer. Does not wait: a `give_up` may be under way."""
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self) -> None:
        self._beaten_s = time.monotonic()
        self._timer = self._loop.call_later(self._limit_s() / BEATS_PER_LIMIT, self._beat)

    def _watch(self) -> None:
        given_up_for_s = 0.0
        while not self._stopped.wait(self._limit_s() / BEATS_PER_LIMIT):
            beaten_s = self._beaten_s
            still_s = time.monotonic() - beaten_s
            if still_s > self._limit_s() and beaten_s != given_up_for_s:
                given_up_for_s = beaten_s
                logger.error("the event loop stands still for %.1f s: leaving ZooKeeper", still_s)
                self._give_up()
