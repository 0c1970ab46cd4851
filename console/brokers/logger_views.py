"""The loggers of a broker, and the form of a level."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import services
from console.actions.redirect_to_plan import form_data, redirect_to_plan
from console.brokers import broker_page
from console.brokers.actions.set_log_level import SetLogLevel
from console.brokers.forms import LogLevelForm
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.table import Column, Table
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster


@require_safe
@requires("broker.view")
def index(request: ClusterRequest, cluster: str, broker: int) -> HttpResponse:
    context: dict[str, Any] = {
        "id": broker,
        "cluster": request.cluster,
        "tabs": broker_page.tabs(request, broker, "broker-loggers"),
        "may_edit": request.rights.may("broker.configure") and not request.cluster.read_only,
    }
    columns = [
        Column("name", _("Logger"), lambda row: row[0]),
        Column("level", _("Level"), lambda row: row[1]),
    ]
    table = Table(request.GET, columns, "name", id="loggers", page_size=200)
    status = 200
    try:
        rows = list(_levels(request, broker).items())
        context["table"] = table.show(rows, lambda row: f"{row[0]} {row[1]}")
    except GatewayError as error:
        context["error"] = sentence(error.message)
        status = http_status_of(error)
    return page_or_csv(request, "brokers/loggers.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("broker.configure")
def level(request: ClusterRequest, cluster: str, broker: int, name: str) -> HttpResponse:
    """The form of one logger; POST makes a plan."""
    form = LogLevelForm(form_data(request))
    context: dict[str, Any] = {"id": broker, "name": name, "form": form, "reason": ""}
    template, status = "brokers/logger.html", 422
    if request.cluster.read_only:
        context["reason"] = _("This cluster is read-only in this console.")
        return render(request, template, context, status=status)
    try:
        levels = _levels(request, broker)
        if name not in levels:
            raise Http404(_("Broker %(id)d has no logger of this name.") % {"id": broker})
        context["level"] = form.initial["level"] = levels[name]
        if not form.is_bound:
            return render(request, template, context)
        if form.is_valid():
            params = {"broker": broker, "levels": {name: form.cleaned_data["level"]}}
            return redirect_to_plan(
                request,
                form,
                lambda: services.propose(
                    request.principal, request.cluster, SetLogLevel.action, str(broker), params
                ),
                lambda status: render(request, template, context, status=status),
            )
    except GatewayError as error:
        text = _("The broker could not be read: %(why)s") % {"why": sentence(error.message)}
        context["reason"] = text
        status = http_status_of(error)
    return render(request, template, context, status=status)


def _levels(request: ClusterRequest, broker: int) -> dict[str, str]:
    """Logger → level. Raises GatewayError, or Http404 for a broker that is not in the sample."""
    broker_page.raise_if_unknown(request, broker)
    with for_cluster(request.cluster) as gateway:
        found = gateway.broker_configs.describe_loggers(broker)
    return {entry.name: entry.value or "" for entry in found}
