"""The page of the audit log; filters, search and paging run in the database."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import UserRequest
from console.audit import services
from console.audit.forms import SIGN_INS, AuditFilter
from console.audit.models import AuditEntry
from console.audit.texts import key_title
from console.ui.csv_export import render_list
from console.ui.queryset_table import Column, QuerySetTable
from console.ui.texts import sentence
from monitoring.reasons import loads

SEARCHED = ("actor_name", "action", "cluster", "resource", "outcome")


def columns() -> list[Column]:
    return [
        Column("at", _("Time"), "id", exported=lambda entry: entry.at),
        Column("actor", _("User"), "actor_name"),
        Column("action", _("Action"), "action"),
        Column("cluster", _("Cluster"), "cluster"),
        Column("resource", _("Resource"), "resource"),
        Column("change", _("Before → after")),
        Column("outcome", _("Outcome"), "outcome"),
        Column("from", _("Address"), "remote_addr"),
    ]


@require_safe
@requires("audit.view")
def index(request: UserRequest) -> HttpResponse:
    entries = services.visible_to(request.principal)
    form = AuditFilter(request.GET, entries)
    table = QuerySetTable(request.GET, columns(), "-at", id="audit")
    table.show(form.select(entries), SEARCHED).map_rows(_row)
    context = {"table": table, "form": form, "tabs": _tabs(form.shows_sign_ins)}
    return render_list(request, "audit/index.html", context, status=200 if form.is_valid() else 422)


def _tabs(shows_sign_ins: bool) -> list[dict[str, Any]]:
    return [
        {"title": _("Actions"), "url": "?", "active": not shows_sign_ins},
        {"title": _("Sign-ins"), "url": f"?show={SIGN_INS}", "active": shows_sign_ins},
    ]


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
