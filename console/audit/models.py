"""One row per action: who did what to what, from where, what was before and after, how it ended.

Rows are only ever added, and dropped only where services.drop_refused_sign_ins says so: whatever
else would change or drop one is an error. The actor's name is kept as text beside the account, so
that the row still says who it was when the account is gone.
"""

from datetime import datetime
from typing import Any, NoReturn

from django.conf import settings
from django.db import models

OUTCOMES = ("ok", "failed", "refused")


class OnlyAdded(TypeError):
    """Something tried to change or to drop an entry."""


class AuditEntries(models.QuerySet["AuditEntry"]):
    """Entries can be read and added; old refusals can be dropped."""

    def update(self, **changes: Any) -> NoReturn:
        raise OnlyAdded("an audit entry cannot be changed")

    def delete(self) -> NoReturn:
        raise OnlyAdded("an audit entry cannot be dropped")

    def drop_refused_sign_ins(self, before: datetime) -> None:
        refused = self.filter(verb="account.sign-in", outcome="refused", at__lt=before)
        super(AuditEntries, refused).delete()


class AuditEntry(models.Model):
    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=64, db_index=True)
    cluster = models.CharField(max_length=64, blank=True, db_index=True)
    resource = models.CharField(max_length=300, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    remote_addr = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=16, choices=[(name, name) for name in OUTCOMES])
    detail = models.TextField(blank=True)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.resource}: {self.outcome}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise OnlyAdded("an audit entry cannot be changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise OnlyAdded("an audit entry cannot be dropped")
