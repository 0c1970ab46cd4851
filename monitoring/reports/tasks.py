"""The Celery tasks of reports. They are idempotent."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from celery.worker.state import active_requests
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from monitoring.reports import report_lifecycle
from monitoring.reports.models import Report, State
from monitoring.reports.report_queue import send

ATTEMPTS_MAX = 2
SILENCE_MAX = timedelta(seconds=30)  # without a heartbeat; then the worker counts as dead
RESEND_AFTER = timedelta(minutes=10)


@shared_task
def run(report_id: str) -> None:
    """Compute a report. The message is acknowledged early; lost reports are queued again."""
    from monitoring.reports.compute_report import (
        run_report,  # imported late, so that other processes do not load Spark
    )

    run_report(uuid.UUID(report_id))


@worker_shutting_down.connect
def on_worker_stop(**of_signal: Any) -> None:
    """Queue this worker's reports again: they can take longer than a stop may wait.

    Runs in a signal handler of the pool's parent process, which must not wait for the database.
    """
    ids = [uuid.UUID(request.args[0]) for request in active_requests if request.name == run.name]
    if ids:
        threading.Thread(target=_requeue, args=(ids,)).start()


def _requeue(report_ids: list[uuid.UUID]) -> None:
    try:
        report_lifecycle.requeue(report_ids)
    finally:
        connection.close()  # this thread's own


@shared_task
def requeue_lost_reports() -> None:
    """Send reports again whose worker died or whose message was lost, at most ATTEMPTS_MAX times.
    Also delete orphaned results.

    A queued report counts as lost only while no report runs: otherwise it may just be waiting.
    """
    now = timezone.now()
    silent = Report.objects.filter(
        Q(heartbeat_at__lt=now - SILENCE_MAX) | Q(heartbeat_at=None), state=State.RUNNING
    )
    silent.filter(attempt__gte=ATTEMPTS_MAX).update(
        state=State.FAILED, error="worker_lost", stage="", finished_at=now
    )
    silent.update(state=State.QUEUED, stage="", progress=0, sent_at=None)
    waiting = Report.objects.filter(state=State.QUEUED).order_by("created_at")
    lost = Q(sent_at=None)
    if not Report.objects.filter(state=State.RUNNING).exists():
        lost |= Q(sent_at__lt=now - RESEND_AFTER)
    for report in waiting.filter(lost)[: report_lifecycle.WAITING_MAX]:
        send(report)
    report_lifecycle.delete_orphans()
