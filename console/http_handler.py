"""The handler of HTTP requests: middleware and view run in one thread, one after the other.

Django's own handler calls the view from its event loop. Since no middleware and no view is async
here, it would change threads nine times in each request, which costs 1 to 2 ms of CPU. It also
starts a thread for each request, which opens the database again: 1.3 ms with SQLite. Here threads
and their connections stay for later requests. What Django still does in a thread (closing the
response) is done in one thread for all requests, not in one of each: 0.9 ms.
"""

import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase

THREADS_MAX = 64
"""Requests that run at the same time; those that wait for a cluster count, too."""
CHART_THREADS_MAX = 2
_PROBES = ("/healthz", "/readyz", "/metrics")
_CHART = re.compile(r"/c/[^/]+/chart")


class SyncHandler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._respond_in_thread = self._in_threads(THREADS_MAX)
        # Probes have threads of their own, so that they never wait for slow clusters.
        self._probe_in_thread = self._in_threads(2)
        # At a tick all open pages load their charts. They only compute: with a thread for each of
        # them every other request would get a small share of the processor.
        self._chart_in_thread = self._in_threads(CHART_THREADS_MAX)
        # `_respond` does this in the thread of the request; a signal would need another thread.
        for receiver in (reset_queries, close_old_connections):
            request_started.disconnect(receiver)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """As Django's, but without a thread for each request (ThreadSensitiveContext)."""
        await self.handle(scope, receive, send)

    def _in_threads(self, count: int) -> Callable[[HttpRequest], Awaitable[HttpResponseBase]]:
        threads = ThreadPoolExecutor(count, thread_name_prefix="request")
        return sync_to_async(self._respond, thread_sensitive=False, executor=threads)

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        respond = self._respond_in_thread
        if request.path in _PROBES:
            respond = self._probe_in_thread
        elif _CHART.fullmatch(request.path):
            respond = self._chart_in_thread
        return await respond(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        # Django does this in the thread that sends its signals, not in this one.
        reset_queries()
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
