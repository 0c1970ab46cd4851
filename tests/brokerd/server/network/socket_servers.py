"""A SocketServer without a broker, and what its connections need."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from brokerd.config.broker_config import parse
from brokerd.metric_counters import LoopTimes
from brokerd.server.network.socket_server import SocketServer

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nlisteners=PLAINTEXT://127.0.0.1:0\n"


def router() -> Any:
    """It serves nothing."""
    return SimpleNamespace(
        receive_bytes_max=1 << 16, frame_bytes_max=1 << 20, frames=lambda *_: 0,
        tick=SimpleNamespace(begin=lambda: None, connections_for_next_tick=0), has_unappended=False,
        puts_off=lambda *_: False,
        metrics=SimpleNamespace(received_bytes=0, requests=0, loop=LoopTimes()),
        times=SimpleNamespace(receive_ends=lambda *_: None),
    )  # fmt: skip


@asynccontextmanager
async def open_socket_server() -> AsyncIterator[SocketServer]:
    one = SocketServer(parse(FILE + "max.connections=1\nqueued.max.request.bytes=1000\n"))
    yield one
    one.close()


class Waiter:
    """Stands for a connection that waits for memory."""

    listener, peer_host = "PLAINTEXT", "here"
    output = SimpleNamespace(sent_bytes=0)

    def __init__(self) -> None:
        self.resumed = 0

    def unmute(self) -> None:
        self.resumed += 1


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)
