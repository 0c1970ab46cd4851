"""Whether the data pipeline keeps up, of all clusters together, from the stored states; and whether
the disk of the history is full now."""

from __future__ import annotations

from dataclasses import dataclass

from monitoring.history import history_disk
from monitoring.history.levels import HOUR_MS
from monitoring.history.root_folder import current as current_root
from monitoring.pipeline.models import PipelineState

LATE_HOURS = 3  # an hour that ended so long ago should have been computed
_STATE_AGE_MAX_MS = HOUR_MS  # older states are ignored: the worker may not run any more


@dataclass(frozen=True, slots=True)
class Backlog:
    """`since_ms`: the end of the oldest hour that waits."""

    hours: int = 0
    since_ms: int | None = None
    is_growing: bool = False
    is_disk_almost_full: bool = False
    is_disk_full: bool = False


def current(now_ms: int) -> Backlog:
    """The backlog of all clusters. Jobs of a back-fill are not counted."""
    disk = history_disk.space(current_root())
    states = list(PipelineState.objects.filter(seen_ms__gte=now_ms - _STATE_AGE_MAX_MS))
    ends = [row.oldest_waiting_ms + HOUR_MS for row in states if row.oldest_waiting_ms is not None]
    oldest_ms = min(ends, default=None)
    return Backlog(
        hours=sum(row.waiting_hours for row in states),
        since_ms=oldest_ms,
        is_growing=oldest_ms is not None and now_ms - oldest_ms >= LATE_HOURS * HOUR_MS,
        is_disk_almost_full=history_disk.is_almost_full(disk),
        is_disk_full=history_disk.is_full(disk),
    )
