"""Which offsets a search reads, in which order. Pure.

Partitions take turns; each turn is a window of offsets. Fetch reads forward only, so a search from
the newest record on begins with the last window. The first windows are small, so that the newest
(or oldest) records of all partitions are found first. Then they grow to about `window_bytes`, by
the size of the records that were read.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

WINDOW_BYTES = 4 << 20
DECODED_WINDOW_BYTES = 2 << 20
"""For a search that decodes each record: 0.1 s of work, after which the page shows the matches."""
_WIDTH_FIRST = 256  # offsets
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Window:
    """Offsets of a partition that are read forward, from `first` to before `end`."""

    partition: int
    first: int
    end: int


class SearchWindows:
    """The windows that are not read yet."""

    def __init__(
        self,
        offset_ranges: Mapping[int, range],
        newest_first: bool,
        window_bytes: int = WINDOW_BYTES,
    ) -> None:
        """`offset_ranges`: by partition."""
        self.newest_first, self._window_bytes = newest_first, window_bytes
        self.offsets_total = sum(map(len, offset_ranges.values()))
        self._left = {
            number: offsets for number, offsets in sorted(offset_ranges.items()) if offsets
        }
        self._turns = deque(self._left)
        self._widths = dict.fromkeys(self._left, _WIDTH_FIRST)
        self._taken = dict.fromkeys(self._left, 0)  # windows of each partition

    @property
    def offsets_left(self) -> int:
        """The number of offsets in windows that are not finished."""
        return sum(map(len, self._left.values()))

    def take(self, *, finish_round: bool = False) -> Window | None:
        """The next window; None if each partition has a window that is not finished.

        With `finish_round` only partitions that had fewer windows than others.
        """
        most = max(self._taken.values(), default=0)
        for _ in range(len(self._turns)):
            partition = self._turns.popleft()
            if finish_round and self._taken[partition] >= most:
                self._turns.append(partition)
                continue
            self._taken[partition] += 1
            left, width = self._left[partition], self._widths[partition]
            if self.newest_first:
                return Window(partition, max(left.start, left.stop - width), left.stop)
            return Window(partition, left.start, min(left.stop, left.start + width))
        return None

    def finish(self, window: Window, size_bytes: int) -> None:
        """The window was read; its Fetches had `size_bytes`."""
        partition, left = window.partition, self._left[window.partition]
        if self.newest_first:
            self._left[partition] = range(left.start, window.first)
        else:
            self._left[partition] = range(window.end, left.stop)
        fitting = (window.end - window.first) * self._window_bytes // max(size_bytes, 1)
        self._widths[partition] = max(1, min(fitting, self._widths[partition] * _GROWTH))
        if self._left[partition]:
            self._turns.append(partition)

    def drop(self, window: Window) -> None:
        """The partition cannot be read: no more windows of it."""
        self._left[window.partition] = range(0)
