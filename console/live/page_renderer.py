"""Renders full pages with a live fragment, from the same context as the fragment.

The URL of the page's socket names the fragment and the version of the page (`socket_url`), so that
only a newer version is pushed.
"""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from console.accounts.request_types import ClusterRequest
from console.live import registry, snapshot_cache
from console.live.sample_status import SampleStatus
from console.ui.csv_export import page_or_csv


class LivePart:
    """The live part of one page: a fragment for the page's query and the user's rights.

    Attributes:
        context: the context of the fragment's template; None = nothing to show.
        socket_url: the URL of the socket that pushes newer versions of the page.
    """

    def __init__(self, request: ClusterRequest, fragment_name: str, name: str = "") -> None:
        key = registry.fragment_key(fragment_name, name, request.GET)
        # Read before the context, so that a tick in between is pushed and not missed.
        status = snapshot_cache.sample_status(request.cluster.slug, request.rights)
        self.socket_url = socket_url(request.cluster.slug, status, str(key))
        self.context = key.make_context(request.cluster, request.rights)


def render_live(
    request: ClusterRequest, template: str, part: LivePart, **extra: Any
) -> HttpResponse:
    """Render a page whose template includes the fragment's template."""
    base = {"cluster": request.cluster, "rights": request.rights, "socket_url": part.socket_url}
    return page_or_csv(request, template, {**base, **extra, **(part.context or {})})


def version_of(status: SampleStatus) -> str:
    """The version of a page with this status: its tick and state, such as `123.ok`."""
    return f"{status.tick}.{status.state}"


def socket_url(slug: str, status: SampleStatus, fragment: str = "") -> str:
    """The URL of the socket of a page with this fragment."""
    params = ({"show": fragment} if fragment else {}) | {"seen": version_of(status)}
    return f"/ws/c/{slug}/?{urlencode(params, safe=':?=')}"
