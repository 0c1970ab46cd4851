"""The listeners and the connections of a broker, without the broker: places, memory, limits."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from brokerd.config.broker_config import parse
from brokerd.server.network import connections_without_request as new_connections_module
from brokerd.server.network import socket_server as socket_server_module
from brokerd.server.network.socket_server import SocketServer
from tests.brokerd.server.network.socket_servers import FILE, Waiter, open_socket_server, router


@pytest.fixture
async def socket_server() -> AsyncIterator[SocketServer]:
    async with open_socket_server() as one:
        yield one


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)


async def test_a_connection_that_cannot_begin_gives_its_place_back(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await socket_server.open(parse(FILE))
    (port,) = socket_server.listeners.ports.values()
    socket_server.accept(router())
    with monkeypatch.context() as broken, socket.create_connection(("127.0.0.1", port)) as client:

        def fail(*_: object) -> None:
            raise OSError(12, "Cannot allocate memory")

        broken.setattr(SocketServer, "_connection", fail)
        await until(lambda: caplog.records)
        client.settimeout(10)
        assert client.recv(1) == b""
    assert "a connection of 127.0.0.1 on PLAINTEXT could not begin" in caplog.text
    assert not socket_server.opened
    with socket.create_connection(("127.0.0.1", port)):  # max.connections is 1
        await until(lambda: socket_server.connections)


async def test_who_waits_for_memory_goes_on_once_and_not_when_it_is_gone(
    socket_server: SocketServer,
) -> None:
    first, gone = Waiter(), Waiter()
    one: Any = first
    other: Any = gone
    socket_server.buffers.lend(1000)
    for each in (one, other, one):
        socket_server.wait_for_memory(each)
    socket_server.forget(other)
    socket_server.buffers.repay(1000)
    assert (first.resumed, gone.resumed) == (1, 0)


async def test_names_among_the_overrides_are_looked_up_without_holding_up_the_loop(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    may_answer = threading.Event()
    asked: list[str] = []

    def look_up(text: str) -> dict[str, int]:
        assert threading.current_thread() is not threading.main_thread()
        asked.append(text)
        assert may_answer.wait(10)
        if len(asked) == 1:
            raise ValueError("no answer")
        return {"127.0.0.1": 0}

    monkeypatch.setattr(socket_server_module, "limits_by_address", look_up)
    config = replace(parse(FILE), max_connections_per_ip_overrides="slow.example:0")
    socket_server.reconfigure(config)
    await until(lambda: asked)  # the loop turns meanwhile
    may_answer.set()
    await until(lambda: [each for each in caplog.records if each.levelno == logging.ERROR])
    assert socket_server._quotas.admit("127.0.0.1", "PLAINTEXT", False)
    socket_server._quotas.leave("127.0.0.1", "PLAINTEXT")
    socket_server.reconfigure(replace(config, max_connections=5))
    await until(lambda: not socket_server._quotas.admit("127.0.0.1", "PLAINTEXT", False))
    assert asked == ["slow.example:0"] * 2


async def test_however_many_overrides_are_set_and_never_found_threads_are_left_for_others(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()

    def look_up(text: str) -> dict[str, int]:
        assert may_answer.wait(60)
        return {}

    monkeypatch.setattr(socket_server_module, "limits_by_address", look_up)
    try:
        for number in range(200):
            overrides = f"slow{number}.example:0,other.example:1"
            socket_server.reconfigure(
                replace(parse(FILE), max_connections_per_ip_overrides=overrides)
            )
            await asyncio.sleep(0)
        await asyncio.wait_for(asyncio.to_thread(int), 30)
    finally:
        may_answer.set()
    await until(lambda: socket_server._overrides_text == overrides)


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
    monkeypatch.setattr(new_connections_module, "FIRST_REQUEST_S", 0.0)
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
    monkeypatch.setattr(new_connections_module, "FIRST_REQUEST_S", 1000.0)
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
    monkeypatch.setattr(new_connections_module, "FIRST_REQUEST_S", 1.0)
    async with full(limit) as (socket_server, _, silent):
        with connected(socket_server):
            await ended(silent)
            await until(lambda: socket_server.opened["PLAINTEXT"] == 3)


async def test_names_that_are_never_found_keep_no_other_thread_busy(
    socket_server: SocketServer,
) -> None:
    may_answer, asked = threading.Event(), []
    loop, many = asyncio.get_running_loop(), 200

    def look_up(number: int) -> int:
        asked.append(number)
        assert may_answer.wait(60)
        return number

    lookups = [
        loop.run_in_executor(socket_server.host_lookups, look_up, number) for number in range(many)
    ]
    try:
        for _ in range(many):
            await asyncio.wait_for(asyncio.to_thread(int), 30)
        assert asked == [0], "one at a time"
        lookups[1].cancel()
        await asyncio.wait([lookups[1]])
    finally:
        may_answer.set()
    found = await asyncio.gather(*lookups, return_exceptions=True)
    assert asked == [0, *range(2, many)], "what nobody waits for is not looked up"
    assert found[2:] == asked[1:]
