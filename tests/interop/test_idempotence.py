"""What is known of idempotent producers after a stop and after a kill.

The answers are those of Apache Kafka 3.9.1, asked the same, but that after a kill it knows the last
batch only: brokerd reads the five out of the log.
"""

from collections.abc import Iterator

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

NOW_MS = 1_700_000_000_000
TOPIC = {"name": "t", "num_partitions": 1, "replication_factor": 1}
OUT_OF_ORDER = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
NOT_YET = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory = tmp_path_factory.mktemp("idempotence")
    connect = zookeeper.connect("/idempotence")
    settings = {"log.retention.ms": "-1"}
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        with Wire(cluster.brokers[0].port) as wire:
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [TOPIC], "timeout": 10_000})
        yield cluster.brokers[0]


def sent(broker: Brokerd, producer_id: int, *sequences: int) -> list[tuple[ErrorCode, int]]:
    """(error, offset) of two records each, from that sequence on."""
    answers = []
    with Wire(broker.port) as wire:
        for sequence in sequences:
            batch = encode_batch(
                [Record(0, NOW_MS, b"k", b"v")] * 2,
                producer_id=producer_id, producer_epoch=0, base_sequence=sequence,
            )  # fmt: skip
            data = [{"index": 0, "records": bytes(batch)}]
            topics = [{"name": "t", "partition_data": data}]
            while True:
                fields = {"acks": -1, "timeout": 5000, "topic_data": topics}
                answer = wire.ask(ApiKey.PRODUCE, 9, fields)
                told = answer.responses[0].partition_responses[0]
                if ErrorCode(int(told.error_code)) not in NOT_YET:
                    break
            answers.append((ErrorCode(int(told.error_code)), told.base_offset))
    return answers


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_producer_goes_on_where_it_was_and_repeats_are_known(broker: Brokerd, end: str) -> None:
    producer_id = 1 if end == "stop" else 2
    good = sent(broker, producer_id, 0, 2, 4, 6, 8)
    assert {error for error, _ in good} == {ErrorCode.NONE}
    first = good[0][1]
    assert [offset - first for _, offset in good] == [0, 2, 4, 6, 8]
    getattr(broker, end)()
    broker.start()
    older = sent(broker, producer_id, 4, 6)
    assert older == ([OUT_OF_ORDER] * 2 if end == "stop" else good[2:4])
    assert sent(broker, producer_id, 8, 10, 14, 12, 12, 10) == [
        (ErrorCode.NONE, first + 8),
        (ErrorCode.NONE, first + 10),
        OUT_OF_ORDER,
        (ErrorCode.NONE, first + 12),
        (ErrorCode.NONE, first + 12),
        (ErrorCode.NONE, first + 10),
    ]
