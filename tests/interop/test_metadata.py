"""Metadata, by name and by id, with and without creating; and offsets by bare requests."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.wire import Wire

Names = Callable[[str], str]


@pytest.fixture
def wire(broker: Brokerd) -> Iterator[Wire]:
    with Wire(broker.port) as connection:
        yield connection


def create(wire: Wire, name: str, **config: str) -> None:
    configs = [{"name": key.replace("_", "."), "value": value} for key, value in config.items()]
    topic = {"name": name, "num_partitions": 2, "replication_factor": 1, "configs": configs}
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 10_000})
    assert answer.topics[0].error_code == 0


def produce(wire: Wire, topic: str, records: list[Record]) -> ErrorCode:
    partition = {"index": 0, "records": bytes(encode_batch(records))}
    fields = {
        "acks": -1,
        "timeout": 5000,
        "topic_data": [{"name": topic, "partition_data": [partition]}],
    }
    answer = wire.ask(ApiKey.PRODUCE, 8, fields)
    return ErrorCode(int(answer.responses[0].partition_responses[0].error_code))


def test_an_unknown_topic_is_created_only_where_the_client_allows_it(
    wire: Wire, new_name: Names
) -> None:
    topics = [{"name": new_name("auto")}]
    refused = wire.ask(
        ApiKey.METADATA, 4, {"topics": topics, "allow_auto_topic_creation": False}
    ).topics[0]
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    created = wire.ask(
        ApiKey.METADATA, 4, {"topics": topics, "allow_auto_topic_creation": True}
    ).topics[0]
    assert created.error_code == 0
    assert [each.leader_id for each in created.partitions] == [1, 1]
    assert [tuple(each.isr_nodes) for each in created.partitions] == [(1,), (1,)]


def test_a_bad_name_is_refused_and_the_others_are_answered(wire: Wire, new_name: Names) -> None:
    topics = [{"name": "not/legal"}, {"name": new_name("auto")}]
    answer = wire.ask(ApiKey.METADATA, 4, {"topics": topics, "allow_auto_topic_creation": True})
    assert [int(each.error_code) for each in answer.topics] == [
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        0,
    ]


@pytest.mark.parametrize("asked_name", [None, "", "another"])
def test_a_topic_is_found_by_its_id_whatever_name_stands_beside_it(
    wire: Wire, new_name: Names, asked_name: str | None
) -> None:
    name = new_name("by-id")
    create(wire, name)
    by_name = wire.ask(ApiKey.METADATA, 12, {"topics": [{"name": name}]}).topics[0]
    ids = (by_name.topic_id, UUID(int=77))
    topics = [{"topic_id": topic_id, "name": asked_name} for topic_id in ids]
    found, unknown = wire.ask(ApiKey.METADATA, 12, {"topics": topics}).topics
    assert (found.name, found.topic_id, found.error_code) == (name, by_name.topic_id, 0)
    assert len(found.partitions) == 2
    assert (unknown.name, unknown.topic_id) == (None, UUID(int=77))
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("topic", [{"topic_id": UUID(int=77), "name": ""}, {"name": None}])
def test_ids_are_refused_in_the_versions_that_have_them_and_may_not_use_them(
    wire: Wire, version: int, topic: dict[str, Any]
) -> None:
    (refused,) = wire.ask(ApiKey.METADATA, version, {"topics": [topic]}).topics
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_a_topic_without_name_and_id_is_refused_alone(wire: Wire) -> None:
    topics = {"topics": [{"topic_id": None, "name": None}]}
    (refused,) = wire.ask(ApiKey.METADATA, 12, topics).topics
    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("version", range(13))
def test_all_topics_and_none_are_asked_for_in_every_version(wire: Wire, version: int) -> None:
    everything = wire.ask(ApiKey.METADATA, version, {"topics": () if version == 0 else None})
    assert everything.brokers[0].node_id == 1
    if version > 0:
        assert everything.controller_id == 1
        assert wire.ask(ApiKey.METADATA, version, {"topics": ()}).topics == ()


def test_a_new_and_a_deleted_topic_show_at_once(wire: Wire, new_name: Names) -> None:
    name = new_name("short")

    def listed() -> bool:
        return name in [each.name for each in wire.ask(ApiKey.METADATA, 9, {"topics": None}).topics]

    assert not listed()
    create(wire, name)
    assert listed()
    wire.ask(ApiKey.DELETE_TOPICS, 4, {"topic_names": [name], "timeout": 10_000})
    assert not listed()


def test_offsets_are_listed_by_special_and_by_plain_timestamps(wire: Wire, new_name: Names) -> None:
    name = new_name("offsets")
    create(wire, name)
    assert produce(wire, name, [Record(0, 1000 * n, None, b"x") for n in (1, 9, 3)]) == 0

    def listed(timestamp: int, partition: int = 0) -> tuple[int, int, int]:
        asked = {"partition_index": partition, "timestamp": timestamp}
        topics = [{"name": name, "partitions": [asked]}]
        answer = wire.ask(ApiKey.LIST_OFFSETS, 7, {"replica_id": -1, "topics": topics})
        found = answer.topics[0].partitions[0]
        return int(found.error_code), found.offset, found.timestamp

    assert listed(-1) == (0, 3, -1)
    assert listed(-2) == (0, 0, -1)
    assert listed(-3) == (0, 1, 9000)
    assert listed(2000) == (0, 1, 9000)
    assert listed(99_000) == (0, -1, -1)
    assert listed(-9)[0] == ErrorCode.UNSUPPORTED_VERSION
    assert listed(-1, partition=50)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_end_of_a_leader_epoch_is_told_and_a_wrong_epoch_is_fenced(
    wire: Wire, new_name: Names
) -> None:
    name = new_name("epochs")
    create(wire, name)
    assert produce(wire, name, [Record(0, 1, None, b"x")] * 4) == 0

    def asked(current: int) -> tuple[int, int]:
        partition = {"partition": 0, "current_leader_epoch": current, "leader_epoch": 0}
        fields = {"topics": [{"topic": name, "partitions": [partition]}]}
        answer = wire.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, fields)
        found = answer.topics[0].partitions[0]
        return int(found.error_code), found.end_offset

    assert asked(0) == (0, 4)
    assert asked(9)[0] == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_record_without_a_key_is_refused_on_a_compacted_topic(
    wire: Wire, new_name: Names
) -> None:
    name = new_name("compacted")
    create(wire, name, cleanup_policy="compact")
    assert produce(wire, name, [Record(0, 1, None, b"x")]) is ErrorCode.INVALID_RECORD
    assert produce(wire, name, [Record(0, 1, b"k", b"x")]) is ErrorCode.NONE


def test_a_transactional_id_is_refused_until_transactions_are_served(wire: Wire) -> None:
    refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    coordinator = wire.ask(ApiKey.FIND_COORDINATOR, 3, {"key": "t", "key_type": 1})
    assert coordinator.error_code == refused
    assert "transactions are not served yet" in coordinator.error_message
    fields = {"transactional_id": "t", "transaction_timeout": 1000}
    assert wire.ask(ApiKey.INIT_PRODUCER_ID, 4, fields).error_code == refused
    plain = [wire.ask(ApiKey.INIT_PRODUCER_ID, 4, {"transactional_id": None}) for _ in range(2)]
    assert [each.error_code for each in plain] == [0, 0]
    assert plain[0].producer_id != plain[1].producer_id
