"""Accepts the clients of a broker's listeners (Kafka's Acceptor). `ConnectionQuotas` decides
whether a connection is accepted, and this acts: it pauses the listener until there is room, closes
another connection for it, or refuses it.
"""

import asyncio
import logging
import resource
import socket
from collections.abc import Callable, Collection, Mapping
from time import monotonic

from brokerd.config.broker_config import BrokerConfig
from brokerd.config.listeners import ConnectionLimits
from brokerd.log.io.open_files import OPEN_FILES_MAX
from brokerd.server.network.connection import Connection
from brokerd.server.network.connection_quotas import (
    FIRST_REQUEST_S,
    ConnectionQuotas,
    ConnectionsWithoutRequest,
    descriptors_for_connections,
)
from brokerd.server.network.listener_sockets import ListenerSockets

logger = logging.getLogger(__name__)

ACCEPTS_PER_CALL = 64
ACCEPT_PAUSE_S = 0.2
SAID_AGAIN_S = 60.0


class Acceptor:
    """`connections` are all that are open. `begin` makes one from a socket, the client's address
    and the name of the listener."""

    def __init__(
        self,
        config: BrokerConfig,
        connections: Collection[Connection],
        begin: Callable[[socket.socket, str, str], Connection],
    ) -> None:
        self._config = config
        self._connections = connections
        self._begin = begin
        self.listeners = ListenerSockets(self._on_connect, config)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.quotas = ConnectionQuotas(descriptors_for_connections(limit, OPEN_FILES_MAX))
        self.refused = 0
        self._silent = ConnectionsWithoutRequest()
        self._crowded: set[str] = set()
        """Listeners that are paused until a connection closes."""
        self._resumes: dict[str, asyncio.TimerHandle] = {}
        """When listeners are resumed that are paused for a time."""
        self._protected: str | None = None
        self._said_at: dict[str, float] = {}
        self._loop = asyncio.get_running_loop()

    def limit(self, config: BrokerConfig, overrides: Mapping[str, int]) -> None:
        """Sets the limits for new connections; `overrides` are those of single addresses."""
        self._config = config
        several = len(config.listeners) > 1
        self._protected = config.inter_broker_listener_name if several else None
        self.quotas.limit(
            ConnectionLimits(config.max_connections, config.max_connection_creation_rate),
            config.listener_limits(), config.max_connections_per_ip, overrides,
        )  # fmt: skip
        self._resume_crowded()

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
            host, quotas = address[0], self.quotas
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
            connection = self._begin(client, host, name)
        except Exception as error:  # the peer has gone, or memory or the selector is short
            self.quotas.leave(host, name)
            client.close()
            self._log_once("begin", f"a connection of {host} on {name} could not begin: {error!r}")
            return
        self._silent.add(connection, monotonic())

    def _may_accept(self, name: str) -> bool:
        """Whether the listener may accept a connection now; if not, it is paused until it may."""
        quotas, is_protected = self.quotas, name == self._protected
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
        others = [each for each in self._connections if each.listener != name]
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
        """A connection has closed: others may come."""
        self._silent.discard(connection)
        self.quotas.leave(connection.peer_host, connection.listener)
        self._resume_crowded()

    def _resume_crowded(self) -> None:
        while self._crowded:
            self.listeners.resume(self._crowded.pop())
