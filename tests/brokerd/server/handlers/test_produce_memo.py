"""A Produce that was recognised and is refused counts as one that was not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from brokerd.clock import ManualClock
from brokerd.config import parse
from brokerd.errors import ErrorCode
from brokerd.log.log_config import LogConfig
from brokerd.metrics import BrokerMetrics
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from brokerd.server.handlers.produce import ProduceRound
from brokerd.server.net.output import OutputQueue
from tests.brokerd.replication.support import replica, state

SEGMENT_BYTES = 4096


def frame(size: int) -> tuple[bytearray, int]:
    """A Produce of one record of so many bytes to t-0, and how large its batch is."""
    records = bytes(encode_batch([Record(0, 1, None, bytes(size))]))
    fields = {"transactional_id": None, "acks": 1, "timeout": 5000, "topic_data": [
        {"name": "t", "partition_data": [{"index": 0, "records": records}]}]}  # fmt: skip
    return bytearray(messages.encode_request(0, 8, fields, 5, "client")), len(records)


def test_bytes_that_are_too_large_for_a_segment_are_counted_however_they_came(
    tmp_path: Path,
) -> None:
    partition = replica(tmp_path, 1, LogConfig(segment_bytes=SEGMENT_BYTES))
    partition.apply(state(1, 1, replicas=(1,), isr=(1,)), 0)
    metrics = BrokerMetrics()
    broker: Any = SimpleNamespace(
        appends=SimpleNamespace(by_partition={}), generation=1, clock=ManualClock(),
        config=parse("broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"), metrics=metrics,
        leader_of=lambda topic, index: partition,
    )  # fmt: skip
    nowhere: Any = None
    connection: Any = SimpleNamespace(
        output=OutputQueue(nowhere), produce_memo=None, last_header=None, closed=False
    )
    served = ProduceRound(broker)

    def produce(size: int) -> int:
        buffer, records_bytes = frame(size)
        served.add_run(connection, buffer, memoryview(buffer), 0, len(buffer))
        served.commit()
        return records_bytes

    first = produce(SEGMENT_BYTES)
    assert metrics.rejected_bytes == first
    assert connection.produce_memo is not None
    again = produce(SEGMENT_BYTES + 1)
    assert metrics.rejected_bytes == first + again
    assert metrics.errors[ApiKey.PRODUCE, int(ErrorCode.RECORD_LIST_TOO_LARGE)] == 2
