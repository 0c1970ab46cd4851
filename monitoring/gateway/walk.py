"""The way back through partitions to their newest records: which offsets to read next. Pure.

Offsets have holes where a partition was compacted or a transaction ended, so that n offsets may
hold fewer than n records. A walk goes from the end towards the log start in windows of offsets:
wider ones where little was found, narrower ones where there was more than may be read at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from monitoring.gateway.records import Age, RecordRow

_WIDER, _MUCH_WIDER, _NARROWER = 4, 16, 4


@dataclass(slots=True)
class Walk:
    """How far one partition was read: all from `end` upwards; `start` to `end` comes next."""

    partition: int
    log_start: int
    end: int
    width: int
    oldest: Age | None = None  # of the record that was found last

    @property
    def start(self) -> int:
        return max(self.log_start, self.end - self.width)

    @property
    def is_over(self) -> bool:
        return self.end <= self.log_start

    def narrow(self) -> None:
        """The window holds more than may be read at once."""
        self.width = max(1, (self.end - self.start) // _NARROWER)

    def step(self, found: bool) -> None:
        """The window was read, and there were records in it or not."""
        self.end = self.start
        self.width *= _WIDER if found else _MUCH_WIDER


class Newest:
    """The newest `wanted` records of the walks' partitions, so far as these have come."""

    def __init__(self, walks: Iterable[Walk], wanted: int, age: Callable[[RecordRow], Age]) -> None:
        self.rows: list[RecordRow] = []  # newest first
        self._walks, self._wanted, self._age = tuple(walks), wanted, age

    @property
    def size_bytes(self) -> int:
        return sum(row.size_bytes for row in self.rows)

    def unfinished(self) -> list[Walk]:
        """The walks that may still find a record that belongs to the newest.

        Within a partition, what was written later counts as newer.
        """
        going = [walk for walk in self._walks if not walk.is_over]
        if len(self.rows) < self._wanted:
            return going
        last = self._age(self.rows[-1])
        return [walk for walk in going if walk.oldest is None or walk.oldest < last]

    def take(self, windows: Iterable[tuple[Walk, Sequence[RecordRow] | None]]) -> None:
        """All records of each walk's window by offset, None where they were too many."""
        rows = self.rows
        for walk, found in windows:
            if found is None:
                walk.narrow()
                continue
            if found:
                walk.oldest = self._age(found[0])
                rows = [*rows, *found]
            walk.step(bool(found))
        self.rows = sorted(rows, key=self._age)[: self._wanted]
