"""The overview of one cluster."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.dashboard import services


@require_safe
@requires("cluster.view")
def overview(request: ClusterRequest, cluster: str) -> HttpResponse:
    context = services.context(request.cluster, request.rights)
    return render(request, "dashboard/overview.html", context or {"totals": None})
