"""The consumer groups of a cluster: list and detail."""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.error_texts import group_not_found
from console.accounts.request_types import ClusterRequest
from console.charts import cards
from console.charts.chart_query import ChartQuery
from console.live import snapshot_cache
from console.live.page_renderer import LivePart, render_live


@require_safe
@requires("group.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "groups/index.html", LivePart(request, "groups"))


@require_safe
@requires("group.view", resource="group")
def detail(request: ClusterRequest, cluster: str, group: str) -> HttpResponse:
    part = LivePart(request, "group", group)
    if part.context is None and snapshot_cache.snapshot(cluster, request.rights) is not None:
        raise Http404(group_not_found(group))
    may, is_read_only = request.rights.may, request.cluster.read_only
    extra = {
        "name": group,
        "may_alert": may("alert.edit"),
        "may_alter": not is_read_only and may("group.alter", group),
        "may_delete": not is_read_only and may("group.delete", group),
    }
    charts = [ChartQuery("group", show, group=group) for show in ("lag", "records")]
    extra |= cards.context(request, charts)
    # None before the first sample
    return render_live(request, "groups/detail.html", part, group=None, **extra)
