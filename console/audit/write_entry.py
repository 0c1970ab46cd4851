"""Writes an entry of the audit log: a row and a log line for each change made by the console.

Callers must not pass secrets.
"""

import uuid
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from console.accounts.principal import Principal
from console.audit.models import AuditEntry
from console.audit.rotating_json_log import RotatingJsonLog

_lines = RotatingJsonLog(settings.AERIE_LOGS / "audit.jsonl")


def record(
    actor: Any,
    action: str,
    cluster: str = "",
    resource: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    remote_addr: str = "",
    outcome: str = "ok",
    detail: str = "",
    actor_name: str = "",
    plan: uuid.UUID | None = None,
) -> AuditEntry:
    """Record an action. `actor` is a user or None (the system, or `actor_name`).

    `before` and `after` are the changed values, as JSON. `outcome` is one of OUTCOMES. Call
    it in the transaction of the change, so that both are saved or neither.
    """
    entry = AuditEntry.objects.create(
        at=timezone.now(),
        actor=actor if getattr(actor, "pk", None) else None,
        actor_name=getattr(actor, "username", "") or actor_name or "system",
        action=action,
        cluster=cluster,
        resource=resource[:300],
        before=before or {},
        after=after or {},
        remote_addr=remote_addr,
        outcome=outcome,
        detail=detail,
        plan=plan,
    )
    transaction.on_commit(lambda: _lines.append(_line(entry)))
    return entry


def record_by(
    principal: Principal,
    action: str,
    cluster: str = "",
    resource: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> AuditEntry:
    """Record what a principal did."""
    return record(principal.user, action, cluster, resource, before, after, principal.address)


def _line(entry: AuditEntry) -> dict[str, Any]:
    """An entry as a line of the log file, which the demo traffic sends to Kafka."""
    names = ("cluster", "resource", "before", "after", "remote_addr", "outcome")
    return {
        "at_ms": int(entry.at.timestamp() * 1000),
        "id": entry.pk,
        "actor": entry.actor_name,
        "verb": entry.action,  # consumers of the topic console.audit expect this key
        **{name: getattr(entry, name) for name in names},
    }
