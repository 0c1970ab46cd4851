"""How a record is found, step by step, as the source of segments answers it. Pure.

offset → the last segment that begins at or before it → the last entry of the segment's offset
index at or before it → the batches from that position on → the batch that holds it

A time is found by the time index first: its last entry at or before the time has the offset from
which the batches are scanned.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from console.segments.looked_up_offset import OffsetNotFound, check_offset

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LookUp:
    """The steps of a look-up. Positions and sizes are in bytes.

    Attributes:
        at_ms: the time that was looked up; None = an offset was.
        time_entry: the entry of the time index; None = it has none at or before the time.
        took_ms: how long the broker, or the console in its log directory, takes to find `offset`.
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
    took_ms: float
    at_ms: int | None
    time_entry: Json | None

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
    answer: Json | None,
    segments: Sequence[Json],
    log_start: int | None,
    offset: int | None,
    at_ms: int | None,
) -> LookUp:
    """The steps in the answer of the source to a look-up of `offset` or `at_ms`. `segments`:
    oldest first.

    Raises OffsetNotFound if no batch holds the record.
    """
    if not segments:
        raise OffsetNotFound
    if offset is not None:
        start = segments[0]["base_offset"] if log_start is None else log_start
        check_offset(offset, start, segments[-1]["next_offset"])
    if answer is None:
        raise OffsetNotFound
    bases = [each["base_offset"] for each in segments]
    number = bisect_right(bases, answer["base_offset"]) - 1
    *passed, batch = answer["batches"] or [None]
    if batch is None or not batch["base_offset"] <= answer["offset"] <= batch["last_offset"]:
        raise OffsetNotFound
    return LookUp(
        offset=answer["offset"],
        segment=segments[number],
        near_segments=bases[max(0, number - 2) : number + 2],
        segment_count=len(segments),
        entry=answer["entry"],
        near_entries=answer["near_entries"],
        entry_count=answer["entry_count"],
        scan_from=answer["scan_from_bytes"],
        passed=passed,
        batch=batch,
        took_ms=answer["took_us"] / 1000,
        at_ms=at_ms,
        time_entry=answer["time_entry"],
    )
