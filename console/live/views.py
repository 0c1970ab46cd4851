"""The status of a cluster's samples, for pages whose socket is closed."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.live import fragment_renderer


@require_safe
@requires("cluster.view")
def status(request: ClusterRequest, cluster: str) -> HttpResponse:
    """Status line and banners; static/app/live.js loads them when a page is stale."""
    return HttpResponse(fragment_renderer.status_html(request.cluster, request.rights))
