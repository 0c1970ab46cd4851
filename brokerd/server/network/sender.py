"""The half of a connection that sends: replies in order, as fast as the client takes them."""

from __future__ import annotations

import asyncio
import socket
from time import monotonic
from typing import TYPE_CHECKING

from brokerd.protocol.framing import RequestHeader
from brokerd.server.network.output import OutputQueue, Parts, Slot, UnreadableError, release
from brokerd.server.network.ssl_transport_layer import SslTransportLayer

if TYPE_CHECKING:
    from brokerd.server.router import Router


class Sender:
    """Sends the replies in `output`; the receiving half (`connection.py`) is paused meanwhile."""

    __slots__ = (
        "_client_closed", "_fd", "_loop", "_receiving", "_router", "_socket", "_writing",
        "active_at", "blocked_at", "closed", "last_header", "output",
    )  # fmt: skip

    def __init__(
        self, sock: socket.socket | SslTransportLayer, output: OutputQueue, router: Router
    ) -> None:
        self._socket = sock
        self._fd = sock.fileno()
        self._router = router
        self._loop = asyncio.get_running_loop()
        self._writing = self._receiving = False
        self._client_closed = False  # the client sends nothing more, and may be gone
        self.output = output
        self.last_header: RequestHeader | None = None
        self.active_at = self.blocked_at = monotonic()
        self.closed = False

    def resume(self) -> None:
        """Reads again, unless something else keeps it from reading."""
        raise NotImplementedError

    def close(self, reason: str | None) -> None:
        """Closes the connection and drops what waits on it; reason None: the client left."""
        raise NotImplementedError

    def _pause(self) -> None:
        """Stops reading."""
        raise NotImplementedError

    def deliver(self, slot: Slot, parts: Parts) -> None:
        """A reserved reply is ready; outside a receive it is sent at once."""
        if self.closed:
            release(parts)
            return
        self.output.fill(slot, parts)
        if not self._receiving:
            self.flush()
            self.resume()

    def flush(self) -> None:
        """Sends what is ready; the rest waits until the socket is writable."""
        if self._writing or self.closed:
            return
        if not self._send():
            self._pause()
            self._writing = True
            # From now on the broker waits for the client.
            self.active_at = self.blocked_at = monotonic()
            self._loop.add_writer(self._fd, self._on_writable)

    def _send(self) -> bool:
        """False while something is left to be sent."""
        try:
            return self.output.flush()
        except OSError as error:
            reason = f"{error.strerror or error}"
            if isinstance(error, UnreadableError):
                reason = f"what it was promised cannot be read: {error.filename}: {reason}"
                self._router.unreadable(error)
            self.close(None if self._client_closed else reason)
            return True

    def _on_writable(self) -> None:
        sent_before = self.output.sent_bytes
        done = self._send()
        if self.output.sent_bytes > sent_before:
            self.active_at = monotonic()
        if done and not self.closed:
            self._writing = False
            self._loop.remove_writer(self._fd)
            self._router.times.sent_late(self, monotonic() - self.blocked_at)
            self.resume()
