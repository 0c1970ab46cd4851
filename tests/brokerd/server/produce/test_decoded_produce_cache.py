"""Which Produces are recognised by how they begin, and that it makes no difference to them."""

import gc
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode
from brokerd.metric_counters import BrokerMetrics, LoopTimes
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from brokerd.server.network.output import OutputQueue
from brokerd.server.produce.decoded_produce_cache import (
    MEMO_MAX_BYTES,
    MEMOS_MAX,
    SWEEP_MIN,
    ProduceMemos,
)
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes
from tests.brokerd.replication.support import replica, state
from tests.brokerd.server.led import led
from tests.support.manual_clock import ManualClock

SEGMENT_BYTES = 4096
TOPIC = "t"


def frame(size: int, client_id: str = "client", version: int = 8) -> tuple[bytearray, int]:
    """A Produce of one record of so many bytes to t-0, and how large its batch is."""
    records = bytes(encode_batch([Record(0, 1, None, bytes(size))]))
    fields = {"transactional_id": None, "acks": 1, "timeout": 5000, "topic_data": [
        {"name": TOPIC, "partition_data": [{"index": 0, "records": records}]}]}  # fmt: skip
    return bytearray(messages.encode_request(0, version, fields, 5, client_id)), len(records)


class Served:
    """A round of Produces to the one partition that there is."""

    def __init__(self, directory: Path, config: LogConfig | None = None) -> None:
        partition = replica(directory, 1, config or LogConfig())
        partition.apply(state(1, 1, replicas=(1,), isr=(1,)), 0)
        self.metrics = BrokerMetrics()
        self.partition = partition
        queues: Any = SimpleNamespace(by_partition={})
        purgatory = Purgatory(RequestTimes(self.metrics, 60.0))
        self._round = ProduceHandler(
            led(self._get, self.metrics), queues, purgatory, ManualClock(), "header"
        )
        self.memos = self._round._memos
        self.looked_up = 0  # Produces that were not recognised

    def _get(self, topic: str, index: int) -> Any:
        self.looked_up += 1
        return self.partition

    def produce(self, connection: Any, frame: bytearray) -> None:
        received = bytearray(frame)  # the log writes offsets into it
        self._round.add_run(connection, received, memoryview(received), 0, len(received))
        self._round.append_all()


def connected() -> Any:
    nowhere: Any = None
    return SimpleNamespace(
        output=OutputQueue(nowhere, LoopTimes()), produce_memo=None, last_header=None, closed=False
    )


def test_bytes_that_are_too_large_for_a_segment_are_counted_however_they_came(
    tmp_path: Path,
) -> None:
    served = Served(tmp_path, LogConfig(segment_bytes=SEGMENT_BYTES))
    connection = connected()

    def produce(size: int) -> int:
        buffer, records_bytes = frame(size)
        served.produce(connection, buffer)
        return records_bytes

    first = produce(SEGMENT_BYTES)
    assert served.metrics.rejected_bytes == first
    assert connection.produce_memo is not None
    again = produce(SEGMENT_BYTES + 1)
    assert served.metrics.rejected_bytes == first + again
    assert served.metrics.errors[ApiKey.PRODUCE, int(ErrorCode.RECORD_LIST_TOO_LARGE)] == 2


@pytest.mark.parametrize("version", [3, 8, 9, 11])
def test_produces_of_clients_whose_names_are_of_any_length_are_recognised(
    tmp_path: Path, version: int
) -> None:
    served = Served(tmp_path)
    connection = connected()
    frames = [frame(10, "c" * size, version)[0] for size in (0, 1, 5, 20, 100, 127, 128, 300)]
    for each in frames:
        served.produce(connection, each)
    assert served.looked_up == len(frames)
    for each in frames:
        served.produce(connection, each)
    assert served.looked_up == len(frames)


@pytest.mark.parametrize("topic_bytes", [1, 126, 127, 249])
@pytest.mark.parametrize("version", [8, 9])
def test_a_produce_to_a_topic_with_a_name_of_any_length_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, topic_bytes: int
) -> None:
    served = Served(tmp_path)
    connection = connected()
    monkeypatch.setattr(f"{__name__}.TOPIC", "t" * topic_bytes)
    frames = [frame(10, client_id, version)[0] for client_id in ("one", "another")]
    for each in frames * 2:
        served.produce(connection, each)
    assert served.looked_up == 2


@pytest.mark.parametrize("version", [8, 9])
def test_nothing_is_kept_of_a_produce_that_is_long_before_its_records(
    tmp_path: Path, version: int
) -> None:
    served = Served(tmp_path)
    for client_id in ("c" * MEMO_MAX_BYTES, "c" * 32_000):
        connection = connected()
        for _ in range(2):
            served.produce(connection, frame(10, client_id, version)[0])
        assert connection.produce_memo is None
    assert served.looked_up == 4


def test_the_memos_of_all_connections_take_no_more_than_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.TOPIC", "t" * 249)
    served = Served(tmp_path)
    connection = connected()
    served.produce(connection, frame(10)[0])
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(MEMOS_MAX // 10):
        served.produce(connection, frame(10, f"{number:0740}")[0])
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken < 35_000_000 / 10


def test_another_partition_that_changes_leaves_what_is_known_of_this_one(tmp_path: Path) -> None:
    directories = [tmp_path / "one", tmp_path / "another"]
    for each in directories:
        each.mkdir()
    served = [Served(each) for each in directories]
    connections = [connected(), connected()]
    for _ in range(2):
        for each, connection in zip(served, connections, strict=True):
            each.produce(connection, frame(10)[0])
        served[1].partition.apply(state(2, 1, replicas=(1, 2), isr=(1,)), 0)
    assert [each.looked_up for each in served] == [1, 2]


def test_of_memos_that_are_void_no_more_are_kept_than_of_others(tmp_path: Path) -> None:
    served = Served(tmp_path)
    memos = served.memos
    for number in range(10 * SWEEP_MIN):
        served.partition.reconfigured()
        served.produce(connected(), frame(10, f"client-{number}")[0])
        assert len(memos._by_prefix) <= SWEEP_MIN + 1


@pytest.mark.parametrize("cut_at", range(8, 40))
def test_a_frame_that_ends_early_is_looked_for_and_not_found(cut_at: int) -> None:
    whole, _ = frame(10)
    memos, last = ProduceMemos(), SimpleNamespace(prefix=bytes(20))
    unlike: Any = last
    assert memos.find(unlike, whole[:cut_at], 0, cut_at) is None
