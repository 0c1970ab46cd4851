"""Celery tasks that write, compact and expire the history. They end if another worker does so."""

from celery import shared_task

from monitoring import memory
from monitoring.clusters import Cluster
from monitoring.history import service


@shared_task(ignore_result=True)
def flush() -> None:
    """Append the new ticks of every cluster."""
    service.flush(Cluster.objects.values_list("slug", flat=True))
    memory.give_back()  # of a large cluster a flush takes some hundred MB


@shared_task(ignore_result=True)
def drop_old() -> None:
    """Merge finished hours, delete old hours and files that no manifest lists."""
    service.compact_and_expire()
    memory.give_back()
