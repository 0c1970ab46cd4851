"""When the active segment is closed and the next one begins (Kafka's LogSegment.shouldRoll).

A group of batches goes into a new segment if the active one would get too large
(`segment.bytes`), too old (`segment.ms`, less a jitter, so that logs do not roll at the same
time), or its indexes too full (`segment.index.bytes`); and if an offset would be too far from the
segment's first one for the 32 bits that an index has for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.integer_ranges import INT32_MAX
from brokerd.log.indexes.offset_index import ENTRY_BYTES as INDEX_ENTRY_BYTES
from brokerd.log.indexes.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES

if TYPE_CHECKING:
    from brokerd.log.assign_offsets import Staged
    from brokerd.log.local_log import LocalLog


def should_roll(log: LocalLog, staged: Staged, now_ms: int) -> bool:
    """Whether a group of batches needs a new segment. Raises OSError."""
    active = log.segments.active
    config = log.config
    if active.size_bytes + staged.size_bytes > config.segment_bytes:
        return True
    if staged.next_offset - 1 - active.base_offset > INT32_MAX:
        return True
    if active.size_bytes == 0:
        active.index, active.time_index  # noqa: B018 - what cannot be opened fails now
        return False
    if active.bytes_since_index + staged.size_bytes > config.index_interval_bytes:
        # Only then it may get an entry.
        index_bytes = config.segment_index_bytes
        if len(active.index) >= index_bytes // INDEX_ENTRY_BYTES:
            return True
        if len(active.time_index) >= index_bytes // TIME_ENTRY_BYTES - 1:
            return True
    return _is_too_old(log, staged.max_timestamp_ms, now_ms)


def _is_too_old(log: LocalLog, timestamp_ms: int, now_ms: int) -> bool:
    """Whether the active segment is too old for a batch of that time (-1: it has none). Its age is
    counted from the timestamp of its first batch, or from when it was created if that has none."""
    active = log.segments.active
    first_ms = active.first_batch_timestamp_ms
    if first_ms is None:
        first_ms = active.first_batch_timestamp()
    age_ms = timestamp_ms - first_ms if first_ms >= 0 else now_ms - active.created_ms
    return age_ms > log.config.longest_segment_ms - log.roll_jitter_ms
