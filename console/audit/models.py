"""The audit log: one row per action, with actor, resource, address, changes and outcome.

The table is append-only: rows cannot be changed, and only old refused sign-ins are
deleted (tasks.py). The actor's name is also stored as text, in case the
account is deleted.
"""

from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.db import models

SIGN_IN = "account.sign-in"  # the action of entries about sign-ins
OUTCOMES = ("ok", "failed", "refused", "stopped")
PLANS_KEPT = timedelta(days=90)  # plans are deleted then; their audit entries stay


class AppendOnlyError(TypeError):
    """An attempt to change or delete an entry."""


class AuditEntries(models.QuerySet["AuditEntry"]):
    """Entries can be read and added; only old refused sign-ins can be deleted."""

    def update(self, **changes: Any) -> NoReturn:
        raise AppendOnlyError("an audit entry cannot be changed")

    def delete(self) -> NoReturn:
        raise AppendOnlyError("an audit entry cannot be deleted")

    def drop_refused_sign_ins(self, before: datetime) -> None:
        refused = self.filter(action=SIGN_IN, outcome="refused", at__lt=before)
        super(AuditEntries, refused).delete()


class AuditEntry(models.Model):
    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=64, db_index=True)
    cluster = models.CharField(max_length=64, blank=True, db_index=True)
    resource = models.CharField(max_length=300, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    remote_addr = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=16, choices=[(name, name) for name in OUTCOMES])
    detail = models.TextField(blank=True)
    # The id of the plan that ended (console.actions.models.Plan). The plan is deleted after
    # PLANS_KEPT, this entry is not.
    plan = models.UUIDField(null=True)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.resource}: {self.outcome}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError("an audit entry cannot be changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("an audit entry cannot be deleted")
