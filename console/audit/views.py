"""The page of the audit log; search and paging run in the database."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import UserRequest
from console.audit import services
from console.audit.models import AuditEntry
from console.audit.texts import key_title
from console.ui.queryset_table import Column, QuerySetTable
from console.ui.texts import sentence
from monitoring.reasons import loads

SEARCHED = ("actor_name", "verb", "cluster", "resource", "outcome")


def columns() -> list[Column]:
    return [
        Column("at", _("Time"), "id"),
        Column("actor", _("User"), "actor_name"),
        Column("verb", _("Action"), "verb"),
        Column("cluster", _("Cluster"), "cluster"),
        Column("resource", _("Resource")),
        Column("change", _("Before → after")),
        Column("outcome", _("Outcome"), "outcome"),
        Column("from", _("Address")),
    ]


@require_safe
@requires("audit.view")
def index(request: UserRequest) -> HttpResponse:
    table = QuerySetTable(request.GET, columns(), "-at", id="audit")
    table.show(services.visible_to(request.principal), SEARCHED).map_rows(_row)
    return render(request, "audit/index.html", {"table": table})


def _row(entry: AuditEntry) -> dict[str, Any]:
    keys = [*entry.before, *(key for key in entry.after if key not in entry.before)]
    changed = [
        (key_title(key), entry.before.get(key), entry.after.get(key))
        for key in keys
        if entry.before.get(key) != entry.after.get(key)
    ]
    return {
        "entry": entry,
        "at_ms": int(entry.at.timestamp() * 1000),
        "changed": changed,
        "detail": sentence(loads(entry.detail)),
    }
