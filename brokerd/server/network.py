"""Listening sockets and the connections that came in through them, within their limits."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter, deque
from time import monotonic
from typing import TYPE_CHECKING

from brokerd.security.tls import server_context
from brokerd.server.connection import Connection
from brokerd.server.output import OutputQueue
from brokerd.server.receive_buffers import ReceiveBuffers
from brokerd.server.tls_connection import TlsConnection, TlsOutputQueue
from brokerd.server.tls_socket import TlsSocket

if TYPE_CHECKING:
    from brokerd.config import BrokerConfig
    from brokerd.config_listeners import Listener
    from brokerd.server.router import Router

logger = logging.getLogger(__name__)

BACKLOG = 1024
CIPHERTEXT_BYTES = 1 << 18
"""What one receive of a TLS connection takes from its socket."""
ACCEPTS_PER_CALL = 64
ACCEPT_PAUSE_S = 0.2
SWEEP_INTERVAL_S_MIN, SWEEP_INTERVAL_S_MAX = 0.1, 5.0
SWEEP_SLICE = 1000
STALLED_S = 5.0
"""How long a half-sent frame may stand still while others wait for the memory that it holds."""


class BindError(Exception):
    """A listener that could not be bound, said for a user."""


class Network:
    """All sockets of one broker's Kafka listeners. TlsError for a key that cannot be used."""

    def __init__(self, config: BrokerConfig) -> None:
        self.buffers = ReceiveBuffers(config.queued_max_request_bytes)
        self.connections: set[Connection] = set()
        self._config = config
        self._contexts = {name: server_context(each) for name, each in config.tls.items()}
        self._ciphertext = memoryview(bytearray(CIPHERTEXT_BYTES))
        self._per_host: Counter[str] = Counter()
        self._sockets: dict[str, socket.socket] = {}
        self._waiting: deque[Connection] = deque()
        self._loop = asyncio.get_running_loop()
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._stalled_timer: asyncio.TimerHandle | None = None
        self.refused = 0
        self.opened: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        """Connections since the start, by listener."""
        self._sent_bytes = 0

    @property
    def sent_bytes(self) -> int:
        """What all connections were sent since the start."""
        return self._sent_bytes + sum(each.output.sent_bytes for each in self.connections)

    def bind(self) -> dict[str, int]:
        """Binds every listener, without accepting yet. Returns the ports by name."""
        for listener in self._config.listeners:
            self._sockets[listener.name] = _bound(listener)
        return {name: sock.getsockname()[1] for name, sock in self._sockets.items()}

    def accept(self, router: Router) -> None:
        """Starts to take connections."""
        for name, sock in self._sockets.items():
            sock.listen(BACKLOG)
            self._loop.add_reader(sock.fileno(), self._on_connect, sock, name, router)
        self._arm_sweep()

    def reconfigure(self, config: BrokerConfig) -> None:
        """Limits that changed hold for connections from now on."""
        self._config = config

    def _arm_sweep(self) -> None:
        idle_ms = self._config.connections_max_idle_ms
        if idle_ms >= 0:
            interval_s = min(SWEEP_INTERVAL_S_MAX, max(idle_ms / 4000, SWEEP_INTERVAL_S_MIN))
            self._sweep_timer = self._loop.call_later(interval_s, self._sweep)

    def close_listeners(self) -> None:
        """Takes no more connections."""
        for sock in self._sockets.values():
            self._loop.remove_reader(sock.fileno())
            sock.close()
        self._sockets.clear()

    def close(self) -> None:
        """Ends everything."""
        self.close_listeners()
        if self._stalled_timer is not None:
            self._stalled_timer.cancel()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for connection in tuple(self.connections):
            connection.close("the broker is shutting down")

    def _on_connect(self, sock: socket.socket, name: str, router: Router) -> None:
        for _ in range(ACCEPTS_PER_CALL):
            try:
                client, address = sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # out of descriptors: the queue waits in the kernel
                logger.warning("cannot accept on %s: %s", name, error.strerror)
                self._loop.remove_reader(sock.fileno())
                self._loop.call_later(ACCEPT_PAUSE_S, self._accept_again, sock, name, router)
                return
            host = address[0]
            if not self._has_room(host):
                client.close()
                continue
            client.setblocking(False)
            self._set_options(client)
            self._per_host[host] += 1
            self.opened[name] += 1
            self.connections.add(self._connection(client, host, name, router))

    def _connection(
        self, client: socket.socket, host: str, name: str, router: Router
    ) -> Connection:
        context = self._contexts.get(name)
        if context is None:
            return Connection(client, OutputQueue(client), host, name, self, router)
        tls = TlsSocket(client, context, self._ciphertext)
        return TlsConnection(tls, TlsOutputQueue(tls), host, name, self, router)

    def _set_options(self, client: socket.socket) -> None:
        """-1 leaves a buffer to the kernel.

        It would let the send buffer grow to megabytes, so that what was copied in has left the
        processor's caches when the reader copies it out: fetches of 1 MiB run at 1.8 GB/s with
        Kafka's 100 KiB, at 1.2 GB/s without. A receive buffer of 100 KiB, Kafka's default, would
        mean ten receives for what one does here.
        """
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = self._config
        if config.socket_send_buffer_bytes > 0:
            size_bytes = config.socket_send_buffer_bytes
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size_bytes)
        if config.socket_receive_buffer_bytes > 0:
            size_bytes = config.socket_receive_buffer_bytes
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size_bytes)

    def _accept_again(self, sock: socket.socket, name: str, router: Router) -> None:
        if sock.fileno() >= 0:
            self._loop.add_reader(sock.fileno(), self._on_connect, sock, name, router)

    def _has_room(self, host: str) -> bool:
        config = self._config
        if (
            len(self.connections) < config.max_connections
            and self._per_host[host] < config.max_connections_per_ip
        ):
            return True
        self.refused += 1
        if self.refused & (self.refused - 1) == 0:  # say it at 1, 2, 4, 8 … refusals
            logger.warning(
                "refused %d connections so far: max.connections or max.connections.per.ip reached",
                self.refused,
            )
        return False

    def forget(self, connection: Connection) -> None:
        """A connection has closed itself."""
        self.connections.discard(connection)
        self.ended[connection.listener] += 1
        self._sent_bytes += connection.output.sent_bytes
        host = connection.peer_host
        self._per_host[host] -= 1
        if self._per_host[host] <= 0:
            del self._per_host[host]

    def wait_for_memory(self, connection: Connection) -> None:
        """The connection may go on once frames under way have given memory back."""
        self._waiting.append(connection)
        if self._stalled_timer is None:
            self._stalled_timer = self._loop.call_later(STALLED_S / 2, self._end_stalled)

    def lend(self, size_bytes: int) -> None:
        """Counts memory that requests hold elsewhere; `repay` it."""
        self.buffers.loaned_bytes += size_bytes

    def repay(self, size_bytes: int) -> None:
        """Ends a loan of memory and lets those go on that waited for it."""
        self.buffers.loaned_bytes -= size_bytes
        self._go_on()

    def _end_stalled(self) -> None:
        """Closes connections whose half-sent frames hold memory and do not move: a few clients that
        send a head and nothing more would keep all others waiting."""
        self._stalled_timer = None
        if not self._waiting:
            return
        oldest = monotonic() - STALLED_S
        for connection in list(self.connections):
            if connection.holds_frame and connection.active_at < oldest and not connection.is_held:
                connection.close("its half-sent frame stood still while others waited for memory")
        if self._waiting:
            self._stalled_timer = self._loop.call_later(STALLED_S / 2, self._end_stalled)

    def give_back(self, frame: bytearray) -> None:
        """Ends a frame's loan and lets those go on that waited for memory."""
        self.buffers.give_back(frame)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and not self.buffers.exhausted:
            self._waiting.popleft().resume()

    def _sweep(self) -> None:
        """Closes connections that have been idle too long, a slice at a time."""
        self._sweep_slice(list(self.connections))
        self._arm_sweep()

    def _sweep_slice(self, left: list[Connection]) -> None:
        oldest = monotonic() - self._config.connections_max_idle_ms / 1000
        for connection in left[-SWEEP_SLICE:]:
            if connection.active_at < oldest and not connection.parked:
                connection.close("idle for longer than connections.max.idle.ms")
        del left[-SWEEP_SLICE:]
        if left:
            self._loop.call_soon(self._sweep_slice, left)


def _bound(listener: Listener) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listener.host, listener.port))
    except OSError as error:
        sock.close()
        raise BindError(f"cannot listen on {listener}: {error.strerror or error}") from error
    return sock
