"""A Fetch that waits for much of several partitions: real logs, no socket of a broker's."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.metric_counters import FETCH, BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import parse_header
from brokerd.protocol.messages import decode_response, encode_request
from brokerd.replication.partition import Partition
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.fetch import served_fetch
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from tests.brokerd.log.support import NOW_MS, batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led
from tests.brokerd.server.produce.test_responses import Client
from tests.support.manual_clock import ManualClock

COUNT = 4
ONE = len(batch(size=1000))
V = 11


class Bench:
    """A broker that leads t-0, t-1 …, and a client that fetches from all of them."""

    def __init__(self, directory: Path, client: Client) -> None:
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
        monkeypatch.setattr(served_fetch, "AT_ONCE_MAX", COUNT - 1)
    with ExitStack() as stack:
        yield Bench(tmp_path, Client(stack))


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
