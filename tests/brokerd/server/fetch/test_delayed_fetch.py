"""Delayed operations: checked once per loop iteration, ended by success, time or the connection; a
Fetch that waits for much of several partitions (real logs, no socket of a broker's)."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, cast

import pytest

from brokerd.errors import ErrorCode
from brokerd.metric_counters import FETCH, BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import parse_header
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.replication.partition import Partition
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.fetch import delayed_fetch, fetch_messages
from brokerd.server.fetch.delayed_fetch import DelayedFetch, delay_fetch
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.requests import purgatory as purgatory_module
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from tests.brokerd.log.support import NOW_MS, batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led
from tests.brokerd.server.produce.test_produce_responder import Client as SocketClient
from tests.support.manual_clock import ManualClock

COUNT = 4
ONE = len(batch(size=1000))
V = 11


@pytest.fixture(autouse=True)
def _long_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine two looks take longer than a turn."""
    monkeypatch.setattr(purgatory_module, "TURN_S", 3600)


def empty_purgatory() -> Purgatory:
    return Purgatory(RequestTimes(BrokerMetrics(), 1.0))


class Listened:
    """Stands for a partition: something with listeners."""

    def __init__(self) -> None:
        self.listeners: dict[Callable[[Any], None], None] = {}

    def move(self) -> None:
        for listener in tuple(self.listeners):
            listener(self)


class Client:
    """Stands for a connection: it has delayed operations."""

    def __init__(self) -> None:
        self.delayed_operations: set[DelayedFetch] = set()
        self.active_at = monotonic()
        self.last_header = None
        self.closed: list[str] = []

    def close(self, reason: str) -> None:
        self.closed.append(reason)
        for operation in tuple(self.delayed_operations):
            operation.cancel()


def delay(purgatory: Purgatory, client: Client, partition: Listened, timeout_s: float) -> list[str]:
    """Delays a request whose check succeeds the second time; what happens to it is listed."""
    seen: list[str] = []

    def check(_moved: Any) -> bool:
        seen.append("looked")
        return len(seen) >= 2

    delay_fetch(
        purgatory, client, cast(list[Partition], [partition]), timeout_s, check,
        lambda: seen.append("ended"),
    )  # fmt: skip
    return seen


async def test_many_moves_in_one_iteration_are_one_look_and_success_ends_it() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 60)
    partition.move()
    partition.move()
    assert seen == []
    await asyncio.sleep(0)
    assert seen == ["looked"]
    partition.move()
    await asyncio.sleep(0)
    assert seen == ["looked", "looked", "ended"]
    assert (partition.listeners, client.delayed_operations, purgatory.count) == ({}, set(), 0)


async def test_it_is_told_which_of_its_partitions_have_moved() -> None:
    purgatory, client, partitions = empty_purgatory(), Client(), [Listened() for _ in range(3)]
    told: list[Any] = []

    def check(moved: Any) -> bool:
        told.append(moved)
        return False

    named = cast(list[Partition], partitions)
    delay_fetch(purgatory, client, named, 60, check, lambda: None)
    for moving in ([0, 2, 0], [1]):
        for number in moving:
            partitions[number].move()
        await asyncio.sleep(0)
    assert told == [{partitions[0], partitions[2]}, {partitions[1]}]
    client.close("gone")


async def test_many_that_one_move_wakes_are_looked_at_in_turns_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(purgatory_module, "TURN_S", -1)
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = [delay(purgatory, client, partition, 60) for _ in range(3)]
    partition.move()
    for turn in range(1, 4):
        await asyncio.sleep(0)
        assert seen == [["looked"]] * turn + [[]] * (3 - turn)
        partition.move()
    for _ in range(3):
        await asyncio.sleep(0)
    assert seen == [["looked", "looked", "ended"]] * 3
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_time_ends_it() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 0.001)
    async with asyncio.timeout(10):
        while not seen:
            await asyncio.sleep(0.001)
    assert seen == ["ended"]
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_a_closed_connection_ends_it_without_an_answer() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 60)
    partition.move()
    for operation in tuple(client.delayed_operations):
        operation.cancel()
    await asyncio.sleep(0)
    assert seen == []
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_one_that_fails_ends_its_connection_and_no_other_request() -> None:
    purgatory, client, other, partition = empty_purgatory(), Client(), Client(), Listened()

    def fail(_moved: Any) -> bool:
        raise ZeroDivisionError

    waits_on = cast(list[Partition], [partition])
    delay_fetch(purgatory, client, waits_on, 60, fail, lambda: None)
    seen = delay(purgatory, other, partition, 60)
    partition.move()
    await asyncio.sleep(0)
    assert (client.closed, client.delayed_operations) == (
        ["an unexpected error in the broker"],
        set(),
    )
    assert (seen, other.closed, purgatory.count) == (["looked"], [], 1)


