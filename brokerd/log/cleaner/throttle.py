"""Limits reads and writes of the cleaner (log.cleaner.io.max.bytes.per.second)."""

import time
from collections.abc import Callable
from typing import Final

PAUSE_MIN_S: Final = 0.05


class Throttle:
    """Sleeps when the work is ahead of the limit, in pauses that are not too short."""

    __slots__ = ("_free_at_s", "_now_s", "_rate", "_sleep")

    def __init__(
        self,
        bytes_per_second: float,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate = bytes_per_second
        self._now_s = now_s
        self._sleep = sleep
        self._free_at_s = 0.0

    def took(self, size_bytes: int) -> None:
        now_s = self._now_s()
        self._free_at_s = max(self._free_at_s, now_s) + size_bytes / self._rate
        pause_s = self._free_at_s - now_s
        if pause_s >= PAUSE_MIN_S:
            self._sleep(pause_s)
