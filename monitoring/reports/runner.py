"""One report, from the queue to its stored result. Runs in a worker of the queue `spark`.

Claim the row, wait for Spark, compute, store, finish. Every write names the attempt it belongs
to: a worker that was believed dead, and a report that was cancelled meanwhile, change nothing.

While the main thread waits for Spark, a second one writes a heartbeat (its absence is how
`requeue_lost_reports` knows that a worker died) and looks whether the report was cancelled; then it
interrupts what Spark is doing, by tag.
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
from monitoring.reports.kinds import KINDS, Kind
from monitoring.reports.models import Report, State
from monitoring.reports.progress import Progress, SparkStage
from monitoring.spark.config import from_settings
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
_LOOK_S = 0.3
_WRITE_S = 0.5

_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """The row no longer says that this attempt is running."""


class Attempt:
    """One try at one report: the only writer of its row while it lasts."""

    def __init__(self, report: Report, kind: Kind) -> None:
        self.report = report
        self.progress = Progress(len(kind.stages))
        self._kind = kind
        self._row = Report.objects.filter(pk=report.pk, state=State.RUNNING, attempt=report.attempt)
        self._written_s = 0.0
        self.cancelled = threading.Event()
        self.spark_is_busy = threading.Event()

    def write(self, **fields: object) -> None:
        """Raises Cancelled when this attempt is no longer the one that counts."""
        self._written_s = time.monotonic()
        if not self._row.update(heartbeat_at=timezone.now(), **fields):
            self.cancelled.set()
            raise Cancelled

    def enter(self, stage: int) -> None:
        """Spark's work at the stage of this number begins."""
        self.spark_is_busy.clear()
        self.write(stage=self._kind.stages[stage], progress=self.progress.enter(stage))

    def on_spark_progress(
        self,
        stages: Iterable[SparkStage] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        """Spark's progress handler. Raising here would only be logged, so it does not."""
        before = self.progress.percent
        percent = self.progress.tasks(stages or ())
        if inflight_tasks:
            self.spark_is_busy.set()
        if percent > before and time.monotonic() - self._written_s >= _WRITE_S:
            self._written_s = time.monotonic()
            self._row.update(progress=percent)

    @contextmanager
    def watched(self, spark: SparkSession, tag: str) -> Iterator[None]:
        """Heartbeats meanwhile, and an interrupt when the report is cancelled."""
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(spark, tag, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _watch(self, spark: SparkSession, tag: str, over: threading.Event) -> None:
        try:
            beat_s = time.monotonic()
            while not over.wait(_LOOK_S):
                if not self._row.exists():
                    self.cancelled.set()
                    return self._interrupt(spark, tag, over)
                if time.monotonic() - beat_s >= HEARTBEAT_S:
                    beat_s = time.monotonic()
                    self._row.update(heartbeat_at=timezone.now())
        finally:
            connection.close()  # this thread's own

    def _interrupt(self, spark: SparkSession, tag: str, over: threading.Event) -> None:
        """Until the main thread is out. A query without tasks yet would run on regardless."""
        self.spark_is_busy.wait(2)
        while not over.is_set():
            with suppress(PySparkException):  # Spark may be stopping as well
                spark.interruptTag(tag)
            over.wait(1)


def run_report(report_id: uuid.UUID) -> None:
    """Computes a queued report. A report that is gone, taken or finished is left alone."""
    attempt = _claim(report_id)
    if attempt is None:
        return
    try:
        outcome = _compute(attempt)
        attempt.write(stage="storing", progress=99)
        _store(attempt, outcome)
    except Cancelled:
        _log.info("report %s was cancelled or handed back", report_id)
    except SparkUnavailable as error:
        _log.warning("report %s: %s", report_id, error)
        _fail(attempt, "spark_absent" if error.retriable else "spark_refused")
    except SoftTimeLimitExceeded:
        _fail(attempt, "too_long")
    except Exception as error:
        _log.exception("report %s failed", report_id)
        _fail(attempt, "samples_gone" if _is_of_files(error) else "failed")


def _is_of_files(error: Exception) -> bool:
    """Whether a stored file of samples is not there, or cannot be read."""
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
    """Waits for Spark, at the start and when it was restarted meanwhile.

    Raises Cancelled, SparkUnavailable, or whatever the job raises.
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
        # Typed as a class of theirs; any callable will do.
        spark.registerProgressHandler(attempt.on_spark_progress)  # type: ignore[arg-type]
        try:
            with attempt.watched(spark, tag):
                return KINDS[report.kind].compute(spark, report, attempt.enter)
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
        if not Report.objects.filter(pk=report.pk, state=State.DONE).exists():
            result_files.remove(report.id)
        raise


def _fail(attempt: Attempt, error: str) -> None:
    try:
        attempt.write(state=State.FAILED, error=error, stage="", finished_at=timezone.now())
    except Cancelled:
        pass
