"""Sets `request.cluster` from the slug in `/c/<cluster>/…`, or answers 404.

An unknown slug and a cluster that the user may not see get the same answer.
"""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from console.accounts.rights import may
from monitoring.models import Cluster


class ClusterMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

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
