"""Hands a queued report to the workers; one that cannot be sent is sent again by
`requeue_lost_reports` (tasks.py).

The task is named, not imported: tasks call services, and services send.
"""

import logging

from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from monitoring.reports.models import Report

_log = logging.getLogger(__name__)


def send(report: Report) -> None:
    """Puts `report` on the queue `spark`, now or (when the queue is away) later."""
    try:
        current_app.send_task("monitoring.reports.run", (str(report.id),), retry=False)
    except OperationalError as error:
        _log.warning("report %s waits for the queue: %s", report.id, error)
        return
    Report.objects.filter(pk=report.pk).update(sent_at=timezone.now())
