"""Time as a parameter: cores take `now_ms`, adapters own a Clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time in milliseconds since the epoch."""

    def now_ms(self) -> int: ...


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
