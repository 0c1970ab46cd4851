"""Renders live fragments, once per tick, set of rights and query.

The URL of a page's socket names the fragment (`?show=…`, see console/live/registry.py). Every page
also gets the banners and the status line. Fragment and full page use the same context.
"""

import asyncio
import time
from typing import Any

from channels.db import database_sync_to_async
from django.template.loader import render_to_string
from django.utils import translation

from console.accounts.rights import Rights
from console.live import health_banner, snapshot_cache
from console.live.registry import Show
from monitoring import health
from monitoring.models import Cluster

KEPT_SECONDS = 60.0


def status(cluster: Cluster, rights: Rights) -> str:
    """The out-of-band HTML of status line and banners."""
    base = {
        "status": snapshot_cache.status(cluster.slug, rights),
        "health": [health_banner.banner(part) for part in health.problems()],
        "oob": True,
        "cluster": cluster,
    }
    templates = ("live/status.html", "live/banner.html", "health/banner.html")
    return "".join(render_to_string(template, base) for template in templates)


def render(cluster: Cluster, rights: Rights, show: Show | None) -> str:
    """The out-of-band HTML of one tick for one set of rights; without `show` only the banners."""
    html = status(cluster, rights)
    found = show.context(cluster, rights) if show else None
    if show is not None and found is not None:
        base = {"oob": True, "cluster": cluster, "rights": rights}
        html += render_to_string(show.fragment.template, {**base, **found})
    return html


class Renderer:
    """Caches rendered HTML, shared by all browsers that get the same.

    Use it on one event loop only. It keeps the HTML of the newest tick of each cluster, for
    KEPT_SECONDS.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[Any, ...], asyncio.Future[str]] = {}
        self._begun_at: dict[tuple[Any, ...], float] = {}

    async def html(self, cluster: Cluster, rights: Rights, show: Show | None, mark: Any) -> str:
        """The HTML for `mark` (the newest version); rendered on the first call."""
        language = translation.get_language()
        key = (cluster.slug, mark, rights, show, language)
        if key not in self._running:
            self._drop_old(cluster.slug, mark)
            # With sync_to_async a thread of the pool could keep a dead database connection forever.
            work = database_sync_to_async(render, thread_sensitive=False)
            self._running[key] = asyncio.ensure_future(work(cluster, rights, show))
            self._begun_at[key] = time.monotonic()
        return await asyncio.shield(self._running[key])

    def _drop_old(self, slug: str, mark: Any) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        for key in list(self._running):
            is_old = self._begun_at[key] < oldest or (key[0] == slug and key[1] != mark)
            if is_old and self._running[key].done():
                del self._running[key], self._begun_at[key]


_renderers: dict[int, Renderer] = {}


def renderer() -> Renderer:
    """The renderer of the running event loop; a process has one loop, tests have several."""
    loop = asyncio.get_running_loop()
    if id(loop) not in _renderers:
        _renderers.clear()
        _renderers[id(loop)] = Renderer()
    return _renderers[id(loop)]
