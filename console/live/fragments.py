"""The parts of pages that are pushed: rendered once per tick and distinct set of rights.

A page says which it wants in the query string of its socket (`?show=dashboard`, or
`?show=group:NAME`, see console/live/registry.py); every page gets the banner and the status line
besides. A fragment is rendered from the same context as the full page.
"""

import asyncio
import time
from typing import Any

from channels.db import database_sync_to_async
from django.template.loader import render_to_string
from django.utils import translation

from console.accounts.rights import Rights
from console.live import health_texts, registry, snapshot_cache
from console.ui.links import URL_LENGTH_MAX
from monitoring import health
from monitoring.models import Cluster

KEPT_SECONDS = 60.0


def is_known(show: str) -> bool:
    """Whether a page may ask for this: nothing, or a fragment of the registry."""
    return not show or (len(show) <= URL_LENGTH_MAX and registry.find(show) is not None)


def status(cluster: Cluster, rights: Rights) -> str:
    """The out-of-band HTML that says how the samples and the console itself stand."""
    base = {
        "status": snapshot_cache.status(cluster.slug, rights),
        "health": [health_texts.trouble(part) for part in health.troubles()],
        "oob": True,
        "cluster": cluster,
    }
    templates = ("live/status.html", "live/banner.html", "health/banner.html")
    return "".join(render_to_string(template, base) for template in templates)


def render(cluster: Cluster, rights: Rights, show: str) -> str:
    """The out-of-band HTML of one tick for one set of rights."""
    html = status(cluster, rights)
    base = {"oob": True, "cluster": cluster}
    if wanted := registry.find(show):
        fragment, argument = wanted
        found = fragment.context(cluster, rights, argument) if rights.may(fragment.verb) else None
        if found is not None:
            html += render_to_string(fragment.template, {**base, **found, "rights": rights})
    return html


class Renderer:
    """Shares one rendering among all browsers that would get the same.

    Belongs to one event loop. Keeps only what the newest tick of each cluster needs, and that not
    for long.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[Any, ...], asyncio.Future[str]] = {}
        self._begun_at: dict[tuple[Any, ...], float] = {}

    async def html(self, cluster: Cluster, rights: Rights, show: str, mark: Any) -> str:
        """The HTML for `mark` (a tick or another occasion); rendered at its first call only."""
        language = translation.get_language()
        key = (cluster.slug, mark, rights, show, language)
        if key not in self._running:
            self._drop_old(cluster.slug, mark)
            # sync_to_async would let a thread of the pool keep a dead database connection for good.
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
