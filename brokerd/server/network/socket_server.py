"""The connections that came in through a broker's listeners. `Acceptor` accepts them."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from brokerd.config.broker_config import BrokerConfig
from brokerd.server.network.acceptor import Acceptor
from brokerd.server.network.connection import Connection
from brokerd.server.network.connection_quotas import limits_by_address
from brokerd.server.network.idle_expiry_manager import IdleExpiryManager
from brokerd.server.network.output import OutputQueue
from brokerd.server.network.receive_buffers import ReceiveBuffers
from brokerd.server.network.ssl_transport_layer import SslTransportLayer
from brokerd.server.network.tls_connection import TlsConnection, TlsOutputQueue

if TYPE_CHECKING:
    from brokerd.server.router import Router

logger = logging.getLogger(__name__)

CIPHERTEXT_BYTES = 1 << 18
"""What one receive of a TLS connection takes from its socket."""
REMOVED_END_S = 1.0
"""So long after their listener was removed connections end: replies under way are still sent."""


class SocketServer:
    def __init__(self, config: BrokerConfig) -> None:
        self.buffers = ReceiveBuffers(config.queued_max_request_bytes, self._unmute_waiting)
        self.connections: set[Connection] = set()
        self._config = config
        self.acceptor = Acceptor(config, self.connections, self._begin)
        self.listeners = self.acceptor.listeners
        self.host_lookups = ThreadPoolExecutor(1, "lookups")
        """One thread for names that clients wrote, since a name server may never answer."""
        self._ciphertext = memoryview(bytearray(CIPHERTEXT_BYTES))
        self._overrides_text = ""
        self._overrides: dict[str, int] = {}
        self._resolving: asyncio.Task[None] | None = None
        self._router: Router | None = None
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        self._expiry = IdleExpiryManager(
            self.connections, config.connections_max_idle_ms, lambda: bool(self._waiting)
        )
        self.opened: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        """Connections since the start, by listener."""
        self._sent_bytes = 0
        self._apply_limits()

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
        self._apply_limits()

    def _apply_limits(self) -> None:
        if self._resolving is not None:
            self._resolving.cancel()
            self._resolving = None
        if self._config.max_connections_per_ip_overrides != self._overrides_text:
            self._resolving = asyncio.ensure_future(self._resolve())
        self.acceptor.limit(self._config, self._overrides)

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
        self._apply_limits()

    def close(self) -> None:
        self.listeners.close()
        self._expiry.stop()
        if self._resolving is not None:
            self._resolving.cancel()
        self.host_lookups.shutdown(wait=False, cancel_futures=True)
        for connection in tuple(self.connections):
            connection.close("the broker is shutting down")

    def _begin(self, client: socket.socket, host: str, name: str) -> Connection:
        router = self._router
        assert router is not None, "before accept no connection comes"
        loop = router.metrics.loop
        context = self.listeners.tls_contexts.current.get(name)
        if context is None:
            connection = Connection(client, OutputQueue(client, loop), host, name, self, router)
        else:
            tls = SslTransportLayer(client, context, self._ciphertext)
            connection = TlsConnection(tls, TlsOutputQueue(tls, loop), host, name, self, router)
        self.opened[name] += 1
        self.connections.add(connection)
        return connection

    def forget(self, connection: Connection) -> None:
        """A connection has closed itself."""
        self.connections.discard(connection)
        self._waiting.pop(connection, None)
        self.ended[connection.listener] += 1
        self._sent_bytes += connection.output.sent_bytes
        self.acceptor.forget(connection)

    def wait_for_memory(self, connection: Connection) -> None:
        """The connection is muted until requests have given memory back."""
        self._waiting[connection] = None
        self._expiry.memory_awaited()

    def _unmute_waiting(self) -> None:
        """Unmutes connections that waited for memory, as long as there is enough."""
        while self._waiting and not self.buffers.exhausted:
            connection, _ = self._waiting.popitem(last=False)
            connection.unmute()
