"""The overview of one cluster, and the page of what changed."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.charts import cards
from console.charts.chart_query import ChartQuery
from console.dashboard import changes_page
from console.live.page_renderer import LivePart, render_live
from console.ui.csv_export import page_or_csv


@require_safe
@requires("cluster.view")
def overview(request: ClusterRequest, cluster: str) -> HttpResponse:
    part = LivePart(request, "dashboard")
    charts = [ChartQuery("cluster", show) for show in ("records", "bytes", "lag")]
    extra = cards.context(request, charts)
    return render_live(request, "dashboard/overview.html", part, totals=None, **extra)


@require_safe
@requires("cluster.view")
def changes(request: ClusterRequest, cluster: str) -> HttpResponse:
    context = changes_page.context(request.cluster, request.rights, request.GET)
    status = 200 if context["form"].is_valid() else 422
    return page_or_csv(request, "dashboard/changes_page.html", context, status)
