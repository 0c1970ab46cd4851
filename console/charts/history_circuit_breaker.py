"""The circuit breaker before reads of the history: for a while after a slow failure, none is tried.
Pure: callers pass the time in seconds.

A read of a store that hangs fails after about ten seconds (monitoring/history/root_folder.py). Few
charts are made at the same time, so those behind it would wait for as long, one after the other.
"""

SLOW_S = 5.0
PAUSE_S = 10.0


class HistoryCircuitBreaker:
    """For PAUSE_S after a read that failed late, it is open: the store counts as hung."""

    def __init__(self) -> None:
        self._until_s = float("-inf")

    def is_open(self, now_s: float) -> bool:
        return now_s < self._until_s

    def add_failure(self, began_s: float, now_s: float) -> None:
        """A read that began at `began_s` has failed. One that failed soon says nothing of others:
        perhaps its file is damaged."""
        if now_s - began_s >= SLOW_S:
            self._until_s = now_s + PAUSE_S