async def test_where_too_much_waits_the_oldest_long_poll_is_answered_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delayed_fetch, "PARTITIONS_MAX", 2)
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    ended: list[str] = []

    def poll(name: str) -> None:
        waits_on = cast(list[Partition], [partition])
        delay_fetch(purgatory, client, waits_on, 60, lambda _: False, lambda: ended.append(name))

    for name in ("first", "second", "third"):
        poll(name)
    assert ended == ["first"]
    poll("fourth")
    assert ended == ["first", "second"]
    assert purgatory.count == 2


class Bench:
    """A broker that leads t-0, t-1 …, and a client that fetches from all of them."""

    def __init__(self, directory: Path, client: SocketClient) -> None:
        self.client: Any = client
        self.client.listener = "PLAINTEXT"
        self.partitions = [self._led(directory, index) for index in range(COUNT)]
        self.looked_at: list[int] = []
        self.purgatory = Purgatory(RequestTimes(BrokerMetrics(), 60.0))
        self._fetches = FetchHandler(
            led=led(self._get), sessions=FetchSessionCache(0, lambda: 1), clock=ManualClock(),
            pending_reads=PendingReads(), purgatory=self.purgatory, max_bytes=1 << 20,
        )  # fmt: skip

    @staticmethod
    def _led(directory: Path, index: int) -> Partition:
        one = Partition("t", index, 1, open_log(directory / str(index)))
        one.apply(state(1, 1, partition=index, replicas=(1,), isr=(1,)), NOW_MS)
        return one

    def _get(self, _topic: str, index: int) -> Partition:
        self.looked_at.append(index)
        return self.partitions[index]

    async def fetch(self, min_bytes: int, max_bytes: int = 1 << 20) -> None:
        """It waits when this returns."""
        rows = [
            {"partition": index, "fetch_offset": 0, "partition_max_bytes": max_bytes}
            for index in range(COUNT)
        ]
        fields = {
            "replica_id": -1, "max_wait": 60_000, "min_bytes": min_bytes, "max_bytes": 1 << 20,
            "topics": [{"topic": "t", "partitions": rows}],
        }  # fmt: skip
        frame = memoryview(encode_request(ApiKey.FETCH, V, fields, 1, "c"))[4:]
        self.purgatory.times.others.append(FETCH)
        self._fetches.serve(self.client, parse_header(frame), frame)
        await until(lambda: self.purgatory.count)
        self.looked_at.clear()

    async def append(self, index: int) -> None:
        self.partitions[index].append([batch(size=1000)], NOW_MS)
        await asyncio.sleep(0)

    async def answer(self) -> list[tuple[int, int]]:
        """(error, bytes) of each partition."""
        await until(lambda: not self.client.output.unanswered)
        self.client.output.flush()
        theirs: socket.socket = self.client._theirs
        size = int.from_bytes(theirs.recv(4, socket.MSG_WAITALL), "big")
        frame = theirs.recv(size, socket.MSG_WAITALL)
        rows = decode_response(ApiKey.FETCH, V, memoryview(frame)).responses[0].partitions
        return [(row.error_code, len(row.records or b"")) for row in rows]


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.fixture(params=["short", "long"])
async def bench(
    request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    if request.param == "long":  # it is served in turns
        monkeypatch.setattr(fetch_messages, "AT_ONCE_MAX", COUNT - 1)
    with ExitStack() as stack:
        yield Bench(tmp_path, SocketClient(stack))


async def test_an_append_has_no_partition_looked_at_but_its_own(bench: Bench) -> None:
    await bench.fetch(4 * ONE)
    for index in (2, 0, 2):
        await bench.append(index)
    assert bench.looked_at == [2, 0, 2]
    await bench.append(3)
    assert await bench.answer() == [(0, ONE), (0, 0), (0, 2 * ONE), (0, ONE)]
    assert bench.purgatory.count == 0


async def test_what_was_there_before_it_waited_counts(bench: Bench) -> None:
    await bench.append(1)
    await bench.fetch(2 * ONE)
    await bench.append(1)
    assert await bench.answer() == [(0, 0), (0, 2 * ONE), (0, 0), (0, 0)]


async def test_a_partition_counts_for_no_more_than_it_may_be_answered_with(bench: Bench) -> None:
    await bench.fetch(3 * ONE, max_bytes=2 * ONE)
    for _ in range(4):
        await bench.append(1)
    assert bench.purgatory.count == 1
    await bench.append(0)
    assert await bench.answer() == [(0, ONE), (0, 2 * ONE), (0, 0), (0, 0)]


async def test_what_can_be_read_no_more_is_told_at_once(bench: Bench) -> None:
    await bench.fetch(2 * ONE)
    await bench.append(1)
    bench.partitions[3].resign()
    refused = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert await bench.answer() == [(0, 0), (0, ONE), (0, 0), (refused, 0)]


async def test_where_records_are_deleted_below_its_offset_it_is_told_at_once(bench: Bench) -> None:
    await bench.append(1)
    await bench.append(1)
    await bench.fetch(4 * ONE)
    bench.partitions[1].delete_records(1)
    refused = int(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert (await bench.answer())[1] == (refused, 0)
