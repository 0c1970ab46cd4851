"""Requests that wait and what is sent behind them, over real sockets, with handlers of our own."""

import asyncio
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from brokerd.clock import SystemClock
from brokerd.config.broker_config import parse
from brokerd.metric_counters import BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch
from brokerd.replication.partition import Partition
from brokerd.server import router as router_module
from brokerd.server.network import idle_expiry_manager
from brokerd.server.network.socket_server import SocketServer
from brokerd.server.produce import produce_responder
from brokerd.server.produce.append_queues import AppendQueues
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from brokerd.server.router import Router
from tests.brokerd.replication.support import replica, state
from tests.brokerd.server.led import led
from tests.support.pki import Authority

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nqueued.max.request.bytes=4000000\n"
LARGE_BYTES = 2_500_000
PIECE_BYTES = 4096


def join(metadata_bytes: int = 0) -> bytes:
    protocols = [{"name": "range", "metadata": bytes(metadata_bytes)}]
    fields = {
        "group_id": "g", "session_timeout": 30_000, "rebalance_timeout": 2**31 - 1,
        "member_id": "", "protocol_type": "consumer", "protocols": protocols,
    }  # fmt: skip
    return encode_request(ApiKey.JOIN_GROUP, 2, fields, 1, "c")


HEARTBEAT = encode_request(
    ApiKey.HEARTBEAT, 0, {"group_id": "g", "generation_id": 1, "member_id": "m"}, 3, "c"
)


def produce(acks: int, topic: str = "t") -> bytes:
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", b"v")]))
    fields = {
        "transactional_id": None, "acks": acks, "timeout": 5000,
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": records}]}],
    }  # fmt: skip
    return encode_request(ApiKey.PRODUCE, 8, fields, 2, "c")


JOINED = {
    "error_code": 0, "generation_id": 1, "protocol_name": "", "leader": "", "member_id": "",
    "members": [],
}  # fmt: skip


class Bench:
    """A SocketServer and a router: a JoinGroup waits until it `may_join`, a Heartbeat does not."""

    def __init__(self, directory: Path, protocol: str) -> None:
        text = FILE + f"listeners={protocol}://127.0.0.1:0\n"
        self._tls: ssl.SSLContext | None = None
        if protocol == "SSL":
            issued = Authority("tests").issue("broker")
            (directory / "broker.pem").write_text(issued.key + issued.chain)
            text += f"ssl.keystore.type=PEM\nssl.keystore.location={directory}/broker.pem\n"
            text += "security.inter.broker.protocol=SSL\n"
            self._tls = ssl.create_default_context()
            self._tls.check_hostname = False
            self._tls.verify_mode = ssl.CERT_NONE
        config, metrics, clock = parse(text), BrokerMetrics(), SystemClock()
        self.socket_server = SocketServer(config)
        times = RequestTimes(metrics, 1.0)
        self.get: Callable[[str, int], Partition | None] = self._has_none
        produces = ProduceHandler(
            led(lambda topic, index: self.get(topic, index), metrics),
            AppendQueues(clock, self.socket_server.buffers), Purgatory(times), clock,
            "header",
        )  # fmt: skip
        self.takes_s = 0.0  # what is answered at once
        self.may_join = asyncio.Event()
        self.joined: list[int] = []
        handlers: dict[int, Any] = {
            ApiKey.JOIN_GROUP: self._join, ApiKey.HEARTBEAT: self._heartbeat,
        }  # fmt: skip
        self._config = config
        no_fetches: Any = None
        self.router = Router(times, produces, no_fetches, handlers, lambda _: None, 100 << 20)
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> None:
        await self.socket_server.open(self._config)
        (self._port,) = self.socket_server.listeners.ports.values()
        self.socket_server.accept(self.router)

    def _heartbeat(self, *_: Any) -> Any:
        time.sleep(self.takes_s)
        return {"error_code": 0}

    def _has_none(self, *_: Any) -> None:
        time.sleep(self.takes_s)

    async def _join(self, _context: Any, request: Any) -> Any:
        self.joined.append(len(request.protocols[0].metadata))
        await self.may_join.wait()
        return JOINED

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._tls)
        self._writers.append(writer)
        return reader, writer

    def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self.socket_server.close()


