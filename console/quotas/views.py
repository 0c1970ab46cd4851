"""The client quotas of a cluster, and the form of one entity."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import services
from console.actions.redirect_to_plan import form_data, redirect_to_plan
from console.live import snapshot_cache
from console.quotas.actions.change_quotas import ChangeQuotas
from console.quotas.entities import TYPES, entity_of, title_of
from console.quotas.forms import QuotaForm
from console.quotas.quota_rows import number_text, quota_row
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.table import Column, Table
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.wire.quotas import Entity


@require_safe
@requires("quota.edit")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    context: dict[str, Any] = {"may_edit": not request.cluster.read_only}
    snapshot = snapshot_cache.snapshot(cluster, request.rights)
    brokers = snapshot.brokers if snapshot else []
    context["is_brokerd"] = any(broker.source == "brokerd" for broker in brokers)
    columns = [
        Column("entity", _("Entity"), lambda row: row["entity"]),
        Column("quotas", _("Quotas"), lambda row: row["quotas"]),
    ]
    table = Table(request.GET, columns, "entity", id="quotas")
    status = 200
    try:
        with for_cluster(request.cluster) as gateway:
            rows = [quota_row(quota) for quota in gateway.quotas.describe()]
        context["table"] = table.show(rows, lambda row: f"{row['entity']} {row['quotas']}")
    except GatewayError as error:
        context["error"] = sentence(error.message)
        status = http_status_of(error)
    return page_or_csv(request, "quotas/index.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("quota.edit")
def edit(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The form of the entity in the query; POST makes a plan."""
    form = QuotaForm(form_data(request))
    context: dict[str, Any] = {"form": form, "title": _("Change quotas"), "reason": ""}
    context["list_page"] = "quotas"
    template, status = "quotas/form.html", 422
    if request.cluster.read_only:
        context["reason"] = _("This cluster is read-only in this console.")
        return render(request, template, context, status=status)
    try:
        if not form.is_bound:
            names = {kind: request.GET.get(kind, "")[:300] for kind in TYPES}
            form.initial = {kind.replace("-", "_"): name for kind, name in names.items()}
            now = _current_quotas(request, entity_of(names))
            form.initial |= {key: number_text(value) for key, value in now.items()}
            return render(request, template, context)
        if form.is_valid():
            values = form.changed_values(_current_quotas(request, form.entity))
            params = {"entity": [list(pair) for pair in form.entity], "values": values}
            return redirect_to_plan(
                request,
                form,
                lambda: services.propose(
                    request.principal, request.cluster, ChangeQuotas.action,
                    title_of(form.entity)[:300], params,
                ),
                lambda status: render(request, template, context, status=status),
            )  # fmt: skip
    except GatewayError as error:
        context["reason"] = sentence(error.message)
        status = http_status_of(error)
    return render(request, template, context, status=status)


def _current_quotas(request: ClusterRequest, entity: Entity) -> dict[str, float]:
    with for_cluster(request.cluster) as gateway:
        found = gateway.quotas.describe()
    return dict(next((quota.values for quota in found if quota.entity == entity), {}))
