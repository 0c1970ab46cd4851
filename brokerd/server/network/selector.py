"""The event loop's selector: epoll, with a note of when it woke and how long it slept.

It measures how busy the loop is, and how long what is ready has waited for its turn.
"""

import math
import select
import selectors
from collections.abc import Mapping
from time import monotonic
from types import MappingProxyType
from typing import Any

from brokerd.metrics import LoopTimes

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_NOT_READ, _NOT_WRITE = ~select.EPOLLIN, ~select.EPOLLOUT

Ready = list[tuple[selectors.SelectorKey, int]]


class TimedSelector(selectors.BaseSelector):
    """As selectors.EpollSelector, as far as asyncio uses it."""

    def __init__(self, times: LoopTimes) -> None:
        self._epoll = select.epoll()
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._map = MappingProxyType(self._keys)
        self._times = times
        times.woke_s = monotonic()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Watches a file or descriptor for `events` (selectors.EVENT_READ | EVENT_WRITE). Raises
        KeyError if it is watched already, OSError if it cannot be."""
        key = selectors.SelectorKey(fileobj, _fd(fileobj), events, data)
        if key.fd in self._keys:
            raise KeyError(f"{fileobj!r} is registered already")
        self._epoll.register(key.fd, _mask(events))
        self._keys[key.fd] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Stops watching a file or descriptor. Raises KeyError if it is not watched."""
        key = self._keys.pop(_fd(fileobj))
        try:
            self._epoll.unregister(key.fd)
        except OSError:
            pass  # it was closed before
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Changes the events or the data. Raises KeyError if it is not watched."""
        known = self._keys[_fd(fileobj)]
        key = selectors.SelectorKey(fileobj, known.fd, events, data)
        if events != known.events:
            self._epoll.modify(key.fd, _mask(events))
        self._keys[key.fd] = key
        return key

    def select(self, timeout: float | None = None) -> Ready:
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
        ready: Ready = []
        for fd, event in events:
            key = keys.get(fd)
            if key is not None:
                mask = (_WRITE if event & _NOT_READ else 0) | (_READ if event & _NOT_WRITE else 0)
                ready.append((key, mask & key.events))
        return ready

    def close(self) -> None:
        """Closes epoll; the files stay open."""
        self._epoll.close()
        self._keys.clear()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """What is watched, by descriptor; it changes with what is registered."""
        return self._map

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """What was registered for a file or descriptor. Raises KeyError if it is not watched."""
        return self._keys[_fd(fileobj)]


def _fd(fileobj: Any) -> int:
    return fileobj if isinstance(fileobj, int) else int(fileobj.fileno())


def _mask(events: int) -> int:
    return (select.EPOLLIN if events & _READ else 0) | (select.EPOLLOUT if events & _WRITE else 0)
