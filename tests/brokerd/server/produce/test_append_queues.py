"""Batches at work in threads: order, bounds, and what becomes of those that come back too late."""

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.log_validator.validate_and_recompress import RecordWork
from brokerd.log.log_validator.validate_records import Rules
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch
from brokerd.replication.partition import Partition
from brokerd.server.network.receive_buffers import ReceiveBuffers
from brokerd.server.produce import append_queues
from brokerd.server.produce.append_queues import AppendFuture, AppendQueues
from tests.brokerd.log.support import NOW_MS, batch, headers, records
from tests.brokerd.replication.support import replica, state
from tests.support.manual_clock import ManualClock

GZIP = RecordWork(Codec.GZIP, 9, Rules(), False, 1 << 20)
TOO_SMALL = GZIP._replace(max_message_bytes=10)


class Client:
    """Stands for a connection: something that can be held."""

    def __init__(self) -> None:
        self.holds = self.produces_open = 0
        self.was_held = False
        self.closed: list[str] = []

    def mute(self) -> None:
        self.holds += 1
        self.was_held = True

    def unmute(self) -> None:
        self.holds -= 1

    def unmute_if_done(self) -> None:
        pass

    def close(self, reason: str) -> None:
        self.closed.append(reason)


class Bench:
    """Queues, a partition that this broker leads, a connection."""

    def __init__(self, directory: Path) -> None:
        self.partition = replica(directory, 1)
        self.lead(1)
        self.memory = ReceiveBuffers(1 << 20, lambda: None)
        self.client = Client()
        self.queues = AppendQueues(ManualClock(), self.memory)

    def lead(self, version: int, leader: int = 1) -> None:
        self.partition.apply(state(version, leader, replicas=(1,), isr=(1,)), 0)

    def add(
        self, work: RecordWork | None, *batches: memoryview, at: int = 0
    ) -> tuple[AppendFuture, ...]:
        client: Any = self.client
        todo = {} if work is None else {at: work}
        return self.queues.add(client, self.partition, batches or (batch(),), todo)

    async def results(self, outcomes: Sequence[AppendFuture]) -> list[tuple[int, ErrorCode | None]]:
        """(base offset, error) of each, when all are done."""
        await self.queues.drain(10)
        return [told(outcome.result) for outcome in outcomes]


def told(result: AppendResult | KafkaError | None) -> tuple[int, ErrorCode | None]:
    assert result is not None
    if isinstance(result, KafkaError):
        return -1, result.code
    return result.base_offset, result.error


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    one = Bench(tmp_path)
    yield one
    await one.queues.close()


async def test_later_batches_wait_behind_those_at_work(bench: Bench) -> None:
    first = bench.add(GZIP, batch(300, size=1000, timestamp_ms=1000))
    assert bench.partition in bench.queues.by_partition
    outcomes = [*first, *bench.add(None, batch(timestamp_ms=5000)), *bench.add(GZIP)]
    assert bench.memory.held_bytes > 300_000
    assert await bench.results(outcomes) == [(0, None), (300, None), (301, None)]
    found = list(headers(bench.partition.log))
    assert [(each.base_offset, each.codec) for each in found] == [
        (0, Codec.GZIP),
        (300, Codec.NONE),
        (301, Codec.GZIP),
    ]
    assert len(records(bench.partition.log)) == 302
    assert bench.memory.held_bytes == 0
    assert not bench.queues.by_partition


