"""The tasks that write, compact and expire history; where another worker does so, they end."""

from celery import shared_task

from monitoring.clusters import Cluster
from monitoring.history import service


@shared_task(ignore_result=True)
def flush() -> None:
    """Append what was sampled since the last flush, of every cluster."""
    service.flush(Cluster.objects.values_list("slug", flat=True))


@shared_task(ignore_result=True)
def drop_old() -> None:
    """Merge finished hours, drop those that are too old, delete what no manifest names."""
    service.compact_and_expire()
