"""The event loop's selector: epoll, with a note of when it woke and how long it slept.

It measures how busy the loop is, and how long what is ready has waited for its turn.
"""

import math
import select
import selectors
from time import monotonic

from brokerd.metric_counters import LoopTimes

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_NOT_READ, _NOT_WRITE = ~select.EPOLLIN, ~select.EPOLLOUT


class TimedSelector(selectors.EpollSelector):
    """EpollSelector with a `select` of its own, which also makes fewer calls for each event."""

    def __init__(self, times: LoopTimes) -> None:
        super().__init__()
        self._epoll: select.epoll = self._selector  # type: ignore[attr-defined]
        self._keys: dict[int, selectors.SelectorKey] = self._fd_to_key  # type: ignore[attr-defined]
        self._times = times
        times.woke_s = monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready, waiting up to `timeout` seconds: None for ever, 0 or less not at all."""
        if timeout is None:
            timeout = -1
        elif timeout <= 0:
            timeout = 0
        else:
            timeout = math.ceil(timeout * 1e3) * 1e-3  # epoll counts in ms: rather late than early
        times = self._times
        before_s = monotonic()
        try:
            events = self._epoll.poll(timeout, len(self._keys) or 1)
        except InterruptedError:
            events = []
        times.woke_s = after_s = monotonic()
        times.idle_s += after_s - before_s
        times.waking = len(events)
        keys = self._keys
        ready: list[tuple[selectors.SelectorKey, int]] = []
        for fd, event in events:
            key = keys.get(fd)
            if key is not None:
                mask = (_WRITE if event & _NOT_READ else 0) | (_READ if event & _NOT_WRITE else 0)
                ready.append((key, mask & key.events))
        return ready