async def test_sequences_are_checked_when_batches_come_back(bench: Bench) -> None:
    sequences = [0, 1, 1, 3, 2]
    outcomes = [bench.add(GZIP, batch(producer=(7, 0, each)))[0] for each in sequences]
    out_of_order = (-1, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert await bench.results(outcomes) == [
        (0, None), (1, None), (1, None), out_of_order, (2, None),
    ]  # fmt: skip


async def test_a_batch_that_is_refused_does_not_take_others_with_it(bench: Bench) -> None:
    outcomes = bench.add(TOO_SMALL, batch(), batch(), batch(), at=1)
    assert await bench.results(outcomes) == [
        (0, None), (-1, ErrorCode.MESSAGE_TOO_LARGE), (1, None),
    ]  # fmt: skip


async def test_a_bomb_that_was_refused_leaves_nothing_in_memory(bench: Bench) -> None:
    bomb = encode_batch([Record(0, NOW_MS, None, bytes(65 << 20))], codec=Codec.ZSTD)
    tracemalloc.start()
    gc.disable()  # what goes only when it comes round adds up meanwhile
    try:
        outcomes = bench.add(GZIP, bytearray(bomb))
        before_bytes = tracemalloc.get_traced_memory()[0]
        assert await bench.results(outcomes) == [(-1, ErrorCode.INVALID_RECORD)]
        assert tracemalloc.get_traced_memory()[0] - before_bytes < 1 << 20
    finally:
        gc.enable()
        tracemalloc.stop()


async def test_a_batch_is_copied_since_its_buffer_is_used_again(bench: Bench) -> None:
    view = batch(producer=(7, 0, 0))
    outcomes = bench.add(GZIP, view)
    view[:] = bytes(len(view))
    assert await bench.results(outcomes) == [(0, None)]
    assert next(headers(bench.partition.log)).producer_id == 7


async def test_what_comes_back_after_the_leader_has_moved_is_refused(bench: Bench) -> None:
    outcomes = bench.add(GZIP)
    bench.lead(2, leader=2)
    assert await bench.results(outcomes) == [(-1, ErrorCode.NOT_LEADER_OR_FOLLOWER)]
    assert bench.partition.log.log_end_offset == 0


async def test_what_comes_back_after_the_log_was_cut_goes_behind_its_new_end(bench: Bench) -> None:
    for _ in range(5):
        bench.partition.append([batch()], 0)
    outcomes = bench.add(GZIP)
    bench.partition.log.truncate_to(2)
    assert await bench.results(outcomes) == [(2, None)]


async def test_a_disk_that_fails_fails_all_that_came_back_together(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Partition, *_: object) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    monkeypatch.setattr(Partition, "append", fail)
    outcomes = bench.add(GZIP, batch(), batch())
    assert await bench.results(outcomes) == [(-1, ErrorCode.KAFKA_STORAGE_ERROR)] * 2


async def test_whoever_fills_a_queue_is_held_until_half_of_it_is_done(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append_queues, "QUEUED_MAX", 10)
    monkeypatch.setattr(append_queues, "JOB_MAX", 2)
    outcomes: list[AppendFuture] = []
    for number in range(11):
        assert bench.client.holds == 0, number
        outcomes += bench.add(GZIP)
    assert bench.client.holds == 1
    outcomes += bench.add(GZIP)
    assert bench.client.holds == 1
    held_at = []
    outcomes[6].on_done = lambda: held_at.append(bench.client.holds)
    outcomes[-1].on_done = lambda: held_at.append(bench.client.holds)
    await bench.results(outcomes)
    assert held_at == [1, 0]


async def test_one_outcome_that_cannot_be_told_ends_its_connection_and_silences_no_other(
    bench: Bench,
) -> None:
    outcomes = bench.add(GZIP, batch(), batch())
    outcomes[0].on_done = lambda: 1 // 0
    assert await bench.results(outcomes) == [(0, None), (1, None)]
    assert bench.client.closed == ["an unexpected error in the broker"]
    assert bench.client.produces_open == 0


async def test_nothing_is_appended_after_the_end(bench: Bench) -> None:
    bench.add(GZIP, batch(300, size=1000))
    await bench.queues.close()
    await asyncio.sleep(0)
    assert bench.partition.log.log_end_offset == 0


async def test_without_a_thread_batches_are_refused_and_later_ones_are_served(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", start)
        outcomes = [*bench.add(GZIP), *bench.add(None)]
        assert await bench.results(outcomes) == [(-1, ErrorCode.UNKNOWN_SERVER_ERROR)] * 2
    assert "can't start new thread" in caplog.text
    assert bench.memory.held_bytes == 0
    outcomes = [*bench.add(GZIP, batch(3))]  # the thread finds what was given up, too
    assert await bench.results(outcomes) == [(0, None)]
    assert bench.partition.log.log_end_offset == 3


async def test_what_is_for_a_log_not_used_yet_waits_for_its_turn_and_so_does_what_comes_behind(
    bench: Bench,
) -> None:
    client: Any = bench.client
    first = bench.queues.add(client, bench.partition, [batch()], {}, needs_load=True)
    outcomes = [
        *first,
        *bench.add(None),
        *bench.queues.add(client, bench.partition, [batch()], {}, needs_load=True),
    ]
    assert bench.partition.log.log_end_offset == 0
    assert await bench.results(outcomes) == [(0, None), (1, None), (2, None)]
    assert bench.memory.held_bytes == 0
    again = bench.queues.add(
        client, bench.partition, [batch(2), batch()], {1: GZIP}, needs_load=True
    )
    assert await bench.results(again) == [(3, None), (5, None)]


async def test_a_first_use_that_fails_as_nobody_expects_is_told_and_holds_up_nobody(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    bench.partition.log.is_prepared = False
    with monkeypatch.context() as patched:
        patched.setattr(UnifiedLog, "prepare_first_use", fail)
        client: Any = bench.client
        first = bench.queues.add(client, bench.partition, [batch()], {}, needs_load=True)
        assert await bench.results(first) == [(-1, ErrorCode.UNKNOWN_SERVER_ERROR)]
    assert await bench.results(bench.add(None)) == [(0, None)]
