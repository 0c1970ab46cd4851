"""Renders live fragments, once per version, set of rights and query.

Every page also gets the banners and the status line. The full page uses the same context as the
fragment (page_renderer.py).
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from channels.db import database_sync_to_async
from django.template.loader import render_to_string
from django.utils import translation

from console.accounts.rights import Rights
from console.live import snapshot_cache
from console.live.registry import FragmentKey
from console.ui import readiness_texts
from monitoring import readiness_checks
from monitoring.models import Cluster

CACHE_SECONDS = 60.0
# At a tick the fragments of all open pages are due at once. Several threads take the processor
# from requests: with 50 pages and 20 users the p95 of a page is 30 to 215 ms with one thread, 65 to
# 280 with two, up to 1,150 with six. A tick reaches all pages within 0.8 s (bench/pages.py).
_threads = ThreadPoolExecutor(1, "fragments")


def status_html(cluster: Cluster, rights: Rights) -> str:
    """The out-of-band HTML of status line and banners."""
    common = {
        "status": snapshot_cache.sample_status(cluster.slug, rights),
        "health": [readiness_texts.banner(part) for part in readiness_checks.problems()],
        "oob": True,
        "cluster": cluster,
    }
    templates = ("live/status.html", "live/banner.html", "health/banner.html")
    return "".join(render_to_string(template, common) for template in templates)


def render(cluster: Cluster, rights: Rights, fragment_key: FragmentKey | None) -> str:
    """The out-of-band HTML for one set of rights; without a fragment only status and banners."""
    html = status_html(cluster, rights)
    context = fragment_key.make_context(cluster, rights) if fragment_key else None
    if fragment_key is not None and context is not None:
        common = {"oob": True, "cluster": cluster, "rights": rights}
        html += render_to_string(fragment_key.fragment.template, {**common, **context})
    return html


class Renderer:
    """Caches rendered HTML for all browsers with the same rights and fragment.

    Use it on one event loop only. It keeps the HTML of the newest version of each cluster's pages,
    for CACHE_SECONDS.
    """

    def __init__(self) -> None:
        self._html: dict[tuple[Any, ...], asyncio.Future[str]] = {}
        self._started_at: dict[tuple[Any, ...], float] = {}

    async def html(
        self, cluster: Cluster, rights: Rights, fragment_key: FragmentKey | None, version: str
    ) -> str:
        """The HTML of this version; rendered on the first call.

        `version`: a text that differs if the HTML may differ.
        """
        language = translation.get_language()
        key = (cluster.slug, version, rights, fragment_key, language)
        if key not in self._html:
            self._remove_old(cluster.slug, version)
            # With sync_to_async a thread of the pool could keep a dead database connection forever.
            render_in_thread = database_sync_to_async(
                render, thread_sensitive=False, executor=_threads
            )
            self._html[key] = asyncio.ensure_future(render_in_thread(cluster, rights, fragment_key))
            self._started_at[key] = time.monotonic()
        return await asyncio.shield(self._html[key])

    def _remove_old(self, slug: str, version: str) -> None:
        oldest = time.monotonic() - CACHE_SECONDS
        for key in list(self._html):
            is_old = self._started_at[key] < oldest or (key[0] == slug and key[1] != version)
            if is_old and self._html[key].done():
                del self._html[key], self._started_at[key]


_renderers: dict[int, Renderer] = {}


def renderer() -> Renderer:
    """The renderer of the running event loop; a process has one loop, tests have several."""
    loop = asyncio.get_running_loop()
    if id(loop) not in _renderers:
        _renderers.clear()
        _renderers[id(loop)] = Renderer()
    return _renderers[id(loop)]
