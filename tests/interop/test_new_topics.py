"""What a client does at once with a topic that it was just told of, on a cluster of three."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from brokerd.server.produce.produce_handler import FIRST_USES_MAX
from tests.support.brokerd import BrokerdCluster
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

Names = Callable[[str], str]
PARTITIONS = 30
TOPICS = 12


@pytest.fixture(scope="module")
def cluster(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    settings = {"num.partitions": str(PARTITIONS)}
    connect = zookeeper.connect("/new-topics")
    directory = tmp_path_factory.mktemp("new-topics")
    with BrokerdCluster.started(directory, connect, brokers=3, settings=settings) as three:
        yield three


def batch(partition: int) -> dict[str, object]:
    return {"index": partition, "records": bytes(encode_batch([Record(0, 1, None, b"v")]))}


def test_every_partition_of_a_topic_made_by_metadata_takes_records_at_once(
    cluster: BrokerdCluster, new_name: Names
) -> None:
    errors: list[int] = []
    with ExitStack() as stack:
        wires = {n: stack.enter_context(Wire(b.port)) for n, b in enumerate(cluster.brokers, 1)}
        for number in range(TOPICS):
            errors += made_and_filled(new_name("at-once"), wires, number % 3 + 1)
    assert errors == [0] * (PARTITIONS * TOPICS)


def made_and_filled(name: str, wires: dict[int, Wire], asked: int) -> list[int]:
    """The error of the first Produce to each partition of a topic that one broker names."""
    topics = {"topics": [{"name": name}], "allow_auto_topic_creation": True}
    told = wires[asked].ask(ApiKey.METADATA, 4, topics).topics[0]
    assert len(told.partitions) == PARTITIONS
    for leader, wire in wires.items():
        led = [each.partition_index for each in told.partitions if each.leader_id == leader]
        data = [{"name": name, "partition_data": [batch(index) for index in reversed(led)]}]
        wire.request(ApiKey.PRODUCE, 8, {"acks": 1, "timeout": 5000, "topic_data": data})
    answers = [wire.answer(ApiKey.PRODUCE, 8) for wire in wires.values()]
    responses = [topic for answer in answers for topic in answer.responses]
    return [int(each.error_code) for topic in responses for each in topic.partition_responses]


def test_first_records_for_many_partitions_in_one_request_come_before_those_of_the_next(
    cluster: BrokerdCluster, new_name: Names
) -> None:
    data = []
    with Wire(cluster.brokers[0].port) as wire:
        for _ in range(6):
            name = new_name("many")
            topics = {"topics": [{"name": name}], "allow_auto_topic_creation": True}
            told = wire.ask(ApiKey.METADATA, 4, topics).topics[0]
            led = [each.partition_index for each in told.partitions if each.leader_id == 1]
            data.append({"name": name, "partition_data": [batch(index) for index in led]})
        count = sum(len(each["partition_data"]) for each in data)
        assert count > FIRST_USES_MAX
        for acks in (1, -1):
            wire.request(ApiKey.PRODUCE, 8, {"acks": acks, "timeout": 5000, "topic_data": data})
        for offset in (0, 1):
            responses = wire.answer(ApiKey.PRODUCE, 8).responses
            told = [each for topic in responses for each in topic.partition_responses]
            assert [(int(each.error_code), each.base_offset) for each in told] == (
                [(0, offset)] * count
            )
