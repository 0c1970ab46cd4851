"""A repeated Fetch by its memo: answered at once, or left to the general way with nothing held."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.log.segments import log_segments
from brokerd.metric_counters import LoopTimes
from brokerd.protocol import messages
from brokerd.protocol.fetch_request import decode_fetch
from brokerd.protocol.framing import parse_header
from brokerd.replication.partition import Partition
from brokerd.server.fetch.decoded_fetch_cache import FetchMemo, memo_of
from brokerd.server.network.output import OutputQueue
from tests.brokerd.log.support import NOW_MS, batch, open_log, reopen
from tests.brokerd.replication.support import state

VERSION = 11


def frame(offset: int, **changes: Any) -> bytearray:
    """A consumer's Fetch of t-0, as it comes in; `changes` are of the request or its partition."""
    partition = {"partition": 0, "current_leader_epoch": -1, "fetch_offset": offset,
                 "log_start_offset": -1, "partition_max_bytes": 1 << 20}  # fmt: skip
    partition |= {name: changes.pop(name) for name in tuple(changes) if name in partition}
    fields = {"replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": 1 << 20,
              "isolation_level": 0, "session_id": 0, "session_epoch": -1, "rack_id": "",
              "topics": [{"topic": "t", "partitions": [partition]}],
              "forgotten_topics_data": []}  # fmt: skip
    return bytearray(messages.encode_request(1, VERSION, {**fields, **changes}, 5, "client"))


class Bench:
    """A log of three old batches whose leader is here, and a connection that has only its queue."""

    def __init__(self, directory: Path) -> None:
        log = open_log(directory)
        for _ in range(3):
            log.append([batch()], 0, NOW_MS)
        log = reopen(log)
        log.prepare_first_use()
        self.partition = Partition("t", 0, 1, log)
        self.partition.apply(state(1, 1, replicas=(1,), isr=(1,)), NOW_MS)
        nowhere: Any = None
        self.connection: Any = SimpleNamespace(
            output=OutputQueue(nowhere, LoopTimes()), fetch_memo=None, last_header=None
        )

    def memo(self, **changes: Any) -> FetchMemo:
        whole = frame(1, **changes)
        view = memoryview(whole)[4:]
        header = parse_header(view)
        request = decode_fetch(view, header.body_position, VERSION)
        made = memo_of(1 << 20, header, request, self.partition, view)
        assert made is not None
        return made

    def serves(self, memo: FetchMemo, offset: int, **changes: Any) -> bool:
        asked = frame(offset, **changes)
        return memo.serve(self.connection, asked, 0, len(asked))

    @property
    def pins(self) -> int:
        (segment,) = self.partition.log._segments
        return segment.file.pins


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_same_request_with_another_offset_is_answered(bench: Bench) -> None:
    memo = bench.memo()
    assert bench.serves(memo, 0)
    assert bench.partition.fetches == 1
    assert bench.pins == 1
    bench.connection.output.clear()
    assert bench.pins == 0


@pytest.mark.parametrize("isolation", [0, 1])
def test_what_is_cold_is_left_to_the_general_way_and_its_file_is_let_go(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, isolation: int
) -> None:
    memo = bench.memo(isolation_level=isolation)
    monkeypatch.setattr(log_segments, "is_cached", lambda *_: False)
    assert not bench.serves(memo, 0, isolation_level=isolation)
    assert bench.pins == 0
    monkeypatch.undo()
    assert bench.serves(memo, 0, isolation_level=isolation)


def test_less_than_the_client_waits_for_is_left_to_the_general_way(bench: Bench) -> None:
    memo = bench.memo(min_bytes=1 << 16)
    assert not bench.serves(memo, 0, min_bytes=1 << 16)
    assert bench.pins == 0


def test_more_than_may_be_answered_is_not_waited_for(bench: Bench) -> None:
    bounds = {"min_bytes": 1 << 16, "max_bytes": 50}
    assert bench.serves(bench.memo(**bounds), 0, **bounds)


def test_another_leader_epoch_is_left_to_the_general_way(bench: Bench) -> None:
    memo = bench.memo(current_leader_epoch=1)
    assert bench.serves(memo, 0, current_leader_epoch=1)
    bench.connection.output.clear()
    bench.partition.apply(state(2, 1, replicas=(1,), isr=(1,)), NOW_MS)
    assert not bench.serves(memo, 0, current_leader_epoch=1)
    assert bench.pins == 0


@pytest.mark.parametrize("offset", [-1, 3, 4])
def test_where_there_are_no_records_the_general_way_says_so(bench: Bench, offset: int) -> None:
    assert not bench.serves(bench.memo(), offset)
    assert bench.pins == 0
    assert bench.connection.output.unsent == 0


def test_a_request_of_another_kind_is_no_repetition(bench: Bench) -> None:
    memo = bench.memo()
    assert not bench.serves(memo, 0, max_wait=7)
    assert bench.connection.output.unsent == 0


@pytest.mark.parametrize("change", [Partition.reconfigured, Partition.leave])
def test_a_partition_with_other_settings_or_that_has_gone_is_looked_up_again(
    bench: Bench, change: Callable[[Partition], None]
) -> None:
    memo = bench.memo()
    change(bench.partition)
    assert not bench.serves(memo, 0)
    assert bench.connection.output.unsent == 0
