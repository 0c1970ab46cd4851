"""The listening sockets of a broker: opened, moved and closed while it runs, paused and resumed."""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address

from brokerd.config.broker_config import BrokerConfig
from brokerd.config.dynamic_listener_config import IN_THE_FILE, address, reaches_further
from brokerd.config.listeners import Listener
from brokerd.config.ssl_configs import SslConfigs
from brokerd.security.ssl_factory import SslFactory

logger = logging.getLogger(__name__)

BACKLOG = 1024
UNPACED = b"reno"
"""The congestion control that every Linux has and lets everybody use; it never waits for time."""


class BindError(Exception):
    """A listener that could not be bound; the message is for users. `listener` is its name."""

    def __init__(self, text: str, listener: str = "") -> None:
        super().__init__(text)
        self.listener = listener


class ListenerSockets:
    """`on_connect(socket, name)` is called when a client may be accepted, not before `accept`. No
    listener reaches further than those of `file`, the properties file, if it is given."""

    def __init__(
        self, on_connect: Callable[[socket.socket, str], None], file: BrokerConfig | None = None
    ) -> None:
        self._file = file
        self.tls_contexts = SslFactory()
        self._on_connect = on_connect
        self._loop = asyncio.get_running_loop()
        self._sockets: dict[str, socket.socket] = {}
        self._asked: dict[str, Listener] = {}
        self._addresses: dict[str, str] = {}
        """The address of each host that is a name, as it was found last."""
        self._checks = asyncio.Lock()
        self._accepts = False

    def __contains__(self, name: str) -> bool:
        return name in self._sockets

    @property
    def ports(self) -> dict[str, int]:
        return {name: sock.getsockname()[1] for name, sock in self._sockets.items()}

    async def open(self, config: BrokerConfig) -> None:
        """Makes exactly the listeners of `config` open, and opens all key and trust stores again. A
        listener with another address is moved; one whose store is gone keeps the one it has. Raises
        TlsError and BindError; then nothing has changed. One call at a time."""
        contexts = await self.tls_contexts.load(config.tls)
        await self._look_up(config)
        added, going = self._difference(config)
        self._check_reach(added, config)
        before = {name: replace(self._asked[name], port=self.ports[name]) for name in going}
        self._close(going)
        try:
            opened = self._bind(added)
        except BindError:
            self._open_again(before)
            raise
        self._sockets |= opened
        self._asked = {each.name: each for each in config.listeners}
        self.tls_contexts.current = contexts
        for each in added:
            self.resume(each.name)

    async def check(self, config: BrokerConfig) -> None:
        """Checks, as far as possible beforehand, that `open` would succeed. Raises BindError."""
        async with self._checks:  # however many ask for names, they take one thread
            await self._look_up(config)
        added, going = self._difference(config)
        self._check_reach(added, config)
        own = [self._sockets[name].getsockname() for name in going]
        for each in added:
            address = self._address(each.host)
            held = any(at[1] == each.port and _overlap(address, at[0]) for at in own)
            _bound(each, address, 0 if held else each.port).close()

    async def check_store(self, settings: SslConfigs) -> None:
        """Checks that the stores of a listener can be opened. Raises TlsError."""
        async with self._checks:
            await self.tls_contexts.check(settings)

    def _check_reach(self, added: Iterable[Listener], config: BrokerConfig) -> None:
        file = self._file
        if file is None:
            return
        for each in added:
            tls, at = config.tls.get(each.name), self._address(each.host)
            if each not in file.listeners and reaches_further(file, tls, at, self._address):
                raise BindError(
                    f"{each} can be reached from where no listener of the properties file can be,"
                    f" or asks less of clients. {IN_THE_FILE}", each.name,
                )  # fmt: skip

    async def _look_up(self, config: BrokerConfig) -> None:
        """Looks up the names among the addresses to be opened, in a thread. Raises BindError."""
        for each in self._difference(config)[0]:
            if address(each.host) is None:
                try:
                    self._addresses[each.host] = await asyncio.to_thread(_find, each.host)
                except (OSError, UnicodeError) as error:
                    raise _not_bound(each, error) from error

    def _address(self, host: str) -> str:
        return self._addresses.get(host, host)

    def accept(self) -> None:
        self._accepts = True
        for name, sock in self._sockets.items():
            sock.listen(BACKLOG)
            self.resume(name)

    def resume(self, name: str) -> None:
        """Accepts clients of this listener again, unless it was closed."""
        sock = self._sockets.get(name)
        if sock is not None and self._accepts:
            self._loop.add_reader(sock.fileno(), self._on_connect, sock, name)

    def pause(self, name: str) -> None:
        """Clients of this listener wait in the kernel's queue until it is resumed."""
        self._loop.remove_reader(self._sockets[name].fileno())

    def close(self) -> None:
        self._close(list(self._sockets))

    def _difference(self, config: BrokerConfig) -> tuple[list[Listener], list[str]]:
        """The listeners to be opened, and the names of those to be closed."""
        wanted = {each.name: each for each in config.listeners}
        added = [each for name, each in wanted.items() if self._asked.get(name) != each]
        going = [name for name in self._sockets if self._asked[name] != wanted.get(name)]
        return added, going

    def _bind(self, listeners: Iterable[Listener]) -> dict[str, socket.socket]:
        opened: dict[str, socket.socket] = {}
        try:
            for each in listeners:
                address = self._address(each.host)
                backlog = BACKLOG if self._accepts else None
                opened[each.name] = _bound(each, address, each.port, backlog)
        except BindError:
            for sock in opened.values():
                sock.close()
            raise
        return opened

    def _open_again(self, before: dict[str, Listener]) -> None:
        """Opens the old listeners again after the new ones could not be opened."""
        for name, listener in before.items():
            try:
                self._sockets |= self._bind([listener])
                self.resume(name)
            except BindError as error:
                logger.error("a listener is lost until the next change or start: %s", error)
                del self._asked[name]

    def _close(self, names: Iterable[str]) -> None:
        for name in names:
            self.pause(name)
            self._sockets.pop(name).close()


def _bound(
    listener: Listener, address: str, port: int, backlog: int | None = None
) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        if ip_address(sock.getsockname()[0]).is_loopback:
            _do_not_pace(sock)
        if backlog is not None:
            sock.listen(backlog)
    except OSError as error:
        sock.close()
        raise _not_bound(listener, error) from error
    return sock


def _not_bound(listener: Listener, error: OSError | UnicodeError) -> BindError:
    why = error.strerror if isinstance(error, OSError) else None
    return BindError(f"cannot listen on {listener}: {why or error}", listener.name)


def _find(name: str) -> str:
    """The first IPv4 address of the name, as bind() takes it."""
    family = socket.AF_INET6 if ":" in name else socket.AF_INET  # a broken address, but one
    return str(socket.getaddrinfo(name, None, family, socket.SOCK_STREAM)[0][4][0])


def _overlap(one: str, other: str) -> bool:
    """Whether two sockets at these addresses cannot use the same port."""
    first, second = ip_address(one or "0.0.0.0"), ip_address(other)
    if first.version == second.version:
        return first == second or first.is_unspecified or second.is_unspecified
    return (first if first.version == 6 else second).is_unspecified  # it takes IPv4, too


def _do_not_pace(sock: socket.socket) -> None:
    """Has accepted connections send as fast as the peer reads: bbr paces by a timer for each
    segment, which on the loopback interface costs time and gains nothing (docs/decisions/0005).
    Must be set on the listening socket: a connection that has been paced stays so."""
    with suppress(OSError):  # a system that leaves no choice
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, UNPACED)
