"""The WebSocket consumer of live pages: pushes the page's fragments on each tick.

Channel messages contain only {cluster, tick}. At every tick the session and the rights are checked
again, so that signing out or losing a role closes the socket. A browser acknowledges each
message; until then nothing is sent, and then only the newest tick. The parameter `seen` is the tick
that the page already has; it is not sent again. A hidden tab closes its socket (static/app/live.js)
and gets the newest tick when it opens it again. Pages whose fragment has `shows_alerts`
(registry.py) are pushed when an alert fires, too.
"""

import asyncio
import logging
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import translation
from redis.exceptions import RedisError

from console.accounts.rights import Rights
from console.live import fragment_renderer, pages, registry, snapshot_cache, websocket_language
from console.live.access_checks import Access, access_checks
from console.live.sample_status import SampleStatus

ON_CONNECT = "connect"
NOT_ALLOWED = 4403
TRY_AGAIN = 1013
log = logging.getLogger(__name__)


class ClusterConsumer(AsyncWebsocketConsumer):
    """`/ws/c/<cluster>/?show=…&seen=…`, as console/live/pages.py writes it."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Close without a traceback if Redis is down; the page reconnects."""
        try:
            await super().__call__(scope, receive, send)
        except RedisError as error:
            log.warning("a live connection ended: Redis does not answer (%s)", error)
            await send({"type": "websocket.close", "code": TRY_AGAIN})

    async def connect(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        self.slug: str = self.scope["url_route"]["kwargs"]["cluster"]
        key_text = query.get("show", [""])[0]
        self.fragment_key = registry.parse(key_text)
        self._language = websocket_language.language_of(self.scope)
        self._browser_version = query.get("seen", [""])[0]  # the version that the browser has
        self._groups = [f"tick.{self.slug}"]
        self._next_version = ""  # the version to send next
        self._sent_version = ""  # the version sent last
        self._announced_tick: int | None = None  # the newest tick since the socket was opened
        self._acknowledged = True
        self._sender: asyncio.Task[None] | None = None
        if (key_text and self.fragment_key is None) or await self._cluster_and_rights() is None:
            await self.close(code=NOT_ALLOWED)
            return
        await self.accept()
        if self.fragment_key is not None and self.fragment_key.fragment.shows_alerts:
            self._groups.append(f"alerts.{self.slug}")
        for group in self._groups:
            await self.channel_layer.group_add(group, self.channel_name)
        self._send_when_ready(ON_CONNECT)

    async def disconnect(self, code: int) -> None:
        if self._sender is not None:
            self._sender.cancel()
        for group in self._groups:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Any message from the browser is an acknowledgement."""
        self._acknowledged = True
        self._send_when_ready(self._next_version)

    async def tick(self, event: dict[str, Any]) -> None:
        self._announced_tick = int(event["tick"])
        self._send_when_ready(f"tick {self._announced_tick}")

    async def alerts(self, event: dict[str, Any]) -> None:
        self._send_when_ready(f"alerts {event['tick']}")

    def _send_when_ready(self, version: str) -> None:
        self._next_version = version
        busy = self._sender is not None and not self._sender.done()
        if not busy and self._acknowledged and self._next_version != self._sent_version:
            self._sender = asyncio.ensure_future(self._send_newest())

    async def _send_newest(self) -> None:
        translation.activate(self._language)  # for this asyncio task only
        try:
            # Repeat if a newer version came and the browser acknowledged while this one was sent.
            while self._acknowledged and self._next_version != self._sent_version:
                await self._send_version()
        except OSError:
            log.debug("the browser disconnected while a fragment was rendered")
        except Exception:
            # The next tick tries again; the page itself detects missing ticks.
            log.exception("a live fragment of cluster %s could not be sent", self.slug)

    async def _send_version(self) -> None:
        version = self._next_version
        allowed = await self._cluster_and_rights()
        if allowed is None:
            self._sent_version = version
            await self.close(code=NOT_ALLOWED)
            return
        cluster, rights = allowed
        status = await sync_to_async(self._refreshed_status, thread_sensitive=False)(rights)
        is_alert = version.startswith("alerts")
        if pages.version_seen(status) == self._browser_version and not is_alert:
            self._sent_version = version
            return
        # The same tick in the same state gives the same HTML, except for alerts.
        rendering_version = (version if is_alert else "", status.tick, status.state)
        html = await fragment_renderer.renderer().html(
            cluster, rights, self.fragment_key, rendering_version
        )
        self._sent_version, self._browser_version, self._acknowledged = (
            version,
            pages.version_seen(status),
            False,
        )
        await self.send(text_data=html)

    def _refreshed_status(self, rights: Rights) -> SampleStatus:
        snapshot_cache.refresh(
            self.slug, at_once=self._announced_tick is None, announced=self._announced_tick
        )
        return snapshot_cache.sample_status(self.slug, rights)

    async def _cluster_and_rights(self) -> Access | None:
        key = getattr(self.scope.get("session"), "session_key", None)
        return await access_checks().access(key, self.slug) if key else None
