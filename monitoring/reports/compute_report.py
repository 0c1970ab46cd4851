"""Computes one report and stores its result. Runs in a worker of the queue `spark`.

The steps: claim the row, wait for Spark, compute, store, finish. Every update filters by the
attempt's number, so a worker that was considered dead, or whose report was cancelled, changes
nothing.

While the main thread waits for Spark, a second thread writes heartbeats and checks whether the
report was cancelled; if so, it interrupts the Spark query by its tag. `requeue_lost_reports`
detects dead workers by missing heartbeats.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.utils import timezone
from pyspark.errors import PySparkException

from monitoring.reports import result_files
from monitoring.reports.kinds import KINDS, ReportKind
from monitoring.reports.models import Report, State
from monitoring.reports.progress import ReportProgress, SparkStage
from monitoring.spark.server_config import from_settings
from monitoring.spark.session import (
    SparkStarting,
    SparkUnavailable,
    open_session,
    session_lost_error,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from monitoring.spark.jobs.throughput_and_lag import Outcome

SPARK_WAIT_S = 300
HEARTBEAT_S = 5.0
_POLL_S = 0.3
_WRITE_S = 0.5

_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """This attempt is no longer the running one."""


class Attempt:
    """One attempt to compute a report; the only writer of its row while it runs."""

    def __init__(self, report: Report, kind: ReportKind) -> None:
        self.report = report
        self.progress = ReportProgress(len(kind.stages))
        self._kind = kind
        self._row = Report.objects.filter(pk=report.pk, state=State.RUNNING, attempt=report.attempt)
        self._written_s = 0.0
        self.cancelled = threading.Event()
        self.spark_is_busy = threading.Event()

    def write(self, **fields: object) -> None:
        """Update the row. Raises Cancelled if this attempt is no longer the running one."""
        self._written_s = time.monotonic()
        if not self._row.update(heartbeat_at=timezone.now(), **fields):
            self.cancelled.set()
            raise Cancelled

    def start_stage(self, stage: int) -> None:
        """Stage number `stage` begins."""
        self.spark_is_busy.clear()
        self.write(stage=self._kind.stages[stage], progress=self.progress.start_stage(stage))

    def on_spark_progress(
        self,
        stages: Iterable[SparkStage] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        """Spark's progress handler. It must not raise: Spark would only log the exception."""
        before = self.progress.percent
        percent = self.progress.update(stages or ())
        if inflight_tasks:
            self.spark_is_busy.set()
        if percent > before and time.monotonic() - self._written_s >= _WRITE_S:
            self._written_s = time.monotonic()
            self._row.update(progress=percent)

    @contextmanager
    def monitored(self, spark: SparkSession, tag: str) -> Iterator[None]:
        """Write heartbeats inside, and interrupt Spark if the report is cancelled."""
        finished = threading.Event()
        thread = threading.Thread(target=self._monitor, args=(spark, tag, finished), daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()

    def _monitor(self, spark: SparkSession, tag: str, finished: threading.Event) -> None:
        try:
            heartbeat_s = time.monotonic()
            while not finished.wait(_POLL_S):
                if not self._row.exists():
                    self.cancelled.set()
                    return self._interrupt(spark, tag, finished)
                if time.monotonic() - heartbeat_s >= HEARTBEAT_S:
                    heartbeat_s = time.monotonic()
                    self._row.update(heartbeat_at=timezone.now())
        finally:
            connection.close()  # of this thread

    def _interrupt(self, spark: SparkSession, tag: str, finished: threading.Event) -> None:
        """Interrupt until the main thread has finished: a query that has no tasks yet ignores
        it."""
        self.spark_is_busy.wait(2)
        while not finished.is_set():
            with suppress(PySparkException):  # Spark may be stopping
                spark.interruptTag(tag)
            finished.wait(1)


def run_report(report_id: uuid.UUID) -> None:
    """Compute a queued report; does nothing if it was deleted, claimed or finished."""
    attempt = _claim(report_id)
    if attempt is None:
        return
    try:
        outcome = _compute(attempt)
        attempt.write(stage="storing", progress=99)
        _store(attempt, outcome)
    except Cancelled:
        _log.info("report %s was cancelled or queued again", report_id)
    except SparkUnavailable as error:
        _log.warning("report %s: %s", report_id, error)
        _fail(attempt, "spark_absent" if error.retriable else "spark_refused")
    except SoftTimeLimitExceeded:
        _fail(attempt, "too_long")
    except Exception as error:
        _log.exception("report %s failed", report_id)
        _fail(attempt, "samples_gone" if _is_file_error(error) else "failed")


def _is_file_error(error: Exception) -> bool:
    """Whether a file of the history is missing or cannot be read."""
    return any(word in str(error) for word in ("PATH_NOT_FOUND", "FAILED_READ_FILE"))


def _claim(report_id: uuid.UUID) -> Attempt | None:
    queued = Report.objects.select_related("cluster").filter(pk=report_id, state=State.QUEUED)
    report = queued.first()
    if report is None:
        return None
    report.attempt += 1
    taken = queued.filter(attempt=report.attempt - 1).update(
        state=State.RUNNING,
        attempt=report.attempt,
        stage="starting",
        progress=0,
        heartbeat_at=timezone.now(),
    )
    return Attempt(report, KINDS[report.kind]) if taken else None


def _compute(attempt: Attempt) -> Outcome:
    """Compute the report; wait for Spark if it starts or restarts.

    Raises Cancelled, SparkUnavailable, or the job's errors.
    """
    deadline_s = time.monotonic() + SPARK_WAIT_S
    while True:
        try:
            return _compute_now(attempt)
        except SparkStarting:
            if time.monotonic() > deadline_s:
                raise
            attempt.write(stage="starting")
            time.sleep(1)


def _compute_now(attempt: Attempt) -> Outcome:
    report = attempt.report
    with open_session(from_settings()) as spark:
        tag = f"report-{report.id.hex}"
        spark.addTag(tag)
        # PySpark declares a class for handlers, but takes any callable.
        spark.registerProgressHandler(attempt.on_spark_progress)  # type: ignore[arg-type]
        try:
            with attempt.monitored(spark, tag):
                return KINDS[report.kind].compute(spark, report, attempt.start_stage)
        except PySparkException as error:
            if attempt.cancelled.is_set():
                raise Cancelled from None
            raise (session_lost_error(error) or error) from error


def _store(attempt: Attempt, outcome: Outcome) -> None:
    report = attempt.report
    charts = KINDS[report.kind].charts(outcome.tables, outcome.figures)
    folder = result_files.write(report.id, outcome.tables, outcome.figures, charts)
    finish: dict[str, Any] = {"state": State.DONE, "progress": 100, "stage": ""}
    try:
        attempt.write(**finish, result_dir=folder, finished_at=timezone.now())
    except Cancelled:
        # If a later attempt is done, the folder has its result.
        if not Report.objects.filter(pk=report.pk, state=State.DONE).exists():
            result_files.remove(report.id)
        raise


def _fail(attempt: Attempt, error: str) -> None:
    try:
        attempt.write(state=State.FAILED, error=error, stage="", finished_at=timezone.now())
    except Cancelled:
        pass
