"""Which part of a log the next compaction may read, by the rules of Kafka's brokers. Pure.

It reads closed segments, from the oldest one on, up to the first that has records younger than
min.compaction.lag.ms or of transactions that are not finished. The active segment is never
compacted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

CLOSED, ALL, NOT_YET = "closed", "all", "not yet"


@dataclass(frozen=True, slots=True)
class CompactablePart:
    """Offsets, and what they are: CLOSED = what compaction may read; ALL = the whole log, since the
    bounds of its segments are not known; NOT_YET = the whole log, of which compaction may read
    nothing yet: what it would save once the segments are closed and old enough."""

    offsets: range
    basis: str


def compactable_part(
    log: range,
    segments: Sequence[Json] | None,
    stable_offset: int | None,
    min_lag_ms: int,
    now_ms: int,
) -> CompactablePart:
    """`segments` are in order; None = not known. The other figures are those of the broker."""
    if segments is None:
        return CompactablePart(log, ALL)
    end = log.start
    for segment in segments:
        latest_ms = segment["largest_timestamp_ms"]
        is_young = min_lag_ms > 0 and latest_ms is not None and latest_ms > now_ms - min_lag_ms
        is_open = stable_offset is not None and segment["next_offset"] > stable_offset
        if segment["active"] or is_young or is_open:
            break
        end = segment["next_offset"]
    offsets = range(log.start, min(end, log.stop))
    return CompactablePart(offsets, CLOSED) if offsets else CompactablePart(log, NOT_YET)
