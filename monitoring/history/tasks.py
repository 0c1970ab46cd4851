"""Celery tasks that write the history and delete unlisted files; one worker at a time."""

from celery import shared_task

from monitoring import process_memory
from monitoring.clusters.models import Cluster
from monitoring.history import locked_writer


@shared_task
def flush() -> None:
    """Append the new ticks of every cluster."""
    locked_writer.flush(Cluster.objects.values_list("slug", flat=True))
    process_memory.release()  # of a large cluster a flush takes some hundred MB


@shared_task
def delete_unlisted() -> None:
    """Delete files that no manifest lists."""
    locked_writer.delete_unlisted()
