"""A WebSocket to an ASGI application without a server between.

channels.testing has one, but importing it needs daphne, which nothing else here does.
"""

from typing import Any
from urllib.parse import urlsplit

from asgiref.testing import ApplicationCommunicator


class WebSocket(ApplicationCommunicator):
    """`await connect()` says whether it was accepted; then texts go both ways."""

    def __init__(self, application: Any, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        parts = urlsplit(path)
        scope = {
            "type": "websocket",
            "path": parts.path,
            "query_string": parts.query.encode(),
            "headers": headers,
            "subprotocols": [],
        }
        super().__init__(application, scope)

    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        if (await self.receive_output(5))["type"] == "websocket.accept":
            return True
        await self.disconnect()  # as a server does for a connection that was refused
        return False

    async def send_text(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def receive_text(self) -> str:
        message = await self.receive_output(5)
        assert message["type"] == "websocket.send", message
        return str(message["text"])

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)
