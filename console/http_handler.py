"""The handler of HTTP requests: middleware and view run in one thread, one after the other.

Django's own handler calls the view from its event loop. Since no middleware and no view is async
here, it would change threads nine times in each request, which costs 1 to 2 ms of CPU.
"""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class SyncHandler(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
