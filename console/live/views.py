"""How the samples of a cluster stand, for a page to which nothing is pushed any more."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.live import fragments


@require_safe
@requires("cluster.view")
def status(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The status line and the banner; static/app/live.js asks when a page has become stale."""
    return HttpResponse(fragments.status(request.cluster, request.rights))
