"""The consumer groups of a cluster: list and detail."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.groups import services
from console.live import store
from console.ui.table import Column, Table


def columns() -> list[Column]:
    return [
        Column("name", _("Group"), lambda row: row.name),
        Column("state", _("State"), lambda row: row.state),
        Column("members", _("Members"), lambda row: row.members, numeric=True),
        Column("topics", _("Topics"), lambda row: row.topics, numeric=True),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("coordinator", _("Coordinator"), lambda row: row.coordinator, numeric=True),
        Column("lag", _("Lag"), lambda row: row.lag, numeric=True),
    ]


@require_safe
@requires("group.view")
def index(request: HttpRequest, cluster: str) -> HttpResponse:
    shown = store.snapshot(cluster, request.rights)
    table = Table.of(request.GET, columns(), "-lag", id="groups")
    table.show(shown.groups if shown else [], lambda row: f"{row.name} {row.state}")
    context = {"table": table, "at_ms": shown.at_ms if shown else None}
    return render(request, "groups/index.html", context)


@require_safe
@requires("group.view")
def detail(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    context = services.context(request.cluster, request.rights, group)
    if context is None and store.snapshot(cluster, request.rights) is not None:
        raise Http404(_("The last sample knows no group “%(name)s”.") % {"name": group})
    return render(request, "groups/detail.html", {"name": group} | (context or {"group": None}))
