"""Which part of a log the next compaction may read, by the rules of Kafka's brokers. Pure.

Compaction reads closed segments from the oldest on. It stops at the first one that has records
younger than min.compaction.lag.ms, or records of open transactions. The active segment is never
compacted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

CLOSED, ALL, NOT_YET = "closed", "all", "not yet"


@dataclass(frozen=True, slots=True)
class CompactablePart:
    """The offsets that an estimate reads, and why these (`basis`).

    CLOSED: compaction may read them. ALL: the whole log, since the bounds of its segments are not
    known. NOT_YET: the whole log, though compaction may not read any of it yet.
    """

    offsets: range
    basis: str


def compactable_part(
    log: range,
    segments: Sequence[Json] | None,
    last_stable_offset: int | None,
    min_lag_ms: int,
    now_ms: int,
) -> CompactablePart:
    """`segments`: oldest first, as brokerd's admin port describes them; None = not known.

    `min_lag_ms` is min.compaction.lag.ms of the topic.
    """
    if segments is None:
        return CompactablePart(log, ALL)
    end = log.start
    for segment in segments:
        latest_ms = segment["largest_timestamp_ms"]
        is_young = min_lag_ms > 0 and latest_ms is not None and latest_ms > now_ms - min_lag_ms
        is_unstable = last_stable_offset is not None and segment["next_offset"] > last_stable_offset
        if segment["active"] or is_young or is_unstable:
            break
        end = segment["next_offset"]
    offsets = range(log.start, min(end, log.stop))
    return CompactablePart(offsets, CLOSED) if offsets else CompactablePart(log, NOT_YET)
