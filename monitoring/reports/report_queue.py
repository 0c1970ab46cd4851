"""Sends the tasks of queued reports. If that fails, `requeue_lost_reports` (tasks.py) retries.

The task is called by name to avoid an import cycle: tasks.py imports report_lifecycle.py, which
imports this.
"""

import logging

from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from monitoring.reports.models import Report

_log = logging.getLogger(__name__)


def send(report: Report) -> None:
    """Send the task of `report` to the queue `spark`; later, if Redis is not available."""
    try:
        current_app.send_task("monitoring.reports.tasks.run", (str(report.id),), retry=False)
    except OperationalError as error:
        _log.warning("report %s could not be queued and is retried later: %s", report.id, error)
        return
    Report.objects.filter(pk=report.pk).update(sent_at=timezone.now())
