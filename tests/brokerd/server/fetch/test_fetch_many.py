"""Fetch of very many partitions, over real sockets: others are served meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from brokerd import event_loop_turns
from brokerd.clock import SystemClock
from brokerd.config.broker_config import parse
from brokerd.errors import ErrorCode
from brokerd.metric_counters import BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.replication.partition import Partition
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.fetch.fetch_messages import AT_ONCE_MAX
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.network.socket_server import SocketServer
from brokerd.server.produce.append_queues import AppendQueues
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_context import Handler
from brokerd.server.requests.request_times import RequestTimes
from brokerd.server.router import LARGE_BYTES, Router
from tests.brokerd.log.support import NOW_MS, batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nlisteners=PLAINTEXT://127.0.0.1:0\n"
COUNT = 3 * AT_ONCE_MAX
LONG_MS = 60_000
"""Longer than anybody listens here: who answers did not wait for it."""
NOBODYS = [f"nobody-{number}" for number in range(COUNT)]


class Bench:
    """A SocketServer and a router, and one partition, of the topic `t`."""

    def __init__(self, directory: Path) -> None:
        config, metrics, clock = parse(FILE), BrokerMetrics(), SystemClock()
        self.partition = Partition("t", 0, 1, open_log(directory))
        self.partition.apply(state(1, leader=1, replicas=(1,), isr=(1,)), NOW_MS)
        self.socket_server = SocketServer(config)
        pending_reads, times = PendingReads(), RequestTimes(metrics, 1.0)
        self.pending_reads, self.purgatory = pending_reads, Purgatory(times)
        partitions = led(self._get, metrics)
        queues = AppendQueues(clock, self.socket_server.buffers)
        produces = ProduceHandler(partitions, queues, self.purgatory, clock, "header")
        fetches = FetchHandler(
            led=partitions, sessions=FetchSessionCache(10, lambda: 5), clock=clock,
            pending_reads=pending_reads, purgatory=self.purgatory, max_bytes=1 << 25,
        )  # fmt: skip
        self.looked_at: list[str] = []
        self._config = config
        handlers: dict[int, Handler] = {ApiKey.HEARTBEAT: lambda *_: {"error_code": 0}}
        self._router = Router(times, produces, fetches, handlers, lambda _: None, 100 << 20)
        self._writers: list[asyncio.StreamWriter] = []

    def _get(self, topic: str, _: int) -> Partition | None:
        self.looked_at.append(topic)
        return self.partition if topic == "t" else None

    def write(self) -> None:
        self.partition.append([batch()], NOW_MS)

    async def client(self) -> "Client":
        (port,) = self.socket_server.listeners.ports.values()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        self._writers.append(writer)
        return Client(reader, writer)

    async def open(self) -> None:
        await self.socket_server.open(self._config)
        self.socket_server.accept(self._router)

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self.socket_server.close()
        await self.pending_reads.stop()


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.send = writer.write

    def fetch(
        self, version: int, names: list[str], wait_ms: int = LONG_MS, epoch: int = -1
    ) -> None:
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        fields = {
            "replica_id": -1, "max_wait": wait_ms, "min_bytes": 1, "max_bytes": 1 << 20,
            "isolation_level": 0, "session_id": 5 if epoch > 0 else 0, "session_epoch": epoch,
            "topics": [{"topic": name, "partitions": [partition]} for name in names],
            "forgotten_topics_data": [], "rack_id": "",
        }  # fmt: skip
        frame = encode_request(ApiKey.FETCH, version, fields, 1, "c")
        assert not names or len(frame) > LARGE_BYTES
        self.send(frame)

    async def frame(self) -> bytes:
        async with asyncio.timeout(10):
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            return await self._reader.readexactly(size)

    async def told(self, version: int) -> list[tuple[str, int, bool]]:
        """Topic, error, and whether there are records."""
        answer = decode_response(ApiKey.FETCH, version, await self.frame())
        assert not getattr(answer, "error_code", 0)
        return [
            (topic.topic, int(row.error_code), bool(row.records))
            for topic in answer.responses
            for row in topic.partitions
        ]

    async def hears_the_end(self) -> bool:
        async with asyncio.timeout(10):
            return await self._reader.read(1) == b""

    def heartbeat(self) -> None:
        fields = {"group_id": "g", "generation_id": 1, "member_id": "m"}
        self.send(encode_request(ApiKey.HEARTBEAT, 0, fields, 3, "c"))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    one = Bench(tmp_path)
    await one.open()
    yield one
    await one.close()


def unknown(names: list[str]) -> list[tuple[str, int, bool]]:
    return [(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False) for name in names]


@pytest.mark.parametrize("version", [4, 11, 12])
async def test_many_names_that_no_topic_has_are_told_in_order_and_others_served_meanwhile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    bench.write()
    client, other = await bench.client(), await bench.client()
    client.fetch(version, [*NOBODYS, "t"])
    answered = asyncio.ensure_future(client.told(version))
    steps = set()
    while not answered.done():
        other.heartbeat()
        await other.frame()
        steps.add(len(bench.looked_at))
    assert await answered == [("t", 0, True), *unknown(NOBODYS)]
    assert len(steps - {0, COUNT + 1}) > 3  # it was looked up in parts


@pytest.mark.parametrize("wait_ms", [1, LONG_MS])
async def test_those_beside_an_idle_partition_are_told_when_the_wait_for_it_ends(
    bench: Bench, wait_ms: int
) -> None:
    client = await bench.client()
    client.fetch(12, ["t", *NOBODYS], wait_ms)
    answered = asyncio.ensure_future(client.told(12))
    if wait_ms == LONG_MS:
        async with asyncio.timeout(10):
            while not bench.purgatory.count:
                await asyncio.sleep(0.001)
        assert not answered.done()
        bench.write()
    assert await answered == [("t", 0, wait_ms == LONG_MS), *unknown(NOBODYS)]
    assert bench.purgatory.count == 0
    client.heartbeat()
    assert await client.frame()


async def test_a_record_that_comes_while_the_others_are_looked_up_ends_the_wait(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = bench.looked_at.append

    def write_late(topic: str) -> None:
        looked_up(topic)
        if topic == NOBODYS[-1] and not bench.partition.high_watermark:
            bench.write()

    bench.looked_at = SimpleNamespace(append=write_late)  # type: ignore[assignment]
    client = await bench.client()
    client.fetch(12, ["t", *NOBODYS])
    assert await client.told(12) == [("t", 0, True), *unknown(NOBODYS)]


async def test_a_session_of_them_tells_them_each_time(bench: Bench) -> None:
    client = await bench.client()
    client.fetch(12, [*NOBODYS, "t"], wait_ms=0, epoch=0)
    assert await client.told(12) == [("t", 0, False), *unknown(NOBODYS)]
    bench.write()
    client.fetch(12, [], epoch=1)
    assert await client.told(12) == [("t", 0, True), *unknown(NOBODYS)]
    client.fetch(12, [], wait_ms=0, epoch=2)
    # its records are those that were asked for before: the offset was not moved
    assert (await client.told(12))[1:] == unknown(NOBODYS)
    client.fetch(12, NOBODYS, epoch=2)  # an epoch that was
    answer = decode_response(ApiKey.FETCH, 12, await client.frame())
    assert answer.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


async def test_one_that_does_not_parse_ends_the_connection_behind_what_was_asked_before(
    bench: Bench,
) -> None:
    client = await bench.client()
    client.heartbeat()
    body = bytes(LARGE_BYTES)
    head = encode_request(ApiKey.HEARTBEAT, 0, {"group_id": "", "generation_id": 0,
                                                "member_id": ""}, 1, "c")[8:15]  # fmt: skip
    garbage = ApiKey.FETCH.to_bytes(2, "big") + (11).to_bytes(2, "big") + head + b"\x7f" * 40 + body
    client.send(len(garbage).to_bytes(4, "big") + garbage)
    client.heartbeat()
    assert await client.frame()
    assert await client.hears_the_end()
