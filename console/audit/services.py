"""Writes the audit log: one row and one log line for each change made through the console.

Callers must not pass secrets.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.accounts.principal import Principal
from console.accounts.rights import granted_clusters, rights_of
from console.audit.jsonl import JsonLines
from console.audit.models import AuditEntry
from monitoring.scope import ANY, EVERYTHING, Scope

REFUSED_SIGN_INS_KEPT = timedelta(days=90)

_ABOUT_TOPIC = Q(verb__startswith="topic.") | Q(verb__startswith="record.")
_OF_RULES = r"^(alert|masking)\."

_lines = JsonLines(settings.AERIE_LOGS / "audit.jsonl")


def record(
    actor: Any,
    verb: str,
    cluster: str = "",
    resource: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    remote_addr: str = "",
    outcome: str = "ok",
    detail: str = "",
    actor_name: str = "",
) -> AuditEntry:
    """Record an action. `actor` is a user or None (the system, or `actor_name`).

    `before` and `after` are the changed values, as JSON. `outcome` is ok, failed or refused. Call
    it in the transaction of the change, so that both are saved or neither.
    """
    entry = AuditEntry.objects.create(
        at=timezone.now(),
        actor=actor if getattr(actor, "pk", None) else None,
        actor_name=getattr(actor, "username", "") or actor_name or "system",
        verb=verb,
        cluster=cluster,
        resource=resource[:300],
        before=before or {},
        after=after or {},
        remote_addr=remote_addr,
        outcome=outcome,
        detail=detail,
    )
    transaction.on_commit(lambda: _lines.append(_line(entry)))
    return entry


def record_by(
    principal: Principal,
    verb: str,
    cluster: str = "",
    resource: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> AuditEntry:
    """Record what a principal did."""
    return record(principal.user, verb, cluster, resource, before, after, principal.address)


def visible_to(user: Any) -> QuerySet[AuditEntry]:
    """The entries that contain only what the user may see."""
    entries = AuditEntry.objects.all()
    elsewhere = Q()
    for slug in granted_clusters(user):
        entries = entries.exclude(Q(cluster=slug) & _outside(rights_of(user, slug).scope))
        elsewhere &= ~Q(cluster=slug)
    return entries.exclude(elsewhere & ~Q(cluster="") & _outside(rights_of(user).scope))


def _outside(scope: Scope) -> Q:
    """Selects entries outside a scope: about topics that it does not show, and, if it does not show
    everything, all entries of alert and masking rules."""
    if scope == EVERYTHING:
        return Q(pk__in=[])
    hidden = sorted(scope.hidden_topics)
    outside = Q(resource__in=hidden)
    for field in ("before", "after"):
        outside |= Q(**{f"{field}__topic_pattern__in": hidden})
    if not scope.contains(Scope(hidden_topics=scope.hidden_topics)):
        names = Q(pk__in=[])
        for pattern in scope.topics:
            is_prefix = pattern.endswith(ANY)
            names |= Q(resource__startswith=pattern[:-1]) if is_prefix else Q(resource=pattern)
        outside |= _ABOUT_TOPIC & ~names | Q(verb__regex=_OF_RULES)
    return outside


def drop_refused_sign_ins() -> None:
    """Delete old refused sign-ins: anybody can cause them, so their number is not limited."""
    old = timezone.now() - REFUSED_SIGN_INS_KEPT
    AuditEntry.objects.drop_refused_sign_ins(before=old)


def _line(entry: AuditEntry) -> dict[str, Any]:
    """An entry as a line of the log file, which the demo traffic sends to Kafka."""
    kept = ("verb", "cluster", "resource", "before", "after", "remote_addr", "outcome")
    return {
        "at_ms": int(entry.at.timestamp() * 1000),
        "id": entry.pk,
        "actor": entry.actor_name,
        **{name: getattr(entry, name) for name in kept},
    }
