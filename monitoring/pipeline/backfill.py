"""Starts and stops the back-fill of a cluster: its hours with raw ticks are computed again."""

from __future__ import annotations

from monitoring.clusters import Cluster
from monitoring.history import manifest
from monitoring.history.levels import RAW
from monitoring.history.root import current
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
