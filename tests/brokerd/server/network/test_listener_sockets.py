"""Listening sockets without the broker: opened, moved, closed, and as they were when that fails."""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.broker_config import BrokerConfig, parse
from brokerd.config.ssl_configs import SslConfigs
from brokerd.security import ssl_factory
from brokerd.security.ssl_engine_factory import TlsError
from brokerd.server.network.listener_sockets import UNPACED, BindError, ListenerSockets
from tests.support.pki import Authority
from tests.support.ports import free_port
from tests.support.wire import is_open

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"


def config(listeners: str, more: str = "") -> BrokerConfig:
    names = [each.partition("://")[0] for each in listeners.split(",")]
    protocols = ",".join(f"{name}:{'SSL' if name == 'TLS' else 'PLAINTEXT'}" for name in names)
    return parse(f"{FILE}listeners={listeners}\nlistener.security.protocol.map={protocols}\n{more}")


@pytest.fixture
async def listeners() -> AsyncIterator[ListenerSockets]:
    """It accepts, and says nothing to anybody."""
    one = ListenerSockets(lambda sock, name: sock.accept()[0].close())
    one.accept()
    yield one
    one.close()


async def test_they_come_go_and_stay(listeners: ListenerSockets) -> None:
    await listeners.open(config("A://127.0.0.1:0,B://127.0.0.1:0"))
    first = listeners.ports
    assert all(map(is_open, first.values()))
    await listeners.open(config("A://127.0.0.1:0,C://127.0.0.1:0"))
    assert list(listeners.ports) == ["A", "C"]
    assert listeners.ports["A"] == first["A"]
    assert "B" not in listeners
    assert not is_open(first["B"])
    await listeners.open(config(f"A://127.0.0.1:{first['B']},C://127.0.0.1:0"))
    assert listeners.ports["A"] == first["B"]
    assert (is_open(first["A"]), is_open(first["B"])) == (False, True)
    await listeners.open(config(f"D://127.0.0.1:{first['B']}"))  # the same place under another name
    assert listeners.ports == {"D": first["B"]}


