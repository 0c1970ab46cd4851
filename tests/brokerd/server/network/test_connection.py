"""One connection on a real socket, without a broker: whose fault an error is, and whose turn."""

import asyncio
import errno
import logging
import math
import os
import socket
from collections.abc import AsyncIterator, Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import OutputQueue
from brokerd.server.network.receive_buffers import LoanedFrame, ReceiveBuffers


class Bench:
    """A connection, its client, and a router that does as it is told."""

    def __init__(self) -> None:
        ours, self.client = socket.socketpair()
        ours.setblocking(False)
        self.socket = ours
        self.serve: Callable[[], int] = lambda: 0
        self.router: Any = SimpleNamespace(
            receive_bytes_max=1 << 16, frame_bytes_max=1 << 20, frames=lambda *_: self.serve(),
            tick=SimpleNamespace(begin=lambda: None, connections_for_next_tick=0),
            has_unappended=False,
            metrics=SimpleNamespace(received_bytes=0, requests=0),
            times=SimpleNamespace(receive_ends=lambda *_: None),
        )  # fmt: skip
        self.socket_server: Any = SimpleNamespace(
            buffers=ReceiveBuffers(-1, lambda: None), forget=lambda connection: None
        )
        self.connection = Connection(
            ours,
            OutputQueue(ours, LoopTimes()),
            "here",
            "PLAINTEXT",
            self.socket_server,
            self.router,
        )

    def receive(self, data: bytes = b"") -> None:
        if data:
            self.client.sendall(data)
        self.connection._on_readable()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    one = Bench()
    yield one
    one.connection.close(None)
    one.client.close()


async def test_an_error_of_the_socket_ends_the_connection_in_a_line(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bench.receive()  # nothing there
    assert not bench.connection.closed
    os.dup2(os.open("/dev/null", os.O_RDONLY), bench.socket.fileno())
    bench.receive()
    assert bench.connection.closed
    assert [each.exc_info for each in caplog.records] == [None]
    assert "closing here on PLAINTEXT: Socket operation on non-socket" in caplog.text


@pytest.mark.parametrize("number", [errno.EIO, errno.EAGAIN])
@pytest.mark.parametrize("size", [40, 100_000])
async def test_an_error_of_what_serves_is_not_taken_for_one_of_the_socket(
    bench: Bench, caplog: pytest.LogCaptureFixture, number: int, size: int
) -> None:
    def fail() -> int:
        raise OSError(number, os.strerror(number))

    head = size.to_bytes(4, "big")
    if size > 1 << 16:  # a buffer of its own: the head first
        bench.receive(head)
        bench.connection._frame = LoanedFrame(
            bench.socket_server.buffers, size + 4, memoryview(bytes(size)), 0.0
        )
        head = b""
    bench.serve = fail
    bench.receive(head + bytes(40))
    assert bench.connection.closed
    (told,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert told.exc_info
    assert told.getMessage() == "a request of here could not be served"


async def test_a_connection_is_idle_only_while_its_client_could_go_on(bench: Bench) -> None:
    connection, later = bench.connection, math.inf
    assert connection.is_idle_since(later)
    slot = connection.output.reserve()
    assert not connection.is_idle_since(later)  # it is answered first
    connection.deliver(slot, [b"x"])
    assert connection.is_idle_since(later)
    connection.mute()
    assert not connection.is_idle_since(later)
    connection.unmute()
    connection._pause()  # as while memory to receive into is short
    assert not connection.is_idle_since(later)


async def test_a_client_that_waited_for_long_has_its_time_to_take_the_reply(bench: Bench) -> None:
    connection = bench.connection
    connection.active_at -= 1000
    slot = connection.output.reserve()
    connection.deliver(slot, [bytes(10_000_000)])
    assert connection.awaits_client
    assert not connection.is_idle_since(monotonic() - 10)


async def test_what_was_kept_is_served_once_a_turn_however_many_replies_were_sent(
    bench: Bench,
) -> None:
    served = 0

    def serve() -> int:  # others have their turn first
        nonlocal served
        served += 1
        return 0

    bench.serve = serve
    slots = [bench.connection.output.reserve() for _ in range(3)]
    bench.receive((40).to_bytes(4, "big") + bytes(40))
    for slot in slots:
        bench.connection.deliver(slot, [b"x"])
    for turn in range(5):
        assert served == 1 + turn
        assert bench.router.tick.connections_for_next_tick == 1
        await asyncio.sleep(0)
