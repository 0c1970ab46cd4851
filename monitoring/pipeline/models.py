"""The database rows of the data pipeline: its runs, and the state of each cluster's levels.

They are for people and for retries. What has been computed is in the manifests of the history
alone, so nothing is lost or counted twice if rows are missing.
"""

from django.db import models


class RunState(models.TextChoices):
    """running → done | failed | waiting. What failed or waits is tried again.

    A run waits if Spark was not there or was lost, its worker ended, another worker was quicker, or
    a user starts or resumes a back-fill in which it failed.
    """

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class PipelineRun(models.Model):
    """One job of a cluster (due_jobs.py): the hour, day or range that starts at `start_ms`.

    `kind` is `hour` (minutes and the hour), `minute` or `only_hour` (the other one was there),
    `day` or `merge_<level>`. A job that is done again has the same row. `attempt` counts the
    attempts since it was last done, 0 if it is done. A wait for Spark is no attempt.
    """

    cluster = models.ForeignKey("monitoring.Cluster", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20)
    start_ms = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=RunState.choices)
    attempt = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField()
    seconds = models.FloatField(null=True)
    rows = models.BigIntegerField(null=True)
    bytes = models.BigIntegerField(null=True)
    # A Reason as `monitoring.error_reason.dumps` stores it.
    error = models.TextField(blank=True, default="")

    class Meta:
        app_label = "monitoring"
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "kind", "start_ms"], name="one_row_of_a_pipeline_job"
            )
        ]
        indexes = [models.Index(fields=["cluster", "-started_at"], name="run_by_cluster")]

    def __str__(self) -> str:
        return f"{self.kind} {self.start_ms} of {self.cluster_id}"


class PipelineState(models.Model):
    """What the levels of a cluster had when it was last looked at.

    `levels`: name → {last_ms, rows, files, bytes, bytes_a_day, seconds}; `seconds` of the last job
    that computed the level, not in rows of older versions. `written_from_ms`, `written_to_ms`: the
    written history (monitoring/history/written_range.py), null if there is none.
    """

    cluster = models.OneToOneField("monitoring.Cluster", on_delete=models.CASCADE, related_name="+")
    seen_ms = models.BigIntegerField(default=0)
    levels = models.JSONField(default=dict)
    waiting_hours = models.PositiveIntegerField(default=0)
    oldest_waiting_ms = models.BigIntegerField(null=True)
    written_from_ms = models.BigIntegerField(null=True)
    written_to_ms = models.BigIntegerField(null=True)

    class Meta:
        app_label = "monitoring"

    def __str__(self) -> str:
        return f"pipeline of {self.cluster_id}"


class Backfill(models.Model):
    """The hours of `[from_ms, to_ms)` are computed again, in order; `next_ms` is the position of
    the next job (backfill.py). `hours` and `days` count those that it has computed.

    The row is there until the back-fill is done or stopped. Another back-fill has another row, so
    that a job which was started for the one before does not move it.
    """

    cluster = models.OneToOneField("monitoring.Cluster", on_delete=models.CASCADE, related_name="+")
    from_ms = models.BigIntegerField()
    to_ms = models.BigIntegerField()
    next_ms = models.BigIntegerField()
    hours = models.PositiveIntegerField(default=0)
    days = models.PositiveIntegerField(default=0)

    class Meta:
        app_label = "monitoring"

    def __str__(self) -> str:
        return f"back-fill of {self.cluster_id}"


class LastBackfill(models.Model):
    """The back-fill of a cluster that was done last, not stopped: what it computed, and when it
    ended."""

    cluster = models.OneToOneField("monitoring.Cluster", on_delete=models.CASCADE, related_name="+")
    from_ms = models.BigIntegerField()
    to_ms = models.BigIntegerField()
    hours = models.PositiveIntegerField()
    days = models.PositiveIntegerField()
    ended_at = models.DateTimeField()

    class Meta:
        app_label = "monitoring"

    def __str__(self) -> str:
        return f"last back-fill of {self.cluster_id}"