async def test_what_cannot_be_opened_changes_nothing(listeners: ListenerSockets) -> None:
    port, other = free_port(), free_port()
    await listeners.open(config(f"A://127.0.0.1:{port}"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wrong = config(f"A://127.0.0.1:{other},B://127.0.0.1:{taken.getsockname()[1]}")
        for attempt in (listeners.check, listeners.open):
            with pytest.raises(BindError, match=r"cannot listen on B://.*: Address already in use"):
                await attempt(wrong)
            assert listeners.ports == {"A": port}
            assert (is_open(port), is_open(other)) == (True, False)
    with pytest.raises(TlsError) as caught:
        await listeners.open(
            config(
                f"TLS://127.0.0.1:{other}",
                "ssl.keystore.type=PEM\nssl.keystore.location=/no/where.pem\n",
            )
        )
    assert caught.value.listener == "TLS"
    assert listeners.ports == {"A": port}
    await listeners.check(wrong)  # by now it is free
    await listeners.open(wrong)
    assert list(listeners.ports) == ["A", "B"]
    assert not is_open(port)


async def test_one_that_is_open_speaks_as_before_when_its_store_is_gone(
    listeners: ListenerSockets, tmp_path: Path
) -> None:
    store, issued = tmp_path / "store.pem", Authority("ours").issue("broker")
    store.write_text(issued.key + issued.chain)
    own = f"ssl.keystore.type=PEM\nssl.keystore.location={store}\n"
    await listeners.open(config("TLS://127.0.0.1:0", own))
    before = listeners.tls_contexts.current["TLS"]
    store.unlink()
    await listeners.open(config("TLS://127.0.0.1:0,A://127.0.0.1:0", own))
    assert listeners.tls_contexts.current == {"TLS": before}
    assert all(map(is_open, listeners.ports.values()))
    assert list(listeners.ports) == ["TLS", "A"]


async def test_others_are_served_while_stores_are_opened(
    listeners: ListenerSockets, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = threading.Event()

    def slow(settings: SslConfigs) -> ssl.SSLContext:
        assert served.wait(30), "the event loop stands still"
        return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    monkeypatch.setattr(ssl_factory, "server_context", slow)
    wanted = config("TLS://127.0.0.1:0", "ssl.keystore.type=PEM\nssl.keystore.location=/a.pem\n")
    for attempt in (listeners.check_store(wanted.tls["TLS"]), listeners.open(wanted)):
        served.clear()
        asyncio.get_running_loop().call_later(0.01, served.set)
        await attempt


@pytest.mark.parametrize("place", ["0.0.0.0", "", "[::]", "[::ffff:0.0.0.0]", "0", "10.1.2.3"])
async def test_none_is_opened_that_reaches_further_than_those_of_the_file(place: str) -> None:
    file, told = config("A://localhost:0"), "advertised.listeners=A://localhost:0\n"
    one = ListenerSockets(lambda sock, name: None, file)
    await one.open(file)
    ports = one.ports
    wanted = config(f"A://localhost:0,B://{place}:0", told)
    for attempt in (one.check, one.open):
        with pytest.raises(BindError, match=r"B://.* can be reached from where no list") as caught:
            await attempt(wanted)
        assert caught.value.listener == "B"
        assert one.ports == ports
    await one.open(config("A://localhost:0,B://127.0.0.1:0", told))
    assert list(one.ports) == ["A", "B"]
    one.close()


async def test_those_of_the_file_are_where_the_file_has_them() -> None:
    told = "advertised.listeners=A://127.0.0.1:9\n"
    file = config("A://0.0.0.0:0", told)
    one = ListenerSockets(lambda sock, name: None, file)
    for added in ("B://127.0.0.1:0", "B://0.0.0.0:0"):
        await one.open(config(f"A://0.0.0.0:0,{added}", told))
        assert list(one.ports) == ["A", "B"]
    one.close()


async def test_one_that_was_closed_while_it_was_paused_stays_closed(
    listeners: ListenerSockets,
) -> None:
    await listeners.open(config("A://127.0.0.1:0,B://127.0.0.1:0"))
    listeners.pause("B")
    await listeners.open(config("A://127.0.0.1:0"))
    listeners.resume("B")
    await asyncio.sleep(0)
    assert "B" not in listeners


def _congestion_control(sock: socket.socket) -> bytes:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
async def test_who_comes_over_loopback_is_sent_to_without_pacing(host: str) -> None:
    taken: list[socket.socket] = []
    one = ListenerSockets(lambda sock, name: taken.append(sock.accept()[0]))
    await one.open(config(f"A://{host}:0"))
    one.accept()
    with socket.create_connection((host.strip("[]"), one.ports["A"])):
        async with asyncio.timeout(5):
            while not taken:
                await asyncio.sleep(0)
        with taken[0] as sock:
            assert _congestion_control(sock) == UNPACED
    one.close()


async def test_elsewhere_the_congestion_control_is_the_systems() -> None:
    with socket.socket() as sock:
        of_the_system = _congestion_control(sock)
    one = ListenerSockets(lambda sock, name: None)
    await one.open(config("A://0.0.0.0:0", "advertised.listeners=A://127.0.0.1:9\n"))
    (sock,) = one._sockets.values()
    assert _congestion_control(sock) == of_the_system
    one.close()


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid", "a..b", "x" * 70])
async def test_one_is_not_moved_to_an_address_that_cannot_be_on_its_own_port_either(
    listeners: ListenerSockets, host: str
) -> None:
    await listeners.open(config("A://127.0.0.1:0"))
    port = listeners.ports["A"]
    wrong = config(f"A://{host}:{port}")
    for attempt in (listeners.check, listeners.open):
        with pytest.raises(BindError, match=f"cannot listen on A://{host}:{port}: "):
            await attempt(wrong)
    assert listeners.ports == {"A": port}
    assert is_open(port)


async def test_a_port_of_ones_own_is_free_for_it_where_nobody_else_has_it(
    listeners: ListenerSockets,
) -> None:
    await listeners.open(config("A://127.0.0.1:0"))
    port = listeners.ports["A"]
    everywhere = config(f"A://0.0.0.0:{port}", f"advertised.listeners=A://127.0.0.1:{port}\n")
    with socket.create_server(("127.0.0.2", port)):
        with pytest.raises(BindError, match=f"cannot listen on A://127.0.0.2:{port}: Address alr"):
            await listeners.check(config(f"A://127.0.0.2:{port}"))
    for wanted in (config(f"A://localhost:{port}"), everywhere, config(f"B://127.0.0.1:{port}")):
        await listeners.check(wanted)
        await listeners.open(wanted)
        assert set(listeners.ports.values()) == {port}
        assert is_open(port)


async def test_a_name_is_looked_up_while_others_are_served(
    listeners: ListenerSockets, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = threading.Event()
    get_address = socket.getaddrinfo

    def slow(*arguments: Any, **options: Any) -> Any:
        assert served.wait(10)
        return get_address(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    opening = asyncio.ensure_future(listeners.open(config("A://localhost:0")))
    asyncio.get_running_loop().call_later(0.01, served.set)
    await opening
    assert is_open(listeners.ports["A"])
