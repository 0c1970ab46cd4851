"""The brokers of one cluster."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.live.pages import LivePart, render_live


@require_safe
@requires("broker.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "brokers/index.html", LivePart(request, "brokers"))
