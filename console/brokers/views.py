"""The brokers of one cluster: list, broker, its settings, the form of a setting."""

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
from console.brokers.forms import BrokerSettingForm
from console.brokers.listeners import listeners
from console.charts import cards
from console.live.page_renderer import LivePart, render_live
from console.ui import settings_table
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.setting_units import Unit, unit_of
from console.ui.texts import sentence
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster


@require_safe
@requires("broker.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "brokers/index.html", LivePart(request, "brokers"))


@require_safe
@requires("broker.view")
def detail(request: ClusterRequest, cluster: str, broker: int) -> HttpResponse:
    broker_page.raise_if_unknown(request, broker)
    part = LivePart(request, "broker", str(broker))
    extra = cards.context(request, broker_page.charts(broker))
    tabs = broker_page.tabs(request, broker, "broker")
    extra |= {"id": broker, "tabs": tabs, "broker": None}  # None without a sample
    return render_live(request, "brokers/detail.html", part, **extra)


@require_safe
@requires("broker.view")
def config(request: ClusterRequest, cluster: str, broker: int) -> HttpResponse:
    context: dict[str, Any] = {
        "id": broker,
        "cluster": request.cluster,
        "tabs": broker_page.tabs(request, broker, "broker-config"),
        "may_edit": request.rights.may("broker.configure") and not request.cluster.read_only,
    }
    try:
        entries = _settings(request, broker)
        context |= settings_table.build(request.GET, entries)
        context["listeners"] = listeners(entries)
        status = 200
    except GatewayError as error:
        context["error"] = sentence(error.message)
        status = http_status_of(error)
    return page_or_csv(request, "brokers/config.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("broker.configure")
def setting(request: ClusterRequest, cluster: str, broker: int, name: str) -> HttpResponse:
    """The form of one setting; POST makes a plan."""
    context: dict[str, Any] = {"id": broker, "name": name, "entry": None, "reason": ""}
    if request.cluster.read_only:
        context["reason"] = _("This cluster is read-only in this console.")
        return render(request, "brokers/setting.html", context, status=422)
    try:
        entries = {entry.name: entry for entry in _settings(request, broker)}
        if name not in entries:
            raise Http404(_("Broker %(id)d has no setting of this name.") % {"id": broker})
        context["entry"] = entry = entries[name]
        if entry.is_read_only or entry.is_sensitive:
            context["reason"] = _("This setting cannot be changed here while the broker runs.")
            return render(request, "brokers/setting.html", context, status=422)
        context["form"] = form = BrokerSettingForm(form_data(request), _unit(entry))
        if not form.is_bound:
            form.initial["value"] = entry.value
            return render(request, "brokers/setting.html", context)
        if form.is_valid():
            return redirect_to_plan(
                request,
                form,
                lambda: services.propose(
                    request.principal, request.cluster, "broker.configure", str(broker),
                    form.params(broker, name),
                ),
                lambda status: render(request, "brokers/setting.html", context, status=status),
            )  # fmt: skip
    except GatewayError as error:
        text = _("The broker could not be read: %(why)s") % {"why": sentence(error.message)}
        context["reason"] = text
        return render(request, "brokers/setting.html", context, status=http_status_of(error))
    return render(request, "brokers/setting.html", context, status=422)


def _unit(entry: ConfigValue) -> Unit | None:
    """The unit of a setting, None = it has none. Only for a number its documentation is read."""
    is_number = (entry.value or entry.default or "").removeprefix("-").isdigit()
    return unit_of(entry.name, entry.documentation if is_number else "")


def _settings(request: ClusterRequest, broker: int) -> list[ConfigValue]:
    """Raises GatewayError, or Http404 for a broker that the last sample does not have."""
    broker_page.raise_if_unknown(request, broker)
    with for_cluster(request.cluster) as gateway:
        return gateway.broker_configs.describe(broker)
