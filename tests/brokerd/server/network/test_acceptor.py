"""Which clients of the listeners are accepted, without a broker: places and limits."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import pytest

from brokerd.config.broker_config import parse
from brokerd.server.network import connection_quotas
from brokerd.server.network import socket_server as socket_server_module
from brokerd.server.network.socket_server import SocketServer
from tests.brokerd.server.network.socket_servers import FILE, open_socket_server, router, until


@pytest.fixture
async def socket_server() -> AsyncIterator[SocketServer]:
    async with open_socket_server() as one:
        yield one


async def test_a_connection_that_cannot_begin_gives_its_place_back(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await socket_server.open(parse(FILE))
    (port,) = socket_server.listeners.ports.values()
    socket_server.accept(router())
    with monkeypatch.context() as broken, socket.create_connection(("127.0.0.1", port)) as client:

        def fail(*_: object) -> None:
            raise OSError(12, "Cannot allocate memory")

        broken.setattr(socket_server_module, "Connection", fail)
        await until(lambda: caplog.records)
        client.settimeout(10)
        assert client.recv(1) == b""
    assert "a connection of 127.0.0.1 on PLAINTEXT could not begin" in caplog.text
    assert not socket_server.opened
    with socket.create_connection(("127.0.0.1", port)):  # max.connections is 1
        await until(lambda: socket_server.connections)


def answering() -> Any:
    """A router to which all that comes is one request."""
    made = router()

    def frames(_connection: object, _buffer: object, _view: object, _start: int, end: int) -> int:
        made.metrics.requests += 1
        return end

    made.frames = frames
    return made


FULL = ("max.connections=2\n", "listener.name.plaintext.max.connections=2\n")


@asynccontextmanager
async def full(limit: str) -> AsyncIterator[tuple[SocketServer, socket.socket, socket.socket]]:
    """A SocketServer with two places, one of them taken by who has asked, then one by who has not;
    and both clients."""
    made = SocketServer(parse(FILE + limit))
    with ExitStack() as stack:
        stack.callback(made.close)
        await made.open(parse(FILE + limit))
        made.accept(answering())
        asked, silent = (stack.enter_context(connected(made)) for _ in range(2))
        await until(lambda: len(made.connections) == 2)
        asked.sendall(b"a request")
        await until(lambda: any(each.has_asked for each in made.connections))
        yield made, asked, silent


def connected(socket_server: SocketServer) -> socket.socket:
    """A client that has connected, whether it was accepted or not."""
    (port,) = socket_server.listeners.ports.values()
    client = socket.create_connection(("127.0.0.1", port))
    client.setblocking(False)
    return client


async def ended(client: socket.socket) -> None:
    async with asyncio.timeout(30):
        assert await asyncio.get_running_loop().sock_recv(client, 1) == b""


@pytest.mark.parametrize("limit", FULL)
async def test_who_never_asked_ends_for_others_and_who_did_does_not(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_quotas, "FIRST_REQUEST_S", 0.0)
    async with full(limit) as (socket_server, _, silent):
        (kept,) = (each for each in socket_server.connections if each.has_asked)
        with connected(socket_server) as another, connected(socket_server) as last:
            await ended(silent)
            await ended(another)
            await until(lambda: socket_server.opened["PLAINTEXT"] == 4)
            last.sendall(b"a request")
            await until(lambda: all(each.has_asked for each in socket_server.connections))
            assert kept in socket_server.connections
            with connected(socket_server):
                for _ in range(20):
                    await asyncio.sleep(0.01)
                assert socket_server.opened["PLAINTEXT"] == 4, "nobody ends who has asked"
                last.close()
                await until(lambda: socket_server.opened["PLAINTEXT"] == 5)


@pytest.mark.parametrize("limit", FULL)
async def test_who_has_just_come_is_given_time_while_others_wait(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_quotas, "FIRST_REQUEST_S", 1000.0)
    async with full(limit) as (socket_server, _, silent):
        with connected(socket_server):
            for _ in range(20):
                await asyncio.sleep(0.01)
            assert socket_server.opened["PLAINTEXT"] == 2
            silent.close()
            await until(lambda: socket_server.opened["PLAINTEXT"] == 3)


@pytest.mark.parametrize("limit", FULL)
async def test_who_waits_comes_in_when_the_time_of_another_is_over(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_quotas, "FIRST_REQUEST_S", 1.0)
    async with full(limit) as (socket_server, _, silent):
        with connected(socket_server):
            await ended(silent)
            await until(lambda: socket_server.opened["PLAINTEXT"] == 3)
