"""What can be done with reports: start, list, get, cancel, delete.

Pages and, later, the API call these functions; none of them waits for Spark. A report is a row
first and a message on the queue `spark` second: a message that cannot be sent, or is lost, is
sent again by `requeue_lost_reports` (tasks.py), so a queue that is away delays a report and loses
none.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from monitoring.clusters import Cluster
from monitoring.reports import result_files
from monitoring.reports.kinds import KINDS, checked_range
from monitoring.reports.models import Report, State
from monitoring.reports.send import send

WAITING_MAX = 10  # reports of one cluster that are not finished
KEPT_MAX = 200  # reports of one cluster; the oldest go
DRAFT_KEPT_S = 3600  # longer than any report takes


class TooManyReports(Exception):
    """WAITING_MAX reports of this cluster are waiting or running. Later it may be fewer."""

    retriable = True


def start(
    kind: str,
    cluster: Cluster,
    params: Mapping[str, Any],
    user: User | None,
    hidden_prefixes: Sequence[str],
) -> Report:
    """Queues a report over `cluster`, without the topics that begin with a hidden prefix.

    Raises ValueError for bad parameters (see kinds.checked_range) and TooManyReports.
    """
    if kind not in KINDS:
        raise ValueError("unknown_kind")
    checked = checked_range(params)
    with transaction.atomic():
        waiting = Report.objects.filter(cluster=cluster, state__in=[State.QUEUED, State.RUNNING])
        if waiting.count() >= WAITING_MAX:
            raise TooManyReports
        report = Report.objects.create(
            kind=kind,
            cluster=cluster,
            params=checked,
            created_by=user,
            hidden_prefixes=sorted(hidden_prefixes),
        )
        transaction.on_commit(lambda: send(report))
    _remove_oldest(cluster)
    return report


def of_cluster(cluster: Cluster, hidden_prefixes: Sequence[str]) -> list[Report]:
    """The reports of a cluster that somebody with these hidden prefixes may read, newest first."""
    rows = Report.objects.filter(cluster=cluster).select_related("created_by")
    return [report for report in rows[:KEPT_MAX] if readable_with(report, hidden_prefixes)]


def readable_with(report: Report, hidden_prefixes: Sequence[str]) -> bool:
    """Whether a reader from whom these topics are hidden would see none of them in the report."""
    return set(hidden_prefixes) <= set(report.hidden_prefixes)


def get(cluster: Cluster, report_id: uuid.UUID, hidden_prefixes: Sequence[str]) -> Report | None:
    """The report, or None: not of this cluster, not there, or not for this reader."""
    report = (
        Report.objects.select_related("cluster", "created_by")
        .filter(cluster=cluster, pk=report_id)
        .first()
    )
    return report if report and readable_with(report, hidden_prefixes) else None


def cancel(report: Report) -> bool:
    """Cancels a report that has not finished; False if it has. Its worker sees to the rest."""
    return bool(_unfinished(report).update(state=State.CANCELLED, finished_at=timezone.now()))


def hand_back(report_ids: Iterable[uuid.UUID]) -> None:
    """Queues again what a worker that is asked to stop was computing; it is sent later.

    The attempt is over by it, as by a cancel, and its worker finds out in the same way.
    """
    running = Report.objects.filter(pk__in=list(report_ids), state=State.RUNNING)
    running.update(state=State.QUEUED, stage="", progress=0, sent_at=None)


def delete(report: Report) -> None:
    """Removes a report and its result; one that runs is cancelled first."""
    report_id = report.id  # Django takes it from a deleted row
    cancel(report)
    report.delete()
    result_files.remove(report_id)


def delete_orphans() -> None:
    """Removes results whose report is gone, as after its cluster was, and drafts left for dead."""
    stored = result_files.names()  # before the rows are asked: a folder is never older than its row
    kept = set(Report.objects.filter(pk__in=stored).values_list("pk", flat=True)) if stored else ()
    for report_id in stored:
        if report_id not in kept:
            result_files.remove(report_id)
    result_files.remove_drafts(time.time() - DRAFT_KEPT_S)


def _unfinished(report: Report) -> QuerySet[Report]:
    return Report.objects.filter(pk=report.pk, state__in=[State.QUEUED, State.RUNNING])


def _remove_oldest(cluster: Cluster) -> None:
    for report in Report.objects.filter(cluster=cluster)[KEPT_MAX:]:
        delete(report)
