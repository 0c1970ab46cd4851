"""Finds the newest records of partitions: decides which offsets to read next. Pure.

Compaction and transactions leave holes in the offsets, so n offsets may have fewer than n records.
A scan goes backward from the end to the log start in windows of offsets. Windows get wider if few
records were found, and narrower if there were more than can be read at once.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from monitoring.gateway.record_row import RecordRow, SortKey

_WIDER, _MUCH_WIDER, _NARROWER = 4, 16, 4  # factors of the width


@dataclass(slots=True)
class PartitionScan:
    """The scan of one partition: offsets from `end` on were read; `start` to `end` comes next."""

    partition: int
    log_start: int
    end: int
    width: int
    oldest_key: SortKey | None = None  # of the oldest record found so far

    @property
    def start(self) -> int:
        return max(self.log_start, self.end - self.width)

    @property
    def is_over(self) -> bool:
        return self.end <= self.log_start

    def narrow(self) -> None:
        """Make the window smaller: it has more records than can be read at once."""
        self.width = max(1, (self.end - self.start) // _NARROWER)

    def advance(self, *, has_records: bool) -> None:
        """Go on to the next window, since this one was read. `has_records`: whether it had any."""
        self.end = self.start
        self.width *= _WIDER if has_records else _MUCH_WIDER


class NewestRecords:
    """The newest `limit` records of several partitions, of those that the scans have read."""

    def __init__(
        self, scans: Iterable[PartitionScan], limit: int, sort_key: Callable[[RecordRow], SortKey]
    ) -> None:
        self.rows: list[RecordRow] = []  # sorted by `sort_key`: newest first
        self._scans, self._limit, self._sort_key = tuple(scans), limit, sort_key

    @property
    def size_bytes(self) -> int:
        return sum(row.size_bytes for row in self.rows)

    def unfinished(self) -> list[PartitionScan]:
        """The scans that may still find one of the newest records.

        Within a partition, the higher offset counts as newer. A smaller key is newer.
        """
        unfinished = [scan for scan in self._scans if not scan.is_over]
        if len(self.rows) < self._limit:
            return unfinished
        oldest_key = self._sort_key(self.rows[-1])
        return [
            scan for scan in unfinished if scan.oldest_key is None or scan.oldest_key < oldest_key
        ]

    def add(self, windows: Iterable[tuple[PartitionScan, Sequence[RecordRow] | None]]) -> None:
        """Add the records of each scan's window, by offset; None = there were too many."""
        rows = self.rows
        for scan, records in windows:
            if records is None:
                scan.narrow()
                continue
            if records:
                scan.oldest_key = self._sort_key(records[0])
                rows = [*rows, *records]
            scan.advance(has_records=bool(records))
        self.rows = sorted(rows, key=self._sort_key)[: self._limit]
