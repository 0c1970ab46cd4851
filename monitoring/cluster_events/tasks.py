"""The Celery task that deletes old events."""

from datetime import timedelta

from celery import shared_task

from monitoring.clock import now_ms
from monitoring.cluster_events.models import ClusterEvent

_EVENTS_KEPT = timedelta(days=90)  # as alerts


@shared_task
def delete_old_events() -> None:
    """Delete events after 90 days."""
    old_ms = now_ms() - int(_EVENTS_KEPT.total_seconds() * 1000)
    ClusterEvent.objects.filter(at_ms__lt=old_ms).delete()
