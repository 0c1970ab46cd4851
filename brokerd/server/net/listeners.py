"""The listening sockets of a broker: opened, moved and closed while it runs, and heard or deaf."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

from brokerd.security.tls import server_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable

    from brokerd.config import BrokerConfig
    from brokerd.config_listeners import Listener

logger = logging.getLogger(__name__)

BACKLOG = 1024
UNPACED = b"reno"
"""The congestion control that every Linux has and lets everybody use; it never waits for time."""


class BindError(Exception):
    """A listener that could not be bound, said for a user."""


class Listeners:
    """`on_connect(socket, name)` is called when a client may be accepted. Bound sockets take
    nobody until `accept`."""

    def __init__(self, on_connect: Callable[[socket.socket, str], None]) -> None:
        self.contexts: dict[str, ssl.SSLContext] = {}
        """How those listeners speak that have TLS; for connections from now on."""
        self._on_connect = on_connect
        self._loop = asyncio.get_running_loop()
        self._sockets: dict[str, socket.socket] = {}
        self._asked: dict[str, Listener] = {}
        self._accepts = False

    def __contains__(self, name: str) -> bool:
        return name in self._sockets

    @property
    def ports(self) -> dict[str, int]:
        """The ports as they are bound, by name."""
        return {name: sock.getsockname()[1] for name, sock in self._sockets.items()}

    def open(self, config: BrokerConfig) -> None:
        """Has those of `config` be open and no others, with their key and trust stores opened anew:
        a file may hold something else under the same name. One with another address is moved.
        Raises TlsError and BindError, and then all is as it was."""
        contexts = {name: server_context(each) for name, each in config.tls.items()}
        added, going = self._difference(config)
        before = {name: replace(self._asked[name], port=self.ports[name]) for name in going}
        self._close(going)
        try:
            opened = self._bind(added)
        except BindError:
            self._open_again(before)
            raise
        self._sockets |= opened
        self._asked = {each.name: each for each in config.listeners}
        self.contexts = contexts
        for each in added:
            self.hear(each.name)

    def check(self, config: BrokerConfig) -> None:
        """Whether `open` would find the addresses free. Raises BindError."""
        added, going = self._difference(config)
        to_be_free = {port for name, port in self.ports.items() if name in going}
        for each in added:
            if each.port not in to_be_free:
                _bound(each).close()

    def accept(self) -> None:
        """Clients may come from now on."""
        self._accepts = True
        for name, sock in self._sockets.items():
            sock.listen(BACKLOG)
            self.hear(name)

    def hear(self, name: str) -> None:
        """Clients of this listener are accepted again; nothing is done for one that was closed."""
        sock = self._sockets.get(name)
        if sock is not None and self._accepts:
            self._loop.add_reader(sock.fileno(), self._on_connect, sock, name)

    def deafen(self, name: str) -> None:
        """Clients of this listener wait in the kernel's queue until it hears again."""
        self._loop.remove_reader(self._sockets[name].fileno())

    def close(self) -> None:
        """Closes all."""
        self._close(list(self._sockets))

    def _difference(self, config: BrokerConfig) -> tuple[list[Listener], list[str]]:
        """What is to be opened, and the names of those that are to be closed."""
        wanted = {each.name: each for each in config.listeners}
        added = [each for name, each in wanted.items() if self._asked.get(name) != each]
        going = [name for name in self._sockets if self._asked[name] != wanted.get(name)]
        return added, going

    def _bind(self, listeners: Iterable[Listener]) -> dict[str, socket.socket]:
        opened: dict[str, socket.socket] = {}
        try:
            for each in listeners:
                opened[each.name] = _bound(each, BACKLOG if self._accepts else None)
        except BindError:
            for sock in opened.values():
                sock.close()
            raise
        return opened

    def _open_again(self, before: dict[str, Listener]) -> None:
        """Those that were closed for others that cannot be opened."""
        for name, listener in before.items():
            try:
                self._sockets |= self._bind([listener])
                self.hear(name)
            except BindError as error:
                logger.error("a listener is lost until the next change or start: %s", error)
                del self._asked[name]

    def _close(self, names: Iterable[str]) -> None:
        for name in names:
            self.deafen(name)
            self._sockets.pop(name).close()


def _bound(listener: Listener, backlog: int | None = None) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listener.host, listener.port))
        if ip_address(sock.getsockname()[0]).is_loopback:
            _do_not_pace(sock)
        if backlog is not None:
            sock.listen(backlog)
    except OSError as error:
        sock.close()
        raise BindError(f"cannot listen on {listener}: {error.strerror or error}") from error
    return sock


def _do_not_pace(sock: socket.socket) -> None:
    """Has what is accepted send as fast as the peer reads, whatever congestion control the system
    has: bbr paces by a timer for each segment, which on the way to oneself costs and brings nothing
    (docs/decisions/0005). It must be said of the listening socket: one that has been paced stays.
    """
    with suppress(OSError):  # a system that leaves no choice
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, UNPACED)
