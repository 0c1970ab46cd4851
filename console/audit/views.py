"""The page of the audit log, and its CSV; filters, search and paging run in the database."""

import json
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest, UserRequest
from console.audit import visible_entries
from console.audit.forms import SIGN_INS, AuditFilter
from console.audit.models import PLANS_KEPT, AuditEntry
from console.ui.csv_export import page_or_csv
from console.ui.day_range import day_links
from console.ui.queryset_table import Column, QuerySetTable
from console.ui.texts import sentence
from monitoring.error_reason import loads

SEARCHED = ("actor_name", "action", "cluster", "resource", "outcome")


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False) if values else ""


def columns() -> list[Column]:
    return [
        Column("at", _("Time"), "id", exported=lambda entry: entry.at),
        Column("actor", _("User"), "actor_name"),
        Column("action", _("Action"), "action"),
        Column("cluster", _("Cluster"), "cluster"),
        Column("resource", _("Resource"), "resource"),
        Column("change", _("Before → after")),
        Column(
            "before", _("Before"), exported=lambda entry: _json(entry.before), is_only_in_csv=True
        ),
        Column("after", _("After"), exported=lambda entry: _json(entry.after), is_only_in_csv=True),
        Column(
            "detail", _("Detail"), exported=lambda entry: loads(entry.detail), is_only_in_csv=True
        ),
        Column("outcome", _("Outcome"), "outcome"),
        Column("from", _("Address"), "remote_addr"),
    ]


@require_safe
@requires("audit.view")
def index(request: UserRequest) -> HttpResponse:
    """The audit log of all clusters."""
    return _page(request, visible_entries.visible_to(request.principal), has_sign_ins=True)


@require_safe
@requires("audit.view")
def of_cluster(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The audit log of a cluster, also for users who are admins of this cluster only."""
    entries = visible_entries.of_cluster(cluster, request.rights.scope)
    return _page(request, entries, has_sign_ins=False)


def _page(
    request: UserRequest, entries: QuerySet[AuditEntry], *, has_sign_ins: bool
) -> HttpResponse:
    form = AuditFilter(request.GET, entries)
    table = QuerySetTable(request.GET, columns(), "-at", id="audit")
    table.show(form.select(entries), SEARCHED).map_rows(_row)
    context = {
        "table": table,
        "form": form,
        "tabs": _tabs(form.shows_sign_ins) if has_sign_ins else [],
        "days": day_links(table),
    }
    return page_or_csv(request, "audit/index.html", context, status=200 if form.is_valid() else 422)


def _tabs(shows_sign_ins: bool) -> list[dict[str, Any]]:
    return [
        {"title": _("Actions"), "url": "?", "active": not shows_sign_ins},
        {"title": _("Sign-ins"), "url": f"?show={SIGN_INS}", "active": shows_sign_ins},
    ]


def _plan_url(entry: AuditEntry) -> str:
    """The page of the plan that was applied; empty if there was none, or it is deleted by now."""
    if entry.plan is None or timezone.now() - entry.at >= PLANS_KEPT:
        return ""
    return reverse("plan", args=[entry.cluster, entry.plan])


def _row(entry: AuditEntry) -> dict[str, Any]:
    keys = [*entry.before, *(key for key in entry.after if key not in entry.before)]
    changed = [
        (_key_title(key), entry.before.get(key), entry.after.get(key))
        for key in keys
        if entry.before.get(key) != entry.after.get(key)
    ]
    return {
        "entry": entry,
        "plan_url": _plan_url(entry),
        "at_ms": int(entry.at.timestamp() * 1000),
        "changed": changed,
        "detail": sentence(loads(entry.detail)),
    }


def _key_title(key: str) -> str:
    """The title of a key of `before` and `after`; unknown keys are shown unchanged."""
    return {
        "topic": _("Topic"),
        "partitions": _("Partitions"),
        "replication_factor": _("Replication factor"),
        "offsets": _("Offsets"),
        "size_bytes": _("Size in bytes"),
    }.get(key, key)
