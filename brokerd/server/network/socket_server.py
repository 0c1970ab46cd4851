"""The connections that came in through a broker's listeners, within their limits."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING

from brokerd.config.broker_config import BrokerConfig
from brokerd.config.listeners import ConnectionLimits
from brokerd.log.io.open_files import OPEN_FILES_MAX
from brokerd.server.network.connection import Connection
from brokerd.server.network.connection_expiry import ConnectionExpiry
from brokerd.server.network.connection_quotas import (
    ConnectionQuotas,
    descriptors_for_connections,
    limits_by_address,
)
from brokerd.server.network.connections_without_request import (
    FIRST_REQUEST_S,
    ConnectionsWithoutRequest,
)
from brokerd.server.network.listener_sockets import ListenerSockets
from brokerd.server.network.output import OutputQueue
from brokerd.server.network.receive_buffers import ReceiveBuffers
from brokerd.server.network.tls_connection import TlsConnection, TlsOutputQueue
from brokerd.server.network.tls_socket import TlsSocket

if TYPE_CHECKING:
    from brokerd.server.router import Router

logger = logging.getLogger(__name__)

CIPHERTEXT_BYTES = 1 << 18
"""What one receive of a TLS connection takes from its socket."""
ACCEPTS_PER_CALL = 64
ACCEPT_PAUSE_S = 0.2
SAID_AGAIN_S = 60.0
REMOVED_END_S = 1.0
"""So long after their listener was removed connections end: replies under way are still sent."""


class SocketServer:
    def __init__(self, config: BrokerConfig) -> None:
        self.buffers = ReceiveBuffers(config.queued_max_request_bytes, self._go_on)
        self.connections: set[Connection] = set()
        self._silent = ConnectionsWithoutRequest()
        self._config = config
        self.listeners = ListenerSockets(self._on_connect, config)
        self.host_lookups = ThreadPoolExecutor(1, "lookups")
        """One thread for names that clients wrote, since a name server may never answer."""
        self._ciphertext = memoryview(bytearray(CIPHERTEXT_BYTES))
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._quotas = ConnectionQuotas(descriptors_for_connections(limit, OPEN_FILES_MAX))
        self._overrides_text = ""
        self._overrides: dict[str, int] = {}
        self._resolving: asyncio.Task[None] | None = None
        self._crowded: set[str] = set()
        """Listeners that are paused until a connection closes."""
        self._resumes: dict[str, asyncio.TimerHandle] = {}
        """When listeners are resumed that are paused for a time."""
        self._protected: str | None = None
        self._router: Router | None = None
        self._said_at: dict[str, float] = {}
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        self._expiry = ConnectionExpiry(
            self.connections, config.connections_max_idle_ms, lambda: bool(self._waiting)
        )
        self.refused = 0
        self.opened: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        """Connections since the start, by listener."""
        self._sent_bytes = 0
        self._limit()

    @property
    def sent_bytes(self) -> int:
        return self._sent_bytes + sum(each.output.sent_bytes for each in self.connections)

    def accept(self, router: Router) -> None:
        self._router = router
        self.listeners.accept()
        self._expiry.start()

    async def open(self, config: BrokerConfig) -> BrokerConfig:
        """Opens exactly the listeners of `config`, as `ListenerSockets.open`; returns the settings
        with the ports that were bound. Connections of a closed listener end soon."""
        await self.listeners.open(config)
        if any(each.listener not in self.listeners for each in self.connections):
            self._loop.call_later(REMOVED_END_S, self._end_removed)
        return config.with_bound_ports(self.listeners.ports)

    def _end_removed(self) -> None:
        for connection in tuple(self.connections):
            if connection.listener not in self.listeners:
                connection.close("its listener was removed")

    def reconfigure(self, config: BrokerConfig) -> None:
        """Takes over limits that changed, for new connections."""
        self._config = config
        self._expiry.max_idle_ms = config.connections_max_idle_ms
        self._limit()

    def _limit(self) -> None:
        config = self._config
        if self._resolving is not None:
            self._resolving.cancel()
            self._resolving = None
        if config.max_connections_per_ip_overrides != self._overrides_text:
            self._resolving = asyncio.ensure_future(self._resolve())
        several = len(config.listeners) > 1
        self._protected = config.inter_broker_listener_name if several else None
        self._quotas.limit(
            ConnectionLimits(config.max_connections, config.max_connection_creation_rate),
            config.listener_limits(), config.max_connections_per_ip, self._overrides,
        )  # fmt: skip
        self._resume_crowded()

    def _resume_crowded(self) -> None:
        while self._crowded:
            self.listeners.resume(self._crowded.pop())

    async def _resolve(self) -> None:
        """Looks up the names among `max.connections.per.ip.overrides` in a thread. Until then, and
        if one is not found, the earlier limits hold."""
        text = self._config.max_connections_per_ip_overrides
        found: dict[str, int] = {}
        try:
            for entry in text.split(","):
                found |= await self._loop.run_in_executor(
                    self.host_lookups, limits_by_address, entry
                )
        except ValueError as error:
            logger.error("%s", error)
            return
        self._overrides = found
        self._overrides_text = text
        self._resolving = None
        self._limit()

    def close(self) -> None:
        self.listeners.close()
        self._expiry.stop()
        if self._resolving is not None:
            self._resolving.cancel()
        self.host_lookups.shutdown(wait=False, cancel_futures=True)
        for connection in tuple(self.connections):
            connection.close("the broker is shutting down")

    def _on_connect(self, sock: socket.socket, name: str) -> None:
        for _ in range(ACCEPTS_PER_CALL):
            if not self._may_accept(name):
                return
            try:
                client, address = sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # out of descriptors: the queue waits in the kernel
                text = f"cannot accept on {name}: {error.strerror}; it is tried again"
                self._log_once("accept", text)
                self._pause(name, ACCEPT_PAUSE_S)
                return
            host, quotas = address[0], self._quotas
            full, listener_full = quotas.is_full, quotas.is_listener_full(name)
            if not quotas.admit(host, name, name == self._protected):
                self._refuse(client, host)
                continue
            if listener_full:
                self._end_silent(name)
            elif full and not self._end_silent() and name == self._protected:
                self._end_idle(name)
            self._admitted(client, host, name)

    def _admitted(self, client: socket.socket, host: str, name: str) -> None:
        try:
            client.setblocking(False)
            self._set_options(client)
            connection = self._connection(client, host, name)
        except Exception as error:  # the peer has gone, or memory or the selector is short
            self._quotas.leave(host, name)
            client.close()
            self._log_once("begin", f"a connection of {host} on {name} could not begin: {error!r}")
            return
        self.opened[name] += 1
        self.connections.add(connection)
        self._silent.add(connection, monotonic())

    def _may_accept(self, name: str) -> bool:
        """Whether the listener may accept a connection now; if not, it is paused until it may."""
        quotas, is_protected = self._quotas, name == self._protected
        now_s = monotonic()
        room_in_s: float | None = 0.0
        if quotas.is_listener_full(name):
            room_in_s = self._silent.wait_s(now_s, name)
            self._log_full(
                f"full {name}",
                f"{quotas.open_on(name)} connections are open on {name}, which is the most"
                f" (listener.name.{name.lower()}.max.connections)",
            )
        elif quotas.is_full and not is_protected:
            room_in_s = self._silent.wait_s(now_s)
            self._log_full(
                "full",
                f"{quotas.open} connections are open, which is the most (max.connections, or the"
                " limit of open files)",
            )
        if room_in_s != 0.0:
            self._crowded.add(name)
        if room_in_s is None:
            self.listeners.pause(name)
            return False
        delay_s = max(room_in_s, quotas.delay_s(now_s, name, is_protected))
        if delay_s > 0:
            self._pause(name, delay_s)
        return delay_s <= 0

    def _log_full(self, trouble: str, text: str) -> None:
        self._log_once(
            trouble,
            f"{text}: new ones wait until others close; those that sent no request within"
            f" {FIRST_REQUEST_S:g} s end for them",
        )

    def _end_silent(self, listener: str | None = None) -> bool:
        """Closes a connection that has sent no request, to make room for another. Returns whether
        there was one."""
        silent = self._silent.to_end(monotonic(), listener)
        if silent is not None:
            silent.close(None)
        return silent is not None

    def _end_idle(self, name: str) -> None:
        """As in Kafka the brokers' listener is always served: closes the connection of another
        listener that has been idle longest."""
        others = [each for each in self.connections if each.listener != name]
        if others:
            idle = min(others, key=lambda each: each.active_at)
            idle.close("max.connections is reached, and a broker has connected")

    def _refuse(self, client: socket.socket, host: str) -> None:
        client.close()
        self.refused += 1
        if self.refused & (self.refused - 1) == 0:  # logged at 1, 2, 4, 8 … refusals
            logger.warning(
                "refused %d connections so far, the last from %s: max.connections.per.ip reached",
                self.refused, host,
            )  # fmt: skip

    def _log_once(self, trouble: str, text: str) -> None:
        """Logs a warning, of each kind at most once a minute."""
        now = monotonic()
        if now - self._said_at.get(trouble, -SAID_AGAIN_S) >= SAID_AGAIN_S:
            self._said_at[trouble] = now
            logger.warning("%s", text)

    def _pause(self, name: str, seconds: float) -> None:
        self.listeners.pause(name)
        if name in self._resumes:
            self._resumes[name].cancel()
        self._resumes[name] = self._loop.call_later(seconds, self.listeners.resume, name)

    def _connection(self, client: socket.socket, host: str, name: str) -> Connection:
        router = self._router
        assert router is not None, "before accept no connection comes"
        loop = router.metrics.loop
        context = self.listeners.tls_contexts.current.get(name)
        if context is None:
            return Connection(client, OutputQueue(client, loop), host, name, self, router)
        tls = TlsSocket(client, context, self._ciphertext)
        return TlsConnection(tls, TlsOutputQueue(tls, loop), host, name, self, router)

    def _set_options(self, client: socket.socket) -> None:
        """A buffer size of -1, the default unlike Kafka's, is left to the kernel: with 100 KiB a
        fetch would be sent in six pieces, and received in ten what is one receive
        (docs/decisions/0005)."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option, size_bytes in (
            (socket.SO_SNDBUF, self._config.socket_send_buffer_bytes),
            (socket.SO_RCVBUF, self._config.socket_receive_buffer_bytes),
        ):
            if size_bytes > 0:
                client.setsockopt(socket.SOL_SOCKET, option, size_bytes)

    def forget(self, connection: Connection) -> None:
        """A connection has closed itself."""
        self.connections.discard(connection)
        self._silent.discard(connection)
        self._waiting.pop(connection, None)
        self.ended[connection.listener] += 1
        self._sent_bytes += connection.output.sent_bytes
        self._quotas.leave(connection.peer_host, connection.listener)
        self._resume_crowded()

    def wait_for_memory(self, connection: Connection) -> None:
        """The connection is muted until requests have given memory back."""
        self._waiting[connection] = None
        self._expiry.memory_awaited()

    def _go_on(self) -> None:
        """Unmutes connections that waited for memory, as long as there is enough."""
        while self._waiting and not self.buffers.exhausted:
            connection, _ = self._waiting.popitem(last=False)
            connection.unmute()
