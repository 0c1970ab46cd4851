"""Connections that are idle, do not read, or stall a request, without the broker."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from brokerd.metric_counters import LoopTimes
from brokerd.server.network import idle_expiry_manager
from brokerd.server.network.connection import Connection
from brokerd.server.network.idle_expiry_manager import STALLED_S
from brokerd.server.network.output import OutputQueue
from brokerd.server.network.socket_server import SocketServer
from tests.brokerd.server.network.socket_servers import Waiter, open_socket_server, router


@pytest.fixture
async def socket_server() -> AsyncIterator[SocketServer]:
    async with open_socket_server() as one:
        yield one


@contextmanager
def connected_while_memory_is_short(
    socket_server: SocketServer,
) -> Iterator[tuple[Connection, socket.socket]]:
    """A connection with its client's end, while another one waits for memory."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        output = OutputQueue(ours, LoopTimes())
        connection = Connection(ours, output, "here", "PLAINTEXT", socket_server, router())
        socket_server.connections.add(connection)
        waiter: Any = Waiter()
        socket_server.wait_for_memory(waiter)
        yield connection, theirs


async def test_a_half_sent_frame_that_the_broker_reads_no_further_does_not_stand_still(
    socket_server: SocketServer,
) -> None:
    with connected_while_memory_is_short(socket_server) as (connection, theirs):
        theirs.sendall((200_000).to_bytes(4, "big") + bytes(100))
        connection._on_readable()
        assert connection._frame is not None
        connection.mute()  # as while a queue is full
        connection._frame.grown_at -= 2 * STALLED_S
        socket_server._expiry._end_stalled()
        assert not connection.closed, "it is the broker that does not read"
        connection.unmute()
        socket_server._expiry._end_stalled()
        assert not connection.closed, "its turn has just begun"
        connection._frame.grown_at -= 2 * STALLED_S
        socket_server._expiry._end_stalled()
        assert connection.closed


async def test_a_request_that_waits_is_no_excuse_for_a_half_sent_frame(
    socket_server: SocketServer,
) -> None:
    with connected_while_memory_is_short(socket_server) as (connection, theirs):
        connection.output.reserve()  # a long poll
        theirs.sendall((200_000).to_bytes(4, "big") + bytes(100))
        connection._on_readable()
        assert connection._frame is not None
        connection._frame.grown_at -= 2 * STALLED_S
        socket_server._expiry._end_stalled()
        assert connection.closed


async def test_much_that_stands_behind_a_request_that_waits_ends_when_memory_is_short(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_expiry_manager, "REPLIES_BYTES_MAX", 300_000)
    connections = []
    with ExitStack() as stack:
        for size_bytes in (60_000, 170_000, 150_000):
            connection, theirs = stack.enter_context(connected_while_memory_is_short(socket_server))
            connection._receive_bytes = 1 << 18
            theirs.sendall((size_bytes - 4).to_bytes(4, "big") + bytes(size_bytes - 4))
            connection._on_readable()
            connection.mute()  # as behind a request that waits
            assert connection.held_bytes == size_bytes
            connections.append(connection)
        socket_server._expiry._check()
        assert not any(each.closed for each in connections), "they have not waited for long"
        for connection in connections:
            connection.active_at -= 2 * STALLED_S
        socket_server._expiry._check()
        assert [each.closed for each in connections] == [False, True, False]


async def test_where_memory_is_short_who_reads_steadily_goes_last(
    socket_server: SocketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_expiry_manager, "REPLIES_BYTES_MAX", 25_000_000)
    with ExitStack() as stack:
        still, reading = (
            stack.enter_context(connected_while_memory_is_short(socket_server)) for _ in range(2)
        )
        for (connection, _), size_bytes in zip(
            (still, reading), (10_000_000, 20_000_000), strict=True
        ):
            connection.output.add_parts([bytes(size_bytes)])
            connection.flush()
            connection.blocked_at -= 2 * STALLED_S
            connection.active_at -= 2 * STALLED_S
        theirs = reading[1]
        theirs.recv(1 << 20)
        reading[0]._on_writable()
        socket_server._expiry._check()
        assert (still[0].closed, reading[0].closed) == (True, False)
        monkeypatch.setattr(idle_expiry_manager, "REPLIES_BYTES_MAX", 0)
        socket_server._expiry._check()
        assert reading[0].closed, "or it could hold memory for as long as it likes"
