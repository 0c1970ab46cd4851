"""The rates of the demo: of the sender, and of the groups that are slow or stop and start. Pure."""

RATE_MIN = 10
RATE_MAX = 2_000  # of real records; the rest is sent as load (`load.sequence`)

CPU_SHARE_DIVISOR = 5  # CPU samples are at most 1/5 of the records
_BURST_MS_MAX = 1_000  # a sender that was stalled catches up no more than this

SLOW_PHASE_MS = 120_000
CATCH_UP_PHASE_MS = 60_000
SLOW_SHARE = 0.4
CATCH_UP_SHARE = 4.0

ON_PHASE_MS = 90_000
OFF_PHASE_MS = 60_000


class RateLimiter:
    """Computes how many records to send now, so that the average is `rate` per second."""

    def __init__(self, rate: float, now_ms: int) -> None:
        self.rate = rate
        self._last_ms = now_ms
        self._due = 0.0

    def due(self, now_ms: int) -> int:
        """The number of records to send now; after a pause, at most one second's worth."""
        elapsed_ms = min(max(now_ms - self._last_ms, 0), _BURST_MS_MAX)
        self._last_ms = now_ms
        self._due += self.rate * elapsed_ms / 1000
        count = int(self._due)
        self._due -= count
        return count


def split_rate(rate: int, is_only_sender: bool) -> tuple[int, int]:
    """(real records a second, load records a second) for a sender with the total `rate`.

    Only one sender sends real records; any other sends only load.
    """
    real = min(rate, RATE_MAX) if is_only_sender else 0
    return real, rate - real


def cpu_every_s(rate: int, cpus: int) -> float:
    """Seconds between CPU samples: 1, or more if they would exceed a fifth of the rate."""
    return max(1.0, CPU_SHARE_DIVISOR * cpus / rate)


def slow_rate(rate: float, elapsed_ms: int) -> float:
    """Records a second for the slow group: below `rate` for two minutes, then above for one."""
    at_ms = elapsed_ms % (SLOW_PHASE_MS + CATCH_UP_PHASE_MS)
    return rate * (SLOW_SHARE if at_ms < SLOW_PHASE_MS else CATCH_UP_SHARE)


def is_active(elapsed_ms: int) -> bool:
    """Whether the group that stops and starts runs now."""
    return elapsed_ms % (ON_PHASE_MS + OFF_PHASE_MS) < ON_PHASE_MS
