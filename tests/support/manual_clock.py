"""A `brokerd.clock.Clock` for tests."""


class ManualClock:
    """A clock that stands still until a test moves it."""

    __slots__ = ("_now_ms",)

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, by_ms: int) -> None:
        self._now_ms += by_ms
