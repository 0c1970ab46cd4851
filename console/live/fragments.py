"""The parts of pages that are pushed: rendered once per tick and distinct set of rights.

A page says which it wants in the query string of its socket (`?show=dashboard`, or
`?show=group:NAME`); every page gets the banner and the status line besides. Each part is a
template whose root element carries the id it replaces, drawn from the same context that the full
page uses.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async
from django.template.loader import render_to_string
from django.utils import translation

from console.accounts.rights import Rights
from console.dashboard import services as dashboard
from console.groups import services as groups
from console.live import store
from console.ui.links import URL_LENGTH_MAX
from monitoring.models import Cluster

# name → (verb, template, context for (cluster, rights, argument); None = nothing to show)
Context = Callable[[Cluster, Rights, str], dict[str, Any] | None]
FRAGMENTS: dict[str, tuple[str, str, Context]] = {
    "dashboard": ("cluster.view", "dashboard/live.html", dashboard.context),
    "group": ("group.view", "groups/live.html", groups.context),
}
SHOW_LENGTH_MAX = URL_LENGTH_MAX


def is_known(show: str) -> bool:
    """Whether a page may ask for this: "" or one of FRAGMENTS, with a bounded argument."""
    return not show or (len(show) <= SHOW_LENGTH_MAX and show.partition(":")[0] in FRAGMENTS)


def status(cluster: Cluster, held: Rights) -> str:
    """The out-of-band HTML that says how the samples stand."""
    base = {
        "status": store.status(cluster.slug, held),
        "oob": True,
        "cluster": cluster,
    }
    return render_to_string("live/status.html", base) + render_to_string("live/banner.html", base)


def render(cluster: Cluster, held: Rights, show: str) -> str:
    """The out-of-band HTML of one tick for one set of rights."""
    html = status(cluster, held)
    base = {"oob": True, "cluster": cluster}
    name, _colon, argument = show.partition(":")
    if name:
        verb, template, context = FRAGMENTS[name]
        found = context(cluster, held, argument) if held.may(verb) else None
        if found is not None:
            html += render_to_string(template, {**base, **found, "rights": held})
    return html


class Renderer:
    """Shares one rendering among all browsers that would get the same.

    Belongs to one event loop. Keeps only what the newest tick of each cluster needs.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[Any, ...], asyncio.Future[str]] = {}

    async def html(self, cluster: Cluster, held: Rights, show: str, mark: Any) -> str:
        """The HTML for `mark` (a tick or another occasion); rendered at its first call only."""
        language = translation.get_language()
        key = (cluster.slug, mark, held, show, language)
        if key not in self._running:
            for old in [k for k in self._running if k[0] == cluster.slug and k[1] != mark]:
                if self._running[old].done():
                    del self._running[old]
            # sync_to_async would let a thread of the pool keep a dead database connection for good.
            work = database_sync_to_async(render, thread_sensitive=False)
            self._running[key] = asyncio.ensure_future(work(cluster, held, show))
        return await asyncio.shield(self._running[key])


_renderers: dict[int, Renderer] = {}


def renderer() -> Renderer:
    """The renderer of the running event loop; a process has one loop, tests have several."""
    loop = asyncio.get_running_loop()
    if id(loop) not in _renderers:
        _renderers.clear()
        _renderers[id(loop)] = Renderer()
    return _renderers[id(loop)]
