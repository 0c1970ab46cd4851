"""Finds the newest records of partitions: decides which offsets to read next. Pure.

Compaction and transactions leave holes in the offsets, so n offsets may have fewer than n records.
A scan goes backward from the end to the log start in windows of offsets. Windows get wider if few
records were found, and narrower if there were more than can be read at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from monitoring.gateway.records import Age, RecordRow

_WIDER, _MUCH_WIDER, _NARROWER = 4, 16, 4


@dataclass(slots=True)
class PartitionScan:
    """The scan of one partition: offsets from `end` on were read; `start` to `end` comes next."""

    partition: int
    log_start: int
    end: int
    width: int
    oldest: Age | None = None  # of the oldest record found so far

    @property
    def start(self) -> int:
        return max(self.log_start, self.end - self.width)

    @property
    def is_over(self) -> bool:
        return self.end <= self.log_start

    def narrow(self) -> None:
        """The window has more records than can be read at once."""
        self.width = max(1, (self.end - self.start) // _NARROWER)

    def step(self, found: bool) -> None:
        """The window was read; `found`: whether it had records."""
        self.end = self.start
        self.width *= _WIDER if found else _MUCH_WIDER


class NewestRecords:
    """The newest `wanted` records of several partitions, from what the scans have read so far."""

    def __init__(
        self, scans: Iterable[PartitionScan], wanted: int, age: Callable[[RecordRow], Age]
    ) -> None:
        self.rows: list[RecordRow] = []  # newest first
        self._scans, self._wanted, self._age = tuple(scans), wanted, age

    @property
    def size_bytes(self) -> int:
        return sum(row.size_bytes for row in self.rows)

    def unfinished(self) -> list[PartitionScan]:
        """The scans that may still find one of the newest records.

        Within a partition, the higher offset counts as newer.
        """
        going = [scan for scan in self._scans if not scan.is_over]
        if len(self.rows) < self._wanted:
            return going
        last = self._age(self.rows[-1])
        return [scan for scan in going if scan.oldest is None or scan.oldest < last]

    def take(self, windows: Iterable[tuple[PartitionScan, Sequence[RecordRow] | None]]) -> None:
        """Add the records of each scan's window, by offset; None = there were too many."""
        rows = self.rows
        for scan, found in windows:
            if found is None:
                scan.narrow()
                continue
            if found:
                scan.oldest = self._age(found[0])
                rows = [*rows, *found]
            scan.step(bool(found))
        self.rows = sorted(rows, key=self._age)[: self._wanted]
