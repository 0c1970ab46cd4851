"""The brokers of one cluster."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.live import snapshot_cache


@require_safe
@requires("broker.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    shown = snapshot_cache.snapshot(cluster, request.rights)
    context = {
        "brokers": shown.brokers if shown else [],
        "at_ms": shown.at_ms if shown else None,
        "cluster_id": shown.tick.cluster_id if shown else "",
        "controller": shown.tick.controller_id if shown else None,
        "without_source": shown is not None and any(b.source == "none" for b in shown.brokers),
    }
    return render(request, "brokers/index.html", context)
