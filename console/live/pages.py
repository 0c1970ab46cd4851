"""Full pages with a live part: the page is rendered from what its fragment is rendered from.

The page's socket says what the page shows and which tick it has (`socket_url`), so that it is told
only of what is newer.
"""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from console.accounts.requests import ClusterRequest
from console.live import registry, snapshot_cache
from console.live.sample_status import Status


class LivePart:
    """The live part of one page: a fragment with the page's query.

    Attributes:
        context: of the fragment's template; None where there is nothing to show.
        socket_url: where the page gets the same again when it is newer.
    """

    def __init__(self, request: ClusterRequest, name: str, argument: str = "") -> None:
        show = registry.show(name, argument, request.GET)
        # Before the figures are read: what comes between is then pushed, not missed.
        status = snapshot_cache.status(request.cluster.slug, request.rights)
        self.socket_url = socket_url(request.cluster.slug, status, str(show))
        self.context = show.context(request.cluster, request.rights)


def render_live(
    request: ClusterRequest, template: str, part: LivePart, **extra: Any
) -> HttpResponse:
    """A page whose template includes that of its fragment."""
    base = {"cluster": request.cluster, "rights": request.rights, "socket_url": part.socket_url}
    return render(request, template, {**base, **extra, **(part.context or {})})


def seen(status: Status) -> str:
    """What a browser has: a tick and the state in which it was shown."""
    return f"{status.tick}.{status.state}"


def socket_url(slug: str, status: Status, show: str = "") -> str:
    """The address of the socket of a page that shows this."""
    params = ({"show": show} if show else {}) | {"seen": seen(status)}
    return f"/ws/c/{slug}/?{urlencode(params, safe=':?=')}"
