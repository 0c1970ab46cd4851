"""The pages of firing and resolved alerts, and of deliveries."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.live.page_renderer import LivePart, render_live


@require_safe
@requires("alert.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "alerts/index.html", LivePart(request, "alerts"))


@require_safe
@requires("alert.view")
def deliveries(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "alerts/deliveries.html", LivePart(request, "deliveries"))
