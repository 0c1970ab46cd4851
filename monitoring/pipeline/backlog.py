"""Whether the data pipeline keeps up, of all clusters together, from the stored states; and whether
the disk of the history is full now, or new ticks are not written for another reason."""

from __future__ import annotations

from dataclasses import dataclass

from monitoring import redis_client
from monitoring.clusters.models import Cluster
from monitoring.history import flush_state, history_disk
from monitoring.history.levels import HOUR_MS
from monitoring.history.root_folder import current as current_root
from monitoring.pipeline.models import PipelineState

LATE_HOURS = 3  # an hour that ended so long ago should have been computed
_STATE_AGE_MAX_MS = HOUR_MS  # older states are ignored: the worker may not run any more


@dataclass(frozen=True, slots=True)
class Backlog:
    """`since_ms`: the end of the oldest hour that waits. `unwritten_since_ms`: since when new ticks
    of a cluster are not written to the history."""

    hours: int = 0
    since_ms: int | None = None
    is_growing: bool = False
    is_disk_almost_full: bool = False
    is_disk_full: bool = False
    unwritten_since_ms: int | None = None


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
        unwritten_since_ms=_unwritten_since_ms(now_ms),
    )


def _unwritten_since_ms(now_ms: int) -> int | None:
    slugs = Cluster.objects.values_list("slug", flat=True)
    try:
        return min((each.since_ms for each in flush_state.late(slugs, now_ms)), default=None)
    except redis_client.RedisDown:
        return None
