"""The database row of a report: parameters, progress, and the folder of its result."""

import uuid

from django.conf import settings
from django.db import models

from monitoring.scope import ANY, Scope


class State(models.TextChoices):
    """queued → running → done | failed | cancelled; running → queued if the worker was lost."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


def every_name() -> list[str]:
    return [ANY]


class Report(models.Model):
    """One report of one kind about one cluster.

    `topics`, `groups` and `hidden_topics` are the scope that it was computed within. Who does not
    see all of that must not read it (report_lifecycle.get).
    `attempt` is a fencing number: a worker that was considered dead cannot overwrite its successor.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    cluster = models.ForeignKey(
        "monitoring.Cluster", on_delete=models.CASCADE, related_name="reports"
    )
    params = models.JSONField(default=dict)
    topics = models.JSONField(default=every_name)
    groups = models.JSONField(default=every_name)
    hidden_topics = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)  # per cent
    # Codes; console/reports/texts.py has their texts. error: "" = none.
    stage = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=40, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)  # to the queue; null = not sent yet
    heartbeat_at = models.DateTimeField(null=True)  # when its worker last wrote one
    finished_at = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    result_dir = models.CharField(max_length=80, blank=True, default="")  # below data/reports

    class Meta:
        app_label = "monitoring"
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["cluster", "-created_at"], name="report_by_cluster")]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def scope(self) -> Scope:
        return Scope(tuple(self.topics), tuple(self.groups), frozenset(self.hidden_topics))

    @property
    def is_limited(self) -> bool:
        """Whether it is about some topics or groups only."""
        return bool(self.topics != [ANY] or self.groups != [ANY])

    @property
    def is_finished(self) -> bool:
        return self.state in (State.DONE, State.FAILED, State.CANCELLED)
