"""The consumer groups of a cluster: list and detail."""

from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.error_texts import group_not_found
from console.accounts.requests import ClusterRequest
from console.groups import history
from console.live import snapshot_cache
from console.live.pages import LivePart, render_live
from monitoring.clock import now_ms

MS_DIGITS = 15  # digits of a time in milliseconds


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
    ranges = history.RANGES_MS
    requested = request.GET.get("range", "")
    chosen = requested if requested in ranges else history.DEFAULT_RANGE
    extra = {
        "name": group,
        "range": chosen,
        "ranges": list(ranges),
        "chart": _chart(request, group, chosen),
        "may_alert": request.rights.may("alert.edit"),
    }
    return render_live(request, "groups/detail.html", part, group=None, **extra)


@require_safe
@requires("group.view")
def lag(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The data of the chart for an open page: points after `since`, or all."""
    requested = request.GET.get("range", "")
    if requested not in history.RANGES_MS:
        return JsonResponse(
            {"error": "range is one of " + ", ".join(history.RANGES_MS)}, status=400
        )
    group, since = request.GET.get("group", ""), request.GET.get("since", "")
    if since.isascii() and since.isdigit() and len(since) <= MS_DIGITS:
        slug, range_ms = request.cluster.slug, history.RANGES_MS[requested]
        newer = history.newer_points(slug, group, request.rights, range_ms, now_ms(), int(since))
        if newer is not None:
            return JsonResponse(newer)
    chart = _chart(request, group, requested)
    return JsonResponse(chart, status=503 if "error" in chart else 200)


def _chart(request: ClusterRequest, group: str, chosen: str) -> dict[str, Any]:
    range_ms = history.RANGES_MS[chosen]
    try:
        return history.lag_chart(request.cluster.slug, group, request.rights, range_ms, now_ms())
    except OSError as error:
        return {"error": _("The stored history cannot be read (%s).") % type(error).__name__}
