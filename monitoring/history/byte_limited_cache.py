"""A cache in memory with a limit in bytes, which drops the least recently used values."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class ByteLimitedCache(Generic[V]):
    """Values that never change, by key. All threads may use it."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._held_bytes = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], tuple[V, int]]) -> V:
        """The value of a key; `make` returns it with its size if it is not here."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value, size_bytes = make()
        with self._lock:
            if key not in self._values and size_bytes <= self._bytes_max:
                self._values[key] = value, size_bytes
                self._held_bytes += size_bytes
            while self._held_bytes > self._bytes_max:
                _key, (_value, dropped_bytes) = self._values.popitem(last=False)
                self._held_bytes -= dropped_bytes
        return value
