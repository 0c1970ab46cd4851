"""A connection over TLS. Unlike in others, received bytes may wait in OpenSSL, and file ranges are
read and encrypted instead of being sent by the kernel."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import End, OutputQueue, is_file, read_part
from brokerd.server.network.ssl_transport_layer import SslTransportLayer

if TYPE_CHECKING:
    from brokerd.server.network.socket_server import SocketServer
    from brokerd.server.router import Router

HANDSHAKE_TIMEOUT_S = 10.0
PIECE_BYTES = 1 << 17
"""So much is encrypted at once; it is also what a reader that does not read holds of ciphertext."""


class TlsConnection(Connection):
    """A connection that begins with a TLS handshake, which has a time limit."""

    __slots__ = ("_deadline", "_tls")

    def __init__(
        self,
        tls: SslTransportLayer,
        output: OutputQueue,
        peer_host: str,
        listener: str,
        socket_server: SocketServer,
        router: Router,
    ) -> None:
        self._tls = tls
        self._deadline: asyncio.TimerHandle | None = None
        super().__init__(tls, output, peer_host, listener, socket_server, router)
        self._deadline = self._loop.call_later(HANDSHAKE_TIMEOUT_S, self._time_out)

    def _time_out(self) -> None:
        if not self._tls.is_open:
            self.close(f"no TLS handshake within {HANDSHAKE_TIMEOUT_S:.0f} s")

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def resume(self) -> None:
        """Reads again, first the bytes that OpenSSL has."""
        super().resume()
        if self._reading and self._tls.has_more:
            self._loop.call_soon(self._read_more)

    def _read_more(self) -> None:
        if self._reading and self._tls.has_more:
            self._on_readable()

    def _on_readable(self) -> None:
        super()._on_readable()
        if self.closed:
            return
        if self._tls.is_open:
            self._end_deadline()
        if self._tls.has_unsent:  # the handshake's, or a key update
            self.flush()
        if self._reading and self._tls.has_more:
            self._loop.call_soon(self._read_more)

    def close(self, reason: str | None) -> None:
        self._end_deadline()
        super().close(reason)


class TlsOutputQueue(OutputQueue):
    """Replies in order, encrypted piece by piece as the socket takes them."""

    __slots__ = ("_tls",)

    def __init__(self, tls: SslTransportLayer, loop: LoopTimes) -> None:
        super().__init__(tls.socket, loop)
        self._tls = tls

    def flush(self) -> bool:
        """As `OutputQueue.flush`."""
        tls = self._tls
        sent_before = tls.sent_bytes
        try:
            while tls.flush():
                if not self._ready:
                    self.all_sent()
                    return True
                if tls.sent_bytes >= sent_before + self._flush_bytes:
                    return False
                tls.write(self._piece())
            return False
        finally:
            self.sent_bytes += tls.sent_bytes - sent_before

    def _piece(self) -> bytes | memoryview:
        """Takes up to PIECE_BYTES of plaintext off the queue."""
        ready = self._ready
        chunks: list[memoryview] = []
        room = PIECE_BYTES
        while ready and room > 0:
            part = ready[0]
            start = self._sent_of_head
            if is_file(part):
                if chunks and type(part) is End:
                    break
                size = part.size_bytes
                data = read_part(part, min(room, size - start), start)
                if not data:
                    raise ConnectionAbortedError("a log file ended inside a promised range")
                chunk = memoryview(data)
            else:
                size = len(part)
                chunk = memoryview(part)[start : start + room]
            chunks.append(chunk)
            room -= len(chunk)
            if start + len(chunk) < size:
                self._sent_of_head = start + len(chunk)
                break
            self._sent_of_head = 0
            ready.popleft()
            if is_file(part):
                part.release()
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
