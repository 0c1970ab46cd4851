"""Starts, stops and resumes a back-fill of the data pipeline. Each change is audited."""

from __future__ import annotations

from django.db import transaction

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from monitoring.models import Cluster
from monitoring.pipeline import backfill


def start_backfill(principal: Principal, cluster: Cluster, from_ms: int, to_ms: int) -> None:
    """Compute the hours of a range again. Raises ValueError with "running", "failed" or
    "no_ticks"."""
    with transaction.atomic():
        backfill.start(cluster, from_ms, to_ms)
        after = {"from_ms": from_ms, "to_ms": to_ms}
        audit.record_by(principal, "pipeline.backfill", cluster.slug, after=after)


def stop_backfill(principal: Principal, cluster: Cluster) -> bool:
    """Stop the back-fill after its current hour; False if none is running."""
    with transaction.atomic():
        if not backfill.stop(cluster):
            return False
        audit.record_by(principal, "pipeline.stop", cluster.slug)
    return True


def resume_backfill(principal: Principal, cluster: Cluster) -> bool:
    """Try the job at which the back-fill failed again; False if none has failed."""
    with transaction.atomic():
        if not backfill.resume(cluster):
            return False
        audit.record_by(principal, "pipeline.resume", cluster.slug)
    return True
