"""How the broker finds a record, step by step. Pure: the caller passes the readers.

offset → the last segment that begins at or before it → the last entry of the segment's offset
index at or before it → the batches from that position on → the batch that holds it

A time is found by the time index first: its last entry at or before the time has the offset from
which the batches are scanned.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ENTRIES_PER_READ = 100
_BATCHES_PER_READ = 100
_READS_MAX = 40

Json = dict[str, Any]
ReadIndex = Callable[[int, str, int, int], Json]
"""(base offset, "offset" or "time", number of the first entry, limit) →
{"entries": […], "total": n}"""
ReadBatches = Callable[[int, int, int], Json]
"""(base offset, position, limit) → {"batches": […], "next_position": n or null}"""


class OffsetNotFound(Exception):
    """No batch holds the offset: compaction removed its record, or (OffsetOutside) it is not in the
    log."""


class OffsetOutside(OffsetNotFound):
    """The offset is before the log start or not before the log end; `valid`: the log's offsets."""

    def __init__(self, valid: range) -> None:
        self.valid = valid


def check_offset(offset: int, start: int, end: int) -> None:
    """Raises OffsetOutside unless the offset is in the log."""
    if not start <= offset < end:
        raise OffsetOutside(range(start, max(start, end)))


@dataclass(frozen=True, slots=True)
class LookUp:
    """The steps of a look-up. Positions and sizes are in bytes.

    Attributes:
        at_ms: the time that was looked up; None = an offset was.
        time_entry: the entry of the time index; None = it has none at or before the time.
        took_ms: how long the broker takes to find `offset`; None = it does not say.
        near_segments: the base offsets around `segment`, of `segment_count` in the log.
        entry: the index entry; None = the segment's index has none at or before the offset.
        near_entries: the entries around it, of `entry_count` in the index.
        scan_from: the position where the scan of batches begins.
        passed: the batches that were passed before `batch`.
    """

    offset: int
    segment: Json
    near_segments: list[int]
    segment_count: int
    entry: Json | None
    near_entries: list[Json]
    entry_count: int
    scan_from: int
    passed: list[Json]
    batch: Json
    at_ms: int | None = None
    time_entry: Json | None = None
    took_ms: float | None = None

    @property
    def delta(self) -> int:
        """The record's place in its batch, from 0."""
        base: int = self.batch["base_offset"]
        return self.offset - base

    @property
    def scanned_bytes(self) -> int:
        """What the scan read: the batches that it passed, and the one that it found."""
        sizes: list[int] = [each["size_bytes"] for each in (*self.passed, self.batch)]
        return sum(sizes)


def look_up(
    offset: int,
    segments: Sequence[Json],
    read_index: ReadIndex,
    read_batches: ReadBatches,
    at_ms: int | None = None,
) -> LookUp:
    """Find the batch that holds `offset`; `segments`: oldest first.

    `at_ms`: the time that was looked up; `offset` is that of the first record at or after it.
    Raises OffsetNotFound, or what the readers raise.
    """
    bases = [each["base_offset"] for each in segments]
    number = bisect_right(bases, offset) - 1
    if number < 0:
        raise OffsetNotFound
    base = bases[number]
    time_entry, scan_offset = None, offset
    if at_ms is not None:
        near, index, _total = _find_entry(at_ms, base, "time", read_index)
        time_entry = near[index] if index >= 0 else None
        scan_offset = time_entry["offset"] if time_entry else base
    near, index, total = _find_entry(scan_offset, base, "offset", read_index)
    entry = near[index] if index >= 0 else None
    scan_from = entry["position_bytes"] if entry else 0
    passed, batch = _scan(offset, base, scan_from, read_batches)
    return LookUp(
        offset,
        segments[number],
        bases[max(0, number - 2) : number + 2],
        len(bases),
        entry,
        near[max(0, index - 2) : max(0, index) + 2],
        total,
        scan_from,
        passed,
        batch,
        at_ms,
        time_entry,
    )


def _find_entry(wanted: int, base: int, kind: str, read: ReadIndex) -> tuple[list[Json], int, int]:
    """Find the last index entry at or before an offset or time, by binary search over pages.

    Returns its page, its index there (−1 = there is none), and the number of all entries.
    """
    key = "offset" if kind == "offset" else "timestamp_ms"
    page = read(base, kind, 0, ENTRIES_PER_READ)
    total = page["total"]
    low, high = 0, max(0, (total - 1) // ENTRIES_PER_READ)
    while low < high:
        middle = (low + high + 1) // 2
        found = read(base, kind, middle * ENTRIES_PER_READ, ENTRIES_PER_READ)
        if found["entries"] and found["entries"][0][key] <= wanted:
            low, page = middle, found
        else:
            high = middle - 1
    entries = page["entries"]
    return entries, bisect_right([each[key] for each in entries], wanted) - 1, total


def _scan(offset: int, base: int, position: int, read: ReadBatches) -> tuple[list[Json], Json]:
    """(the batches before it, the batch that holds the offset). Raises OffsetNotFound."""
    passed: list[Json] = []
    for _ in range(_READS_MAX):
        page = read(base, position, _BATCHES_PER_READ)
        for batch in page["batches"]:
            if batch["last_offset"] >= offset:
                if batch["base_offset"] > offset:
                    raise OffsetNotFound
                return passed, batch
            passed.append(batch)
        position = page.get("next_position") or 0
        if not position or not page["batches"]:
            break
    raise OffsetNotFound
