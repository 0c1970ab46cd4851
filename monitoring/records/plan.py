"""Which offsets a search reads, in which order. Pure.

Fetch reads forward only. A search from the oldest record on reads each partition in one piece; one
from the newest record on reads windows of offsets, the last window first. Windows get about
WINDOW_BYTES large, by the size of the records that were read before.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW_BYTES = 4 << 20
_WINDOW_RECORDS_FIRST = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """Offsets of a partition that are read forward, from `first` to before `end`."""

    partition: int
    first: int
    end: int


@dataclass(slots=True)
class SearchPlan:
    """The windows that are left; partitions take turns."""

    spans: Mapping[int, range]
    newest_first: bool
    _turns: deque[int] = field(init=False)
    _left: dict[int, range] = field(init=False)
    _offsets_per_window: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._left = {number: span for number, span in sorted(self.spans.items()) if span}
        self._turns = deque(self._left)
        self._offsets_per_window = dict.fromkeys(self._left, _WINDOW_RECORDS_FIRST)

    def take(self) -> Window | None:
        """The next window; its partition has no other one meanwhile. None: none is free."""
        if not self._turns:
            return None
        partition = self._turns.popleft()
        left = self._left[partition]
        if not self.newest_first:
            return Window(partition, left.start, left.stop)
        first = max(left.start, left.stop - self._offsets_per_window[partition])
        return Window(partition, first, left.stop)

    def give_back(self, window: Window, read_to: int, size_bytes: int) -> None:
        """The window was read up to before the offset `read_to`: `size_bytes`."""
        partition, left = window.partition, self._left[window.partition]
        if self.newest_first:
            self._left[partition] = range(left.start, window.first)
            if size_bytes:
                offsets = (read_to - window.first) * WINDOW_BYTES // size_bytes
                self._offsets_per_window[partition] = max(1, offsets)
            else:  # compaction left nothing
                self._offsets_per_window[partition] *= 4
        else:
            self._left[partition] = range(max(read_to, window.first), left.stop)
        if self._left[partition]:
            self._turns.append(partition)

    def drop(self, window: Window) -> None:
        """The partition cannot be read: no more windows of it."""
        self._left[window.partition] = range(0)

    @property
    def offsets_total(self) -> int:
        """The number of offsets of the whole search."""
        return sum(len(span) for span in self.spans.values())

    @property
    def offsets_left(self) -> int:
        """The number of offsets of windows that were not given back."""
        return sum(len(span) for span in self._left.values())
