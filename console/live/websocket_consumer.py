"""The WebSocket consumer of live pages: pushes the page's fragment on each tick.

An event is the opening of the socket, a new tick or, for fragments with `shows_alerts`
(registry.py), an alert. At each event the session and the rights are checked again, so that signing
out or losing a role closes the socket. Then the page is pushed if there is a newer version of it
than the browser has (page_renderer.py); after an alert always. The browser acknowledges each push
(static/app/live.js). Until then nothing is pushed, and then only the newest version.

A hidden tab closes its socket, and opens it again when it is shown. The parameter `seen` is the
version with which the page was rendered.
"""

import asyncio
import logging
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import translation
from redis.exceptions import RedisError

from console.accounts.rights import Rights
from console.live import (
    fragment_renderer,
    page_renderer,
    registry,
    snapshot_cache,
    websocket_language,
)
from console.live.access_checks import Access, access_checks
from console.live.sample_status import SampleStatus

NOT_ALLOWED = 4403
TRY_AGAIN = 1013
log = logging.getLogger(__name__)


class ClusterConsumer(AsyncWebsocketConsumer):
    """`/ws/c/<cluster>/?show=…&seen=…`, as console/live/page_renderer.py writes it."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Close without a traceback if Redis is down; the page reconnects."""
        try:
            await super().__call__(scope, receive, send)
        except RedisError as error:
            log.warning("a live connection ended: Redis does not answer (%s)", error)
            await send({"type": "websocket.close", "code": TRY_AGAIN})

    async def dispatch(self, message: dict[str, Any]) -> None:
        """As in channels, but without closing old database connections for each message: the
        checks and the renderer do that, in their threads. At a tick it was 4 % of the CPU."""
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        self.slug: str = self.scope["url_route"]["kwargs"]["cluster"]
        key_text = query.get("show", [""])[0]
        self.fragment_key = registry.parse(key_text)
        self._language = websocket_language.language_of(self.scope)
        # The version that was pushed last; before the first push that of the page.
        self._browser_version = query.get("seen", [""])[0]
        self._channel_groups = [f"tick.{self.slug}"]
        self._newest_event = ""  # "connect", "tick 7" or "alerts 7"
        self._handled_event = ""  # the last one that led to a push, or needed none
        self._announced_tick: int | None = None  # the newest tick since the socket was opened
        self._acknowledged = True
        self._handler: asyncio.Task[None] | None = None
        if (key_text and self.fragment_key is None) or await self._access() is None:
            await self.close(code=NOT_ALLOWED)
            return
        await self.accept()
        if self.fragment_key is not None and self.fragment_key.fragment.shows_alerts:
            self._channel_groups.append(f"alerts.{self.slug}")
        for group in self._channel_groups:
            await self.channel_layer.group_add(group, self.channel_name)
        self._on_event("connect")

    async def disconnect(self, code: int) -> None:
        if self._handler is not None:
            self._handler.cancel()
        for group in self._channel_groups:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Any message from the browser is an acknowledgement."""
        self._acknowledged = True
        self._on_event(self._newest_event)

    async def tick(self, message: dict[str, Any]) -> None:
        """Called for the message {cluster, tick} that monitoring/sampling/ sends for a new tick."""
        self._announced_tick = int(message["tick"])
        self._on_event(f"tick {self._announced_tick}")

    async def alerts(self, message: dict[str, Any]) -> None:
        """Called for the message {cluster, tick} that monitoring/ sends when alerts changed."""
        self._on_event(f"alerts {message['tick']}")

    @property
    def _must_handle(self) -> bool:
        return self._acknowledged and self._newest_event != self._handled_event

    def _on_event(self, event: str) -> None:
        self._newest_event = event
        is_running = self._handler is not None and not self._handler.done()
        if self._must_handle and not is_running:
            self._handler = asyncio.ensure_future(self._handle_events())

    async def _handle_events(self) -> None:
        translation.activate(self._language)  # for this asyncio task only
        try:
            # Another event, and the acknowledgement, may come while one is handled.
            while self._must_handle:
                await self._handle_event(self._newest_event)
        except OSError:
            log.debug("the browser disconnected while a fragment was rendered")
        except Exception:
            # The next tick tries again; the page itself detects missing ticks.
            log.exception("a live fragment of cluster %s could not be sent", self.slug)

    async def _handle_event(self, event: str) -> None:
        """Push the page, if the session may still see it and the browser does not have it."""
        access = await self._access()
        if access is None:
            self._handled_event = event
            await self.close(code=NOT_ALLOWED)
            return
        cluster, rights = access
        status = await sync_to_async(self._read_status, thread_sensitive=False)(rights)
        version = page_renderer.version_of(status)
        is_alert = event.startswith("alerts")
        if version == self._browser_version and not is_alert:
            self._handled_event = event
            return
        # An alert changes the HTML, but not the version.
        html = await fragment_renderer.renderer().html(
            cluster, rights, self.fragment_key, f"{version} {event}" if is_alert else version
        )
        self._handled_event, self._browser_version = event, version
        self._acknowledged = False
        await self.send(text_data=html)

    def _read_status(self, rights: Rights) -> SampleStatus:
        snapshot_cache.refresh(self.slug, self._announced_tick)
        return snapshot_cache.sample_status(self.slug, rights)

    async def _access(self) -> Access | None:
        """The cluster and the current rights; None if the session may not see it."""
        session_key = getattr(self.scope.get("session"), "session_key", None)
        return await access_checks().access(session_key, self.slug) if session_key else None
