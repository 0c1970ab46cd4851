"""DeleteRecords over the wire: what is deleted is out of sight at once, and stays so."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from brokerd.server.api.delete_records import DeleteRecordsHandler
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

SETTINGS = {
    "log.retention.check.interval.ms": "500",
    "log.retention.ms": "-1",
    "log.segment.bytes": "300",
}
EARLIEST, LATEST = -2, -1


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    """One broker with small segments that looks for expired ones twice a second."""
    directory = tmp_path_factory.mktemp("delete-records")
    connect = zookeeper.connect("/delete-records")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


@pytest.fixture
def wire(broker: Brokerd) -> Iterator[Wire]:
    with Wire(broker.port) as connection:
        yield connection


_numbers = count()


@pytest.fixture
def topic(wire: Wire) -> str:
    """A topic of one partition with ten records, one a segment or so."""
    return filled(wire)


def filled(wire: Wire, **config: str) -> str:
    name = f"t{next(_numbers)}"
    configs = [{"name": key.replace("_", "."), "value": value} for key, value in config.items()]
    made = {"name": name, "num_partitions": 1, "replication_factor": 1, "configs": configs}
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [made], "timeout": 10_000})
    assert answer.topics[0].error_code == 0
    for number in range(10):
        records = bytes(encode_batch([Record(0, 1000 + number, b"k", bytes(200))]))
        fields = {"acks": -1, "timeout": 5000, "topic_data": [
            {"name": name, "partition_data": [{"index": 0, "records": records}]}]}  # fmt: skip
        produced = wire.ask(ApiKey.PRODUCE, 8, fields).responses[0].partition_responses[0]
        assert produced.error_code == 0
    return name


def delete(wire: Wire, topic: str, offset: int, partition: int = 0) -> tuple[int, ErrorCode]:
    fields = {
        "topics": [
            {"name": topic, "partitions": [{"partition_index": partition, "offset": offset}]}
        ],
        "timeout": 5000,
    }
    (found,) = wire.ask(ApiKey.DELETE_RECORDS, 2, fields).topics[0].partitions
    return found.low_watermark, ErrorCode(int(found.error_code))


def offset_at(wire: Wire, topic: str, timestamp: int) -> int:
    asked = {"partition_index": 0, "timestamp": timestamp}
    fields = {"replica_id": -1, "topics": [{"name": topic, "partitions": [asked]}]}
    return int(wire.ask(ApiKey.LIST_OFFSETS, 1, fields).topics[0].partitions[0].offset)


def fetch_error(wire: Wire, topic: str, offset: int) -> ErrorCode:
    asked = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    fields = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20,
              "topics": [{"topic": topic, "partitions": [asked]}]}  # fmt: skip
    answer = wire.ask(ApiKey.FETCH, 11, fields)
    return ErrorCode(int(answer.responses[0].partitions[0].error_code))


def test_records_before_an_offset_are_out_of_sight_at_once(wire: Wire, topic: str) -> None:
    assert delete(wire, topic, 4) == (4, ErrorCode.NONE)
    assert offset_at(wire, topic, EARLIEST) == 4
    assert offset_at(wire, topic, 1000) == 4
    assert fetch_error(wire, topic, 3) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert fetch_error(wire, topic, 4) is ErrorCode.NONE


def test_minus_one_stands_for_the_high_watermark(wire: Wire, topic: str) -> None:
    assert delete(wire, topic, -1) == (10, ErrorCode.NONE)
    assert (offset_at(wire, topic, EARLIEST), offset_at(wire, topic, LATEST)) == (10, 10)


def test_the_log_start_never_goes_back(wire: Wire, topic: str) -> None:
    assert delete(wire, topic, 6) == (6, ErrorCode.NONE)
    assert delete(wire, topic, 2) == (6, ErrorCode.NONE)
    assert delete(wire, topic, 0) == (6, ErrorCode.NONE)


@pytest.mark.parametrize("offset", [11, -2])
def test_an_offset_that_is_not_in_the_log_is_refused(wire: Wire, topic: str, offset: int) -> None:
    assert delete(wire, topic, offset) == (-1, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert offset_at(wire, topic, EARLIEST) == 0


def test_a_topic_that_is_only_compacted_keeps_its_records(wire: Wire) -> None:
    compacted = filled(wire, cleanup_policy="compact")
    assert delete(wire, compacted, 3) == (-1, ErrorCode.POLICY_VIOLATION)
    both = filled(wire, cleanup_policy="compact,delete")
    assert delete(wire, both, 3) == (3, ErrorCode.NONE)


def test_unknown_partitions_and_internal_topics_are_refused(wire: Wire, topic: str) -> None:
    assert delete(wire, topic, 0, partition=7) == (-1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert delete(wire, "nowhere", 0) == (-1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert delete(wire, "__consumer_offsets", 0) == (-1, ErrorCode.INVALID_TOPIC_EXCEPTION)


def test_whole_segments_before_the_start_go_with_the_next_retention(
    wire: Wire, broker: Brokerd, topic: str
) -> None:
    def logs() -> list[Path]:
        return sorted((broker.logs / f"{topic}-0").glob("*.log"))

    assert len(logs()) == 10
    delete(wire, topic, 4)
    wait_until(lambda: int(logs()[0].stem) == 4, "the segments before 4 are gone")
    assert len(logs()) == 6


def test_what_was_deleted_stays_so_after_a_kill_and_after_a_stop(broker: Brokerd) -> None:
    with Wire(broker.port) as wire:
        topic = filled(wire)
        assert delete(wire, topic, 5) == (5, ErrorCode.NONE)
    broker.kill()
    broker.start()
    with Wire(broker.port) as wire:
        assert (offset_at(wire, topic, EARLIEST), offset_at(wire, topic, LATEST)) == (5, 10)
        assert delete(wire, topic, 7) == (7, ErrorCode.NONE)
    broker.stop()
    broker.start()
    with Wire(broker.port) as wire:
        assert (offset_at(wire, topic, EARLIEST), offset_at(wire, topic, LATEST)) == (7, 10)


def test_a_broker_that_does_not_lead_the_partition_says_so(brokers: BrokerdCluster) -> None:
    first, second = brokers.brokers
    with Wire(first.port) as one, Wire(second.port) as other:
        made = {"name": "led-by-one", "num_partitions": -1, "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": [first.id]}]}  # fmt: skip
        for wire in (one, other):  # one of them is the controller
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [made], "timeout": 10_000})
        assert delete(other, "led-by-one", 0) == (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        assert delete(one, "led-by-one", 0) == (0, ErrorCode.NONE)


async def test_records_of_many_partitions_are_deleted_in_turns_and_told_in_order() -> None:
    saved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.05, saved.set_result, None)

    def get_partition_or_error(topic: str, index: int) -> SimpleNamespace:
        if index % 2:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = SimpleNamespace(is_prepared=True)
        return SimpleNamespace(log=log, delete_records=lambda offset: offset)

    led: Any = SimpleNamespace(get_partition_or_error=get_partition_or_error)
    log_starts: Any = SimpleNamespace(save=lambda *_: saved)
    handler = DeleteRecordsHandler(led, log_starts)
    many = 20_000
    asked = [SimpleNamespace(partition_index=index, offset=index) for index in range(many)]
    request = SimpleNamespace(topics=[SimpleNamespace(name="t", partitions=asked)])
    context: Any = None
    turns = tasks = 0
    serving = asyncio.ensure_future(handler.delete_records(context, request))
    while not serving.done():
        turns += 1
        tasks = max(tasks, len(asyncio.all_tasks()))
        await asyncio.sleep(0)
    (told,) = serving.result()["topics"]
    rows = told["partitions"]
    assert [each["partition_index"] for each in rows] == list(range(many))
    assert [each["low_watermark"] for each in rows[:4]] == [0, -1, 2, -1]
    assert rows[1]["error_code"] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert turns > 5
    assert tasks < 10
