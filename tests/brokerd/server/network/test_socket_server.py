"""The connections of a broker, without the broker: memory, names of hosts."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from brokerd.config.broker_config import parse
from brokerd.server.network import socket_server as socket_server_module
from brokerd.server.network.socket_server import SocketServer
from tests.brokerd.server.network.socket_servers import FILE, Waiter, open_socket_server, until


@pytest.fixture
async def socket_server() -> AsyncIterator[SocketServer]:
    async with open_socket_server() as one:
        yield one


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
    assert socket_server.acceptor.quotas.admit("127.0.0.1", "PLAINTEXT", False)
    socket_server.acceptor.quotas.leave("127.0.0.1", "PLAINTEXT")
    socket_server.reconfigure(replace(config, max_connections=5))
    await until(lambda: not socket_server.acceptor.quotas.admit("127.0.0.1", "PLAINTEXT", False))
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
