"""Time as a parameter: cores take `now_ms`, adapters own a Clock, tests move a ManualClock."""

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


class ManualClock:
    """A clock that stands still until a test moves it."""

    __slots__ = ("_now_ms",)

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, by_ms: int) -> None:
        self._now_ms += by_ms
