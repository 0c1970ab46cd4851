"""Sets `request.cluster` from the slug in `/c/<cluster>/…`, or answers 404.

An unknown slug and a cluster that the user may not see get the same answer. A cookie keeps the
cluster of the last page, so that pages without a cluster keep its menu, and `/` leads to it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from console.accounts.rights import may
from monitoring.models import Cluster

COOKIE = "cluster"


def last_cluster(request: HttpRequest, clusters: Sequence[Cluster]) -> Cluster | None:
    """The cluster of the page that the browser showed last, else the first one, if there is one."""
    slug = request.COOKIES.get(COOKIE)
    return next((each for each in clusters if each.slug == slug), clusters[0] if clusters else None)


class ClusterMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        cluster = getattr(request, "cluster", None)
        # Only pages count: charts and fragments of another tab load by themselves.
        is_page = request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
        if cluster and is_page and request.COOKIES.get(COOKIE) != cluster.slug:
            response.set_cookie(
                COOKIE,
                cluster.slug,
                secure=request.is_secure(),
                httponly=True,
                samesite="Lax",
            )
        return response

    def process_view(
        self, request: ClusterRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Runs after the login check."""
        slug = kwargs.get("cluster")
        if slug is None or not request.user.is_authenticated:
            return
        cluster = Cluster.objects.filter(slug=slug).first()
        if cluster is None or not may(request.user, "cluster.view", cluster):
            raise Http404(_("There is no such cluster."))
        request.cluster = cluster
