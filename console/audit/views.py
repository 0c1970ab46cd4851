"""The audit log: searched, paged in the database (it only grows)."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.audit import services
from console.audit.models import AuditEntry
from console.ui.table import Column, Table


def columns() -> list[Column]:
    return [
        Column("at", _("When"), lambda row: row.at),
        Column("actor", _("Who"), lambda row: row.actor_name),
        Column("verb", _("What"), lambda row: row.verb),
        Column("cluster", _("Cluster"), lambda row: row.cluster),
        Column("resource", _("On")),
        Column("change", _("Before → after")),
        Column("outcome", _("Outcome"), lambda row: row.outcome),
        Column("from", _("From")),
    ]


_ORDER = {"at": "id", "actor": "actor_name"}


@require_safe
@requires("audit.view")
def index(request: HttpRequest) -> HttpResponse:
    table = Table.of(request.GET, columns(), "-at", id="audit")
    key = table.sort.removeprefix("-")
    sign = "-" if table.sort.startswith("-") else ""
    ordered = _search(services.visible_to(request.user), table.query).order_by(
        sign + _ORDER.get(key, key), "-id"
    )
    pages = Paginator(ordered, table.page_size)
    table.total = pages.count
    table.page = max(1, min(table.page, pages.num_pages))
    table.rows = [_row(entry) for entry in pages.page(table.page)]
    return render(request, "audit/index.html", {"table": table})


def _search(entries: QuerySet[AuditEntry], query: str) -> QuerySet[AuditEntry]:
    for word in query.replace("\x00", " ").split():  # PostgreSQL takes no NUL, not even to search
        entries = entries.filter(
            Q(actor_name__icontains=word)
            | Q(verb__icontains=word)
            | Q(cluster__icontains=word)
            | Q(resource__icontains=word)
            | Q(outcome__icontains=word)
        )
    return entries


def _row(entry: AuditEntry) -> dict[str, Any]:
    keys = [*entry.before, *(key for key in entry.after if key not in entry.before)]
    changed = [
        (key, entry.before.get(key), entry.after.get(key))
        for key in keys
        if entry.before.get(key) != entry.after.get(key)
    ]
    return {"entry": entry, "at_ms": int(entry.at.timestamp() * 1000), "changed": changed}
