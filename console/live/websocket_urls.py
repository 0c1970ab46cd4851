"""The WebSocket URLs; others are refused."""

from typing import Any

from django.urls import path, re_path

from console.live.websocket_consumer import ClusterConsumer


async def refuse(scope: Any, receive: Any, send: Any) -> None:
    """Close the socket before it is accepted; the server answers 403."""
    await receive()
    await send({"type": "websocket.close", "code": 4404})


urlpatterns = [
    path("ws/c/<slug:cluster>/", ClusterConsumer.as_asgi()),
    re_path(r"", refuse),  # type: ignore[arg-type]  # an ASGI application, as Channels routes them
]
