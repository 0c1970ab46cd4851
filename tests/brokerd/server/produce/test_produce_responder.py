"""Produces that wait for their answer, and what they hold meanwhile: real logs, no socket."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.metric_counters import BrokerMetrics, LoopTimes
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.replication.partition import Partition
from brokerd.server.network.output import HELD_BYTES_MAX, OutputQueue
from brokerd.server.network.receive_buffers import ReceiveBuffers
from brokerd.server.produce.append_queues import AppendQueues
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from tests.brokerd.log.support import batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led
from tests.support.manual_clock import ManualClock

V = 8


class Client:
    """Stands for a connection; what it is answered can be read."""

    def __init__(self, stack: ExitStack) -> None:
        ours, theirs = map(stack.enter_context, socket.socketpair())
        theirs.settimeout(10)
        self._theirs = theirs
        self.output = OutputQueue(ours, LoopTimes())
        self.closed = False
        self.active_at = 0.0
        self.produces_open = self.holds = 0
        self.produce_memo: Any = None
        self.last_header: Any = None
        self.peer_host = "127.0.0.1"
        self.delayed_operations: set[Any] = set()

    def deliver(self, slot: Any, parts: Any) -> None:
        self.output.fill(slot, parts)
        self.output.flush()

    def mute(self) -> None:
        self.holds += 1

    def unmute(self) -> None:
        self.holds -= 1

    def unmute_if_done(self) -> None:
        pass

    def answer(self) -> Any:
        self.output.flush()
        size = int.from_bytes(self._theirs.recv(4, socket.MSG_WAITALL), "big")
        frame = self._theirs.recv(size, socket.MSG_WAITALL)
        return decode_response(ApiKey.PRODUCE, V, memoryview(frame))


class Bench:
    """A broker that leads t-0, t-1 … of two replicas; the other one does not fetch."""

    def __init__(self, directory: Path, client: Client, count: int, settings: LogConfig) -> None:
        self.client = client
        self.partitions = [self._led(directory, index, settings) for index in range(count)]
        metrics, clock = BrokerMetrics(), ManualClock()
        self.appends = AppendQueues(clock, ReceiveBuffers(-1, lambda: None))
        self.purgatory = Purgatory(RequestTimes(metrics, 60.0))
        self._round = ProduceHandler(
            led(self._get, metrics), self.appends, self.purgatory, clock, "header"
        )

    def _led(self, directory: Path, index: int, settings: LogConfig) -> Partition:
        one = Partition("t", index, 1, open_log(directory / str(index), settings))
        one.apply(state(1, leader=1, partition=index), 0)
        return one

    def _get(self, _topic: str, index: int) -> Partition | None:
        return self.partitions[index] if index < len(self.partitions) else None

    def produce(self, *batches: memoryview) -> bytearray:
        """Serves a request that has such a batch for each of t-0, t-1 …; its frame."""
        rows = [{"index": i, "records": bytes(each)} for i, each in enumerate(batches)]
        fields = {
            "transactional_id": None, "acks": -1, "timeout": 60_000,
            "topic_data": [{"name": "t", "partition_data": rows}],
        }  # fmt: skip
        frame = bytearray(encode_request(ApiKey.PRODUCE, V, fields, 1, "c"))
        self.purgatory.times.produces += 1
        client: Any = self.client
        with memoryview(frame) as view:
            taken = self._round.add_run(client, frame, view, 0, len(frame))
            assert taken == (len(frame), 1)
            self._round.append_all()
        return frame

    def follow(self) -> None:
        """The other replica has it all."""
        for each in self.partitions:
            each.record_fetch(2, each.log.log_end_offset, 0)


@contextmanager
def a_bench(directory: Path, count: int, **settings: Any) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(directory, Client(stack), count, LogConfig(**settings))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    with a_bench(tmp_path, 2) as one:
        yield one


@pytest.fixture
async def recompressing(tmp_path: Path) -> AsyncIterator[Bench]:
    """Its topic stores everything as gzip."""
    with a_bench(tmp_path, 2, compression_type="gzip") as one:
        yield one
        await one.appends.close()


def holds_nothing_of(frame: bytearray) -> bool:
    """Whether nobody has a view of it left."""
    try:
        frame.clear()
    except BufferError:
        return False
    return True


def told(answer: Any) -> list[tuple[int, int]]:
    """(error, base offset) of each partition."""
    (topic,) = answer.responses
    return [(row.error_code, row.base_offset) for row in topic.partition_responses]


async def test_the_loop_knows_that_there_are_producers(bench: Bench) -> None:
    loop = bench.purgatory.times.metrics.loop
    assert not loop.has_producers
    bench.produce(batch())
    assert loop.has_producers


async def all_answered(bench: Bench) -> None:
    """On a busy machine it takes several iterations of the loop."""
    async with asyncio.timeout(10):
        await asyncio.sleep(0)
        while bench.purgatory.count:
            await asyncio.sleep(0)


async def test_one_that_waits_for_replicas_holds_nothing_of_its_frame(bench: Bench) -> None:
    for _ in range(2):  # one that is looked at, one that is recognised
        assert holds_nothing_of(bench.produce(batch(size=100_000)))
    assert holds_nothing_of(bench.produce(batch(size=100_000), batch(size=100_000)))
    assert holds_nothing_of(bench.produce(batch(), batch(), batch()))  # the third is refused
    assert bench.purgatory.count == 4
    bench.follow()
    await all_answered(bench)
    assert told(bench.client.answer()) == [(0, 0)]
    assert told(bench.client.answer()) == [(0, 1)]
    assert told(bench.client.answer()) == [(0, 2), (0, 0)]
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert told(bench.client.answer()) == [(0, 3), (0, 1), (unknown, -1)]


async def test_one_that_waits_for_a_queue_holds_nothing_of_its_frame(recompressing: Bench) -> None:
    bench = recompressing
    damaged = batch()
    damaged[-1] ^= 1
    frames = [bench.produce(batch(), damaged, batch()), bench.produce(batch())]
    assert bench.appends.by_partition
    assert [holds_nothing_of(each) for each in frames] == [True, True]
    await bench.appends.drain(10)
    bench.follow()
    await all_answered(bench)
    corrupt = int(ErrorCode.CORRUPT_MESSAGE)
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert told(bench.client.answer()) == [(0, 0), (corrupt, -1), (unknown, -1)]
    assert told(bench.client.answer()) == [(0, 1)]


@pytest.mark.parametrize("at_disk", [False, True])
async def test_one_that_is_refused_leaves_nothing_of_its_frame(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, at_disk: bool
) -> None:
    wanted = ErrorCode.CORRUPT_MESSAGE
    sent = batch()
    if at_disk:
        wanted = ErrorCode.KAFKA_STORAGE_ERROR
        monkeypatch.setattr(Partition, "append", _fail)
    else:
        sent[-1] ^= 1
    assert holds_nothing_of(bench.produce(sent))
    assert told(bench.client.answer()) == [(int(wanted), -1)]


def _fail(*_: object) -> None:
    raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)


async def test_one_of_many_partitions_counts_for_more(tmp_path: Path) -> None:
    with a_bench(tmp_path, 40) as bench:
        bench.produce(batch())
        one = bench.client.output.held_bytes
        bench.produce(*[batch()] * 40)
        assert bench.client.output.held_bytes > 10 * one
        assert one < HELD_BYTES_MAX // 1000


async def test_what_a_partition_owes_when_its_leader_leaves_is_refused(bench: Bench) -> None:
    bench.produce(batch(), batch())
    bench.partitions[0].record_fetch(2, 1, 0)
    bench.partitions[1].resign()
    await all_answered(bench)
    not_leader = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert told(bench.client.answer()) == [(0, 0), (not_leader, -1)]


async def test_a_client_that_leaves_leaves_nothing_in_the_queues(bench: Bench) -> None:
    bench.produce(batch(), batch())
    bench.produce(batch())
    (first, second) = bench.client.delayed_operations
    first.cancel()
    assert bench.partitions[0].listeners
    second.cancel()
    assert [each.listeners for each in bench.partitions] == [{}, {}]
    assert bench.purgatory.count == 0
