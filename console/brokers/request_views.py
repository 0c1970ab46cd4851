"""The page of a broker's requests by API; it reloads its figures while it is visible."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.brokers import broker_page, request_table
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.table import Table
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.request_metrics import read_request_figures
from monitoring.request_metrics.figures_between_readings import Figures

SINCE_START = "start"


@require_safe
@requires("broker.view")
def index(request: ClusterRequest, cluster: str, broker: int) -> HttpResponse:
    """In the query, `over=start` stands for the time since the broker's start, else it is the last
    seconds; `parts` is the figure of the parts of the time, one of FIGURES."""
    broker_page.raise_if_unknown(request, broker)
    context: dict[str, Any] = {
        "id": broker,
        "cluster": request.cluster,
        "tabs": broker_page.tabs(request, broker, "broker-requests"),
        "may_edit_cluster": request.principal.may("cluster.edit", request.cluster),
    }
    status = 200
    since_start = request.GET.get("over") == SINCE_START
    try:
        with for_cluster(request.cluster) as gateway:
            found = read_request_figures.read(gateway, cluster, broker, since_start=since_start)
        context |= _table_context(request, found, since_start)
    except Unsupported:
        context["has_no_address"] = True
    except GatewayError as error:
        context["error"] = sentence(error.message)
        # htmx shows no answer with an error status: the old figures would stay.
        status = 200 if "HX-Request" in request.headers else http_status_of(error)
    return page_or_csv(request, "brokers/requests.html", context, status=status)


def _table_context(request: ClusterRequest, found: Figures, since_start: bool) -> dict[str, Any]:
    figures = request_table.figures_of_parts(found.rows)
    requested = request.GET.get("parts", "")
    figure = requested if requested in figures else next(iter(figures), request_table.FIGURES[0])
    table = request_table.build(request.GET, found.rows, figure)
    return {
        "table": table,
        "found": found,
        "waits_for_second_reading": found.is_since_start and not since_start,
        "has_histograms": any(row.times["total"].first_ms for row in found.rows),
        "periods": _period_choices(table, since_start),
        "figures": _figure_choices(table, figures, figure),
    }


def _period_choices(table: Table, since_start: bool) -> list[dict[str, Any]]:
    return [
        {"title": _("Last seconds"), "url": table.url(over=None), "active": not since_start},
        {
            "title": _("Since the start"),
            "url": table.url(over=SINCE_START),
            "active": since_start,
        },
    ]


def _figure_choices(table: Table, figures: list[str], active: str) -> list[dict[str, Any]]:
    names = request_table.figure_names()
    return [
        {"title": names[each], "url": table.url(parts=each), "active": each == active}
        for each in figures
    ]
