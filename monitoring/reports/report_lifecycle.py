"""The operations on reports: start, list, get, cancel, delete.

Pages call them by console/reports/services.py, which knows rights and the audit log; none of them
waits for Spark. A report is first a row, then a message in the queue `spark`. If the message cannot
be sent or is lost, `requeue_lost_reports` (tasks.py) sends it again. So no report is lost while the
queue is not available.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.reports import result_files
from monitoring.reports.kinds import KINDS, validated_range
from monitoring.reports.models import Report, State
from monitoring.reports.report_queue import send
from monitoring.scope import Scope

WAITING_MAX = 10  # unfinished reports of one cluster
KEPT_MAX = 200  # reports of one cluster; older ones are deleted
TEMPORARY_KEPT_S = 3600  # longer than any report takes


class TooManyReports(Exception):
    """WAITING_MAX reports of this cluster are waiting or running. Try again later."""

    retriable = True


def start(
    kind: str,
    cluster: Cluster,
    params: Mapping[str, Any],
    user: User | None,
    scope: Scope,
) -> Report:
    """Queue a report about the topics and groups of `cluster` within the scope.

    Raises ValueError for bad parameters (see kinds.validated_range) and TooManyReports.
    """
    if kind not in KINDS:
        raise ValueError("unknown_kind")
    checked = validated_range(params)
    with transaction.atomic():
        waiting = Report.objects.filter(cluster=cluster, state__in=[State.QUEUED, State.RUNNING])
        if waiting.count() >= WAITING_MAX:
            raise TooManyReports
        report = Report.objects.create(
            kind=kind,
            cluster=cluster,
            params=checked,
            created_by=user,
            topics=list(scope.topics),
            groups=list(scope.groups),
            hidden_topics=sorted(scope.hidden_topics),
        )
        transaction.on_commit(lambda: send(report))
    _remove_oldest(cluster)
    return report


def reports_of_cluster(cluster: Cluster, scope: Scope) -> list[Report]:
    """The reports of a cluster that contain only data within the scope, newest first."""
    rows = Report.objects.filter(cluster=cluster).select_related("created_by")
    return [report for report in rows[:KEPT_MAX] if scope.contains(report.scope)]


def get(cluster: Cluster, report_id: uuid.UUID, scope: Scope) -> Report | None:
    """The report; None if it does not exist on this cluster or has data outside the scope."""
    report = (
        Report.objects.select_related("cluster", "created_by")
        .filter(cluster=cluster, pk=report_id)
        .first()
    )
    return report if report and scope.contains(report.scope) else None


def cancel(report: Report) -> bool:
    """Cancel a report; False if it has finished already. Its worker stops the computation."""
    return bool(_unfinished(report).update(state=State.CANCELLED, finished_at=timezone.now()))


def requeue(report_ids: Iterable[uuid.UUID]) -> None:
    """Queue the reports of a worker that stops; they are sent again later.

    This ends the attempt, as a cancel does, and the worker notices it in the same way.
    """
    running = Report.objects.filter(pk__in=list(report_ids), state=State.RUNNING)
    running.update(state=State.QUEUED, stage="", progress=0, sent_at=None)


def delete(report: Report) -> None:
    """Delete a report, and its result after the commit; cancels it first if it runs."""
    report_id = report.id  # Django clears it on delete
    cancel(report)
    report.delete()
    transaction.on_commit(lambda: result_files.remove(report_id))


def delete_orphans() -> None:
    """Delete results without a report (their cluster was removed), and old temporary folders."""
    stored = result_files.stored_ids()  # before the query: a folder is never older than its row
    kept = set(Report.objects.filter(pk__in=stored).values_list("pk", flat=True)) if stored else ()
    for report_id in stored:
        if report_id not in kept:
            result_files.remove(report_id)
    result_files.remove_temporary_folders(time.time() - TEMPORARY_KEPT_S)


def _unfinished(report: Report) -> QuerySet[Report]:
    return Report.objects.filter(pk=report.pk, state__in=[State.QUEUED, State.RUNNING])


def _remove_oldest(cluster: Cluster) -> None:
    for report in Report.objects.filter(cluster=cluster)[KEPT_MAX:]:
        delete(report)
