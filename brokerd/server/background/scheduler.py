"""Calls periodic tasks: retention, checkpoints, deletion, flushes, metrics of the loop.

Each call is a callback of its own on the event loop. A task knows when it is due, does a bounded
slice of its work, and returns whether there is more. A timer measures how late the loop is.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from brokerd.clock import Clock
from brokerd.metric_counters import Histogram

logger = logging.getLogger(__name__)

SECOND_MS = 1_000
INTERVAL_S = SECOND_MS / 1000
PAUSE_S = 0.02
"""Between two slices of one task, and at least between two calls: a few milliseconds' work is then
a fifth of the loop's time."""
LAG_INTERVAL_S = 0.1

Task = Callable[[int], bool | None]
"""Called with the time; true when the rest of its work is due now."""


class Scheduler:
    """Calls each task about once a second, spread over the second; sooner if it has more to do or
    its interval (ms) is shorter."""

    def __init__(
        self, clock: Clock, tasks: Sequence[tuple[Task, int]], loop_lag_s: Histogram
    ) -> None:
        self._clock = clock
        self._tasks = tasks
        self._lag = loop_lag_s
        self._loop = asyncio.get_running_loop()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._lag_timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        for number in range(len(self._tasks)):
            self._arm(number, INTERVAL_S * (number + 1) / len(self._tasks))
        self._arm_lag()

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        if self._lag_timer is not None:
            self._lag_timer.cancel()

    def _arm(self, number: int, delay_s: float) -> None:
        self._timers[number] = self._loop.call_later(delay_s, self._run, number)

    def _run(self, number: int) -> None:
        task, interval_ms = self._tasks[number]
        more: bool | None = False
        try:
            more = task(self._clock.now_ms())
        except Exception:
            logger.exception("a periodic task failed; it is called again in a second")
            interval_ms = SECOND_MS
        self._arm(number, PAUSE_S if more else max(PAUSE_S, min(INTERVAL_S, interval_ms / 1000)))

    def _arm_lag(self) -> None:
        due = self._loop.time() + LAG_INTERVAL_S
        self._lag_timer = self._loop.call_at(due, self._measure, due)

    def _measure(self, due: float) -> None:
        self._lag.add(max(self._loop.time() - due, 0.0))
        self._arm_lag()
