"""How fast: the pace of the sender and of the groups that are slow or absent on purpose. Pure."""

RATE_MIN = 10
RATE_MAX = 2_000  # of real records; more is load, and named so

CPU_PARTS = 5  # samples of the CPUs may be one part in so many
_BURST_MS_MAX = 1_000  # what a stalled sender may catch up

SLOW_PHASE_MS = 120_000
CATCH_UP_PHASE_MS = 60_000
SLOW_SHARE = 0.4
CATCH_UP_SHARE = 4.0

ON_PHASE_MS = 90_000
OFF_PHASE_MS = 60_000


class Pacer:
    """Says how many records are due, so that `rate` a second go out on average."""

    def __init__(self, rate: float, now_ms: int) -> None:
        self.rate = rate
        self._last_ms = now_ms
        self._owed = 0.0

    def due(self, now_ms: int) -> int:
        """Records to send now; after a pause, those of one second at most."""
        elapsed_ms = min(max(now_ms - self._last_ms, 0), _BURST_MS_MAX)
        self._last_ms = now_ms
        self._owed += self.rate * elapsed_ms / 1000
        count = int(self._owed)
        self._owed -= count
        return count


def split_rate(rate: int, is_alone: bool) -> tuple[int, int]:
    """(real records a second, load records a second) of one sender that is to send `rate`.

    Only one sender sends the real ones; beside it everything is load.
    """
    real = min(rate, RATE_MAX) if is_alone else 0
    return real, rate - real


def cpu_every_s(rate: int, cpus: int) -> float:
    """How often to look at the CPUs: once a second, unless that were over a fifth of the rate."""
    return max(1.0, CPU_PARTS * cpus / rate)


def slow_rate(rate: float, elapsed_ms: int) -> float:
    """What the slow group may read a second: too little for two minutes, then enough for one."""
    at_ms = elapsed_ms % (SLOW_PHASE_MS + CATCH_UP_PHASE_MS)
    return rate * (SLOW_SHARE if at_ms < SLOW_PHASE_MS else CATCH_UP_SHARE)


def is_on(elapsed_ms: int) -> bool:
    """Whether the group that comes and goes is there now."""
    return elapsed_ms % (ON_PHASE_MS + OFF_PHASE_MS) < ON_PHASE_MS
