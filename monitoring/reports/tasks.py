"""Celery's side of reports: thin, idempotent, safe to send twice."""

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

from monitoring.reports import services
from monitoring.reports.models import Report, State
from monitoring.reports.send import send

ATTEMPTS_MAX = 2
SILENCE_MAX = timedelta(seconds=30)  # of heartbeats; then a worker counts as dead
RESEND = timedelta(minutes=10)


@shared_task(name="monitoring.reports.run")
def run(report_id: str) -> None:
    """Computes one report. The message is gone once taken: a lost report is queued again."""
    from monitoring.reports.runner import run_report  # keeps Spark out of every other process

    run_report(uuid.UUID(report_id))


@worker_shutting_down.connect
def on_worker_stop(**of_signal: Any) -> None:
    """Hands back what this worker computes: it may take longer than a stop can wait.

    Runs inside a signal handler of the pool's parent, which must not wait for the database.
    """
    ids = [uuid.UUID(request.args[0]) for request in active_requests if request.name == run.name]
    if ids:
        threading.Thread(target=_hand_back, args=(ids,)).start()


def _hand_back(report_ids: list[uuid.UUID]) -> None:
    try:
        services.hand_back(report_ids)
    finally:
        connection.close()  # this thread's own


@shared_task(name="monitoring.reports.requeue_lost_reports")
def requeue_lost_reports() -> None:
    """Sends a report again whose worker died or whose message was lost; gives up at the second.
    Sweeps out results that nobody can reach any more.

    A queued report is taken for lost only while none is running: until then it waits its turn.
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
        lost |= Q(sent_at__lt=now - RESEND)
    for report in waiting.filter(lost)[: services.WAITING_MAX]:
        send(report)
    services.delete_orphans()
