"""The back-fill of a cluster: its hours with raw ticks are computed again. Start, progress, stop.

`PipelineState.backfill_next_ms` is the position from which it goes on; null = none runs.
"""

from __future__ import annotations

from monitoring.clusters.models import Cluster
from monitoring.history import manifest
from monitoring.history.levels import DAY, RAW
from monitoring.history.root_folder import current
from monitoring.pipeline import due_jobs
from monitoring.pipeline.due_jobs import RollUpJob, TickCounts
from monitoring.pipeline.models import PipelineState


def start(cluster: Cluster, from_ms: int, to_ms: int) -> None:
    """Compute `[from_ms, to_ms)` again. Raises ValueError with a code: `running` if a back-fill
    runs, `no_ticks` if no raw ticks of the range are kept."""
    span_folders = manifest.span_folders(current(), cluster.slug, RAW)
    if not any(
        from_ms < span_folder.end_ms and span_folder.start_ms < to_ms
        for span_folder in span_folders
    ):
        raise ValueError("no_ticks")
    PipelineState.objects.get_or_create(cluster=cluster)
    started = PipelineState.objects.filter(cluster=cluster, backfill_next_ms=None).update(
        backfill_from_ms=from_ms, backfill_to_ms=to_ms, backfill_next_ms=from_ms
    )
    if not started:
        raise ValueError("running")


def stop(cluster: Cluster) -> bool:
    """End it after the hour that is computed now; False if there is none."""
    running = PipelineState.objects.filter(cluster=cluster, backfill_next_ms__isnull=False)
    return bool(running.update(backfill_next_ms=None))


def due(cluster: Cluster, counts: TickCounts, at_ms: int) -> list[RollUpJob]:
    """What is left of the back-fill: hours that have raw ticks, and days after their hours."""
    row = PipelineState.objects.filter(cluster=cluster).first()
    if row is None or row.backfill_next_ms is None or row.backfill_to_ms is None:
        return []
    left = [
        job
        for job in due_jobs.backfill(counts, row.backfill_from_ms or 0, row.backfill_to_ms, at_ms)
        if _position_ms(job) >= row.backfill_next_ms
    ]
    if not left:
        _advance(cluster, row.backfill_next_ms, None)
    return left


def note_done(cluster: Cluster, job: RollUpJob) -> None:
    """A job was done: a back-fill that has it goes on after it."""
    _advance(cluster, _position_ms(job), _position_ms(job) + 1)


def _position_ms(job: RollUpJob) -> int:
    """The time by which a back-fill is ordered: a day comes after its last hour."""
    return job.end_ms - 1 if job.kind == DAY.name else job.start_ms


def _advance(cluster: Cluster, at_ms: int, next_ms: int | None) -> None:
    """Go on after `at_ms`, unless the back-fill was stopped or another one was started."""
    rows = PipelineState.objects.filter(cluster=cluster, backfill_next_ms__lte=at_ms)
    rows.filter(backfill_to_ms__gt=at_ms).update(backfill_next_ms=next_ms)
