"""The overview of one cluster."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.charts import cards
from console.charts.chart_query import ChartQuery
from console.live.pages import LivePart, render_live


@require_safe
@requires("cluster.view")
def overview(request: ClusterRequest, cluster: str) -> HttpResponse:
    part = LivePart(request, "dashboard")
    charts = [ChartQuery("cluster", show) for show in ("records", "bytes", "lag")]
    extra = cards.context(request, charts)
    return render_live(request, "dashboard/overview.html", part, totals=None, **extra)