@pytest.fixture(params=["PLAINTEXT", "SSL"])
async def bench(request: Any, tmp_path: Path) -> AsyncIterator[Bench]:
    one = Bench(tmp_path, request.param)
    await one.open()
    yield one
    one.close()


async def answer(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(10):
        size = int.from_bytes(await reader.readexactly(4), "big")
        return await reader.readexactly(size)


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("together", [8, PIECE_BYTES, 200_000])
async def test_what_is_sent_behind_a_request_that_waits_takes_no_memory_from_others(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(idle_expiry_manager, "STALLED_S", 0.2)
    readers = []
    large = join(LARGE_BYTES)
    for number in range(2):
        reader, writer = await bench.connect()
        writer.write(join() + large[:together])
        await until(lambda number=number: len(bench.joined) == number + 1)
        writer.write(large[together:])
        readers.append(reader)
    reader, writer = await bench.connect()
    for _ in range(20):  # what the others have sent is received meanwhile, if it is
        writer.write(HEARTBEAT)
        assert await answer(reader)
    assert bench.socket_server.buffers.held_bytes == 0
    assert len(bench.socket_server.connections) == 3
    bench.may_join.set()
    for reader in readers:
        assert await answer(reader)
        assert await answer(reader)
    assert bench.joined == [0, 0, LARGE_BYTES, LARGE_BYTES]
    assert bench.socket_server.buffers.held_bytes == 0


@pytest.mark.parametrize(("kept", "served"), [(0, 512), (3, 128), (63, 8), (10_000, 8)])
async def test_the_more_clients_have_sent_the_less_of_each_is_served_in_a_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kept: int, served: int
) -> None:
    count = 600
    parts = served_together(bench, monkeypatch)
    monkeypatch.setattr(router_module, "SERVED_S", 3600)
    monkeypatch.setattr(router_module, "SERVED_MIN_S", 3600)
    bench.router.tick.connections_for_next_tick = (
        kept  # clients that have more than was served in the last turn
    )
    reader, writer = await bench.connect()
    writer.write(HEARTBEAT * count)
    for _ in range(count):
        assert await answer(reader)
    assert sum(parts) == count
    assert max(parts) == served
    assert bench.router.tick.connections_for_next_tick == kept


def served_together(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests are served each time that a connection has its turn."""
    parts: list[int] = []
    serve = bench.router.frames

    def frames(*args: Any, **named: Any) -> int:
        before = bench.router.metrics.requests
        position = serve(*args, **named)
        parts.append(bench.router.metrics.requests - before)
        return position

    monkeypatch.setattr(bench.router, "frames", frames)
    return parts


@pytest.mark.parametrize(("kept", "served"), [(0, 2), (4, 1)])
@pytest.mark.parametrize("request_", [HEARTBEAT, produce(acks=1)], ids=["Heartbeat", "Produce"])
async def test_requests_that_take_long_leave_the_others_their_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, request_: bytes, kept: int, served: int
) -> None:
    parts = served_together(bench, monkeypatch)
    bench.takes_s = 0.003
    bench.router.tick.connections_for_next_tick = (
        kept  # clients that have more than was served in the last turn
    )
    reader, writer = await bench.connect()
    writer.write(request_ * 20)
    for _ in range(20):
        assert await answer(reader)
    assert sum(parts) == 20
    assert max(parts) <= served


async def test_behind_produces_that_are_not_safe_yet_no_other_large_request_is_received(
    bench: Bench,
) -> None:
    bench.may_join.set()
    reader, writer = await bench.connect()
    writer.write(HEARTBEAT)
    assert await answer(reader)
    (connection,) = bench.socket_server.connections
    connection.produces_open += 1
    large = join(LARGE_BYTES)
    writer.write(large[:PIECE_BYTES])
    await until(lambda: not connection.awaits_client)
    writer.write(large[PIECE_BYTES:])
    assert connection._frame is None
    connection.produces_open -= 1
    connection.unmute_if_done()
    assert await answer(reader)
    assert bench.joined == [LARGE_BYTES]


async def test_what_ends_a_connection_takes_no_more_of_a_large_request(bench: Bench) -> None:
    reader, writer = await bench.connect()
    writer.write(HEARTBEAT + join(LARGE_BYTES)[:PIECE_BYTES])
    assert await answer(reader)
    (connection,) = bench.socket_server.connections
    assert connection._frame is not None
    connection.output.reserve()  # a long poll
    connection.end("a Produce with acks=0 failed")
    assert bench.socket_server.buffers.held_bytes == 0


@pytest.mark.parametrize("cannot_be_told", [False, True])
async def test_what_ends_or_closes_at_the_turns_end_takes_no_memory_for_what_was_sent_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, cannot_be_told: bool
) -> None:
    reader, writer = await bench.connect()
    writer.write(HEARTBEAT)
    assert await answer(reader)
    (connection,) = bench.socket_server.connections
    connection.output.reserve()  # a long poll
    if cannot_be_told:
        monkeypatch.setattr(produce_responder, "_answer_by_closing", lambda *_: 1 // 0)
    bench.router.metrics.loop.waking = 10  # others are served in this turn, too
    writer.write(produce(acks=0) + join(LARGE_BYTES)[:PIECE_BYTES])
    await until(lambda: connection.closed or connection.tasks_open)
    assert connection.closed is cannot_be_told
    assert bench.socket_server.buffers.held_bytes == 0


async def test_who_was_appended_for_before_another_failed_is_answered(
    bench: Bench, tmp_path: Path
) -> None:
    partition = replica(tmp_path, 1)
    partition.apply(state(1, 1, replicas=(1,), isr=(1,)), 0)

    def get(topic: str, _: int) -> Partition:
        if topic == "t":
            return partition
        raise ZeroDivisionError

    bench.get = get
    (reader, writer), (other, to_other) = [await bench.connect() for _ in range(2)]
    writer.write(produce(acks=1))
    assert await answer(reader)
    bench.router.metrics.loop.waking = 10  # others are served in this turn, too
    writer.write(produce(acks=1))  # recognised: it waits for the end of the turn
    to_other.write(produce(acks=1, topic="u"))
    async with asyncio.timeout(10):
        assert await other.read(1) == b""
    assert await answer(reader)
    assert partition.log.log_end_offset == 2


@pytest.mark.parametrize("failure", [RuntimeError("no such field"), asyncio.CancelledError()])
async def test_a_request_whose_answer_cannot_be_made_ends_its_connection(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def fail(*_: Any) -> Any:
        raise failure

    monkeypatch.setattr(router_module, "reply_frame", fail)
    monkeypatch.setattr(router_module, "error_frame", fail)
    bench.may_join.set()
    reader, writer = await bench.connect()
    writer.write(join())
    async with asyncio.timeout(10):
        assert await reader.read(1) == b""


async def test_a_large_request_that_no_thread_decodes_ends_its_connection(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_thread(*_: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(router_module, "in_thread", no_thread)
    reader, writer = await bench.connect()
    writer.write(join(LARGE_BYTES))
    async with asyncio.timeout(10):
        assert await reader.read(1) == b""


async def test_what_is_sent_behind_a_large_request_waits_while_it_is_decoded_and_others_do_not(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_decode = threading.Event()
    decode = router_module.decode_request

    def slow(key: int, version: int, view: Any) -> Any:
        if key == ApiKey.JOIN_GROUP:
            assert may_decode.wait(10)
        return decode(key, version, view)

    monkeypatch.setattr(router_module, "decode_request", slow)
    bench.may_join.set()
    reader, writer = await bench.connect()
    writer.write(join(LARGE_BYTES) + HEARTBEAT)
    other_reader, other_writer = await bench.connect()
    for _ in range(20):
        other_writer.write(HEARTBEAT)
        assert await answer(other_reader)
    assert bench.joined == []
    may_decode.set()
    assert [int.from_bytes((await answer(reader))[:4], "big") for _ in range(2)] == [1, 3]
    assert bench.joined == [LARGE_BYTES]


async def test_the_answer_to_a_large_request_is_encoded_by_a_thread(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []
    encode = router_module.reply_frame

    def noted(context: Any, reply: Any) -> bytes:
        threads.append(threading.current_thread() is not threading.main_thread())
        return encode(context, reply)

    monkeypatch.setattr(router_module, "reply_frame", noted)
    bench.may_join.set()
    reader, writer = await bench.connect()
    writer.write(join() + join(LARGE_BYTES) + HEARTBEAT)
    for _ in range(3):
        await answer(reader)
    assert threads == [False, True, False]
