"""A report: what was asked, how far it is, and where its result lies."""

import uuid

from django.conf import settings
from django.db import models


class State(models.TextChoices):
    """queued → running → done | failed | cancelled; a lost worker sends running back to queued."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Report(models.Model):
    """One run of one kind of report over one cluster.

    `hidden_prefixes` are the topic names that its owner may not see: it was computed without
    them. Somebody with more to hide must not read it (services.readable_with).
    `attempt` fences: a worker that was believed dead writes nothing over its successor.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    cluster = models.ForeignKey(
        "monitoring.Cluster", on_delete=models.CASCADE, related_name="reports"
    )
    params = models.JSONField(default=dict)
    hidden_prefixes = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.PositiveSmallIntegerField(default=0)  # per cent
    stage = models.CharField(max_length=40, blank=True, default="")  # a key, worded by the page
    error = models.CharField(max_length=40, blank=True, default="")  # likewise
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)  # to the queue; null = it could not be
    heartbeat_at = models.DateTimeField(null=True)  # of the worker that runs it
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
    def is_finished(self) -> bool:
        return self.state in (State.DONE, State.FAILED, State.CANCELLED)
