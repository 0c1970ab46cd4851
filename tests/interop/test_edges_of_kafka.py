"""What clients seldom ask: names twice, empty lists, several faults at once. Apache Kafka and
brokerd say the same, and what one refuses as a whole changes nothing at the other either."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest

from brokerd.coordinator.group.group_coordinator_record_serde import OffsetRecord, encode_key
from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch
from tests.interop.test_answers_of_kafka import plain
from tests.support.waiting import wait_until
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka

Ids = Mapping[str, UUID]
Fields = dict[str, Any]
GONE = ("gone-a", "gone-b", "gone-c", "gone-d", "gone-e")


def new(name: str, **more: Any) -> Fields:
    topic = {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": []}
    return topic | {"configs": []} | more


def assigned(*partitions: tuple[int, list[int]]) -> Fields:
    rows = [{"partition_index": index, "broker_ids": brokers} for index, brokers in partitions]
    return {"num_partitions": -1, "replication_factor": -1, "assignments": rows}


def config(*settings: tuple[str, str | None]) -> Fields:
    return {"configs": [{"name": name, "value": value} for name, value in settings]}


def creation(*topics: Fields, validate_only: bool = True) -> Fields:
    return {"topics": list(topics), "timeout": 20_000, "validate_only": validate_only}


def deletion(*topics: tuple[str | None, UUID | None]) -> Fields:
    rows = [{"name": name, "topic_id": topic_id} for name, topic_id in topics]
    return {"topics": rows, "timeout": 20_000}


def growth(*topics: tuple[str, int, list[list[int]] | None]) -> Fields:
    rows = [
        {"name": name, "count": count,
         "assignments": None if given is None else [{"broker_ids": each} for each in given]}
        for name, count, given in topics
    ]  # fmt: skip
    return {"topics": rows, "timeout": 20_000, "validate_only": True}


def batch() -> bytes:
    return bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", b"v")]))


def produce(topic: str, index: int = 0, acks: int = -1, records: bytes | None = None) -> Fields:
    rows = [{"index": index, "records": records or batch()}]
    return {"transactional_id": None, "acks": acks, "timeout": 5000,
            "topic_data": [{"name": topic, "partition_data": rows}]}  # fmt: skip


def commit(
    *topics: tuple[str, list[tuple[int, int]]], metadata: str | None = "", **member: Any
) -> Fields:
    rows = [
        {"name": name, "partitions": [
            {"partition_index": index, "committed_offset": offset, "committed_metadata": metadata}
            for index, offset in partitions]}
        for name, partitions in topics
    ]  # fmt: skip
    alone = {"group_id": "edge", "generation_id_or_member_epoch": -1, "member_id": ""}
    return alone | {"topics": rows} | member


def removal(*topics: tuple[str, list[int]], group: str = "edge") -> Fields:
    rows = [
        {"name": name, "partitions": [{"partition_index": index} for index in partitions]}
        for name, partitions in topics
    ]
    return {"group_id": group, "topics": rows}


def altered(*settings: tuple[str, str | None], kind: int = 2, name: str = "edge") -> Fields:
    """Sets each; fit for AlterConfigs and for IncrementalAlterConfigs."""
    rows = [{"name": key, "value": value, "config_operation": 0} for key, value in settings]
    resource = {"resource_type": kind, "resource_name": name, "configs": rows}
    return {"resources": [resource], "validate_only": True}


def quotas(*entries: tuple[list[str], str, float | None]) -> Fields:
    """Of each entity (its kinds) a quota to set, or to remove where it is None."""
    rows = [
        {"entity": [{"entity_type": kind, "entity_name": "edge"} for kind in kinds],
         "ops": [{"key": key, "value": value or 0.0, "remove": value is None}]}
        for kinds, key, value in entries
    ]  # fmt: skip
    return {"entries": rows, "validate_only": False}


def prepare(port: int) -> Ids:
    """Topics `edge` of two partitions, `x.y` and those that are to be deleted; a coordinator."""
    names = ("edge", "x.y", *GONE)
    with Wire(port) as wire:
        topics = [new(name, num_partitions=2 if name == "edge" else 1) for name in names]
        wire.ask(ApiKey.CREATE_TOPICS, 5, creation(*topics, validate_only=False))
        asked = {"key_type": 0, "key": "edge"}
        wait_until(lambda: not wire.ask(ApiKey.FIND_COORDINATOR, 1, asked).error_code)
        committed = commit(("edge", [(0, 1)]))
        wait_until(lambda: not _commit_error(wire, committed))
        told = wire.ask(ApiKey.METADATA, 12, {"topics": [{"name": name} for name in names]})
        return {topic.name: topic.topic_id for topic in told.topics}


def _commit_error(wire: Wire, fields: Fields) -> int:
    answer = wire.ask(ApiKey.OFFSET_COMMIT, 8, fields)
    return int(answer.topics[0].partitions[0].error_code)


@pytest.fixture(scope="module")
def both(kafka_port: int, brokerd_port: int) -> list[tuple[int, Ids]]:
    """Apache Kafka's port and the ids of its topics, brokerd's and those of its."""
    return [(port, prepare(port)) for port in (kafka_port, brokerd_port)]


Case = tuple[ApiKey, int, Fields | Callable[[Ids], Fields]]
CASES: dict[str, Case] = {
    "one topic with both name and id": (ApiKey.DELETE_TOPICS, 6, lambda ids: deletion(
        ("gone-a", ids["gone-a"]), ("gone-b", None))),
    "and none is deleted": (ApiKey.METADATA, 8, {"topics": [
        {"name": "gone-a"}, {"name": "gone-b"}], "allow_auto_topic_creation": False}),
    "deleted twice by name": (ApiKey.DELETE_TOPICS, 5, {
        "topic_names": ["gone-a", "nowhere", "gone-a", "nowhere"], "timeout": 20_000}),
    "deleted by name and by id": (ApiKey.DELETE_TOPICS, 6, lambda ids: deletion(
        ("gone-b", None), (None, ids["gone-b"]))),
    "an unknown id twice": (ApiKey.DELETE_TOPICS, 6, lambda ids: deletion(
        (None, UUID(int=5)), (None, ids["gone-c"]), (None, UUID(int=5)))),
    "nothing is deleted": (ApiKey.DELETE_TOPICS, 6, deletion()),
    "names that no topic can have": (ApiKey.DELETE_TOPICS, 5, {
        "topic_names": ["", ".", "bad/name", "ü", "x" * 250], "timeout": 5000}),
    "created twice, once with a null": (ApiKey.CREATE_TOPICS, 7, creation(
        new("dup"), new("dup", **config(("retention.ms", None))), validate_only=False)),
    "and is not created": (ApiKey.METADATA, 8, {
        "topics": [{"name": "dup"}], "allow_auto_topic_creation": False}),
    "created twice beside a good one": (ApiKey.CREATE_TOPICS, 7, creation(
        new("dup"), new("good"), new("dup"))),
    "a partition that is assigned twice": (ApiKey.CREATE_TOPICS, 7, creation(
        new("a", **assigned((0, [9]), (0, [1]))))),
    "two that collide, to be looked at only": (ApiKey.CREATE_TOPICS, 7, creation(
        new("co.l"), new("co_l"))),
    "one that collides": (ApiKey.CREATE_TOPICS, 7, creation(new("x_y"), new("x.y"))),
    "topics with several faults": (ApiKey.CREATE_TOPICS, 7, creation(
        new("bad/name", num_partitions=0),
        new("..", replication_factor=0),
        new("x" * 250, **config(("retention.ms", "x"))),
        new("edge", num_partitions=0, **config(("nope", None))),
        new("bad,name", **config(("nope", None))),
        new("no", num_partitions=-5, **config(("nope", None))),
        new("bad name", **assigned((0, [1])) | {"replication_factor": 1}),
        new("b", **assigned((0, [1, 1])), **config(("nope", "y"))),
        new("c", num_partitions=0, replication_factor=5),
    )),
    "internal topics": (ApiKey.CREATE_TOPICS, 7, creation(
        new("__cluster_metadata"), new("__consumer_offsets"), new("__transaction_state"))),
    "names at the limit": (ApiKey.CREATE_TOPICS, 7, creation(new("x" * 249), new("x" * 250))),
    "no topics": (ApiKey.CREATE_TOPICS, 7, creation()),
    "grown twice": (ApiKey.CREATE_PARTITIONS, 3, growth(
        ("edge", 3, None), ("nowhere", 3, None), ("edge", 4, None), ("nowhere", 3, None))),
    "grown by replicas that cannot be": (ApiKey.CREATE_PARTITIONS, 3, growth(
        ("edge", 4, [[1], []]), ("x.y", 2, [[-1]]), ("gone-d", 2, []))),
    **{f"acks {acks} to {topic}-{index}": (ApiKey.PRODUCE, 8, produce(topic, index, acks))
       for acks in (5, -2) for topic, index in (
           ("nowhere", 0), ("edge", 0), ("edge", 9), ("__consumer_offsets", 0))},
    "records for an internal topic's partition that is not": (
        ApiKey.PRODUCE, 8, produce("__consumer_offsets", 99)),
    "records for an internal topic that is not": (
        ApiKey.PRODUCE, 8, produce("__transaction_state")),
    "a coordinator twice": (ApiKey.FIND_COORDINATOR, 4, {
        "key_type": 0, "coordinator_keys": ["edge", "a", "edge"]}),
    **{f"offsets by time {time} in version {version} of what is not": (
        ApiKey.LIST_OFFSETS, version, {"replica_id": -1, "isolation_level": 0, "topics": [
            {"name": "nowhere", "partitions": [
                {"partition_index": 0, "current_leader_epoch": -1, "timestamp": time}]}]})
       for time, version in ((-3, 6), (-3, 7), (-6, 9), (-100, 1), (0, 9))},
    **{f"brokers of an endpoint of type {kind}": (ApiKey.DESCRIBE_CLUSTER, 1, {
        "endpoint_type": kind, "include_cluster_authorized_operations": False})
       for kind in (0, 2, 3)},
    "quotas of one entity twice": (ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas(
        (["user", "client-id"], "producer_byte_rate", 1.0),
        (["client-id", "user"], "consumer_byte_rate", 2.0),
        (["user"], "producer_byte_rate", 3.0), (["user"], "nope", 4.0))),
    "and all but the wrong one are set": (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, {"components": [
        {"entity_type": "user", "match_type": 0, "match": "edge"}], "strict": False}),
    "quotas removed": (ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas(
        (["user", "client-id"], "producer_byte_rate", None), (["user"], "nope", 4.0),
        (["user", "client-id"], "consumer_byte_rate", None),
        (["user"], "producer_byte_rate", None))),
    "and none are left": (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, {"components": [
        {"entity_type": "user", "match_type": 0, "match": "edge"}], "strict": False}),
    "reassigned twice": (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, {"timeout": 20_000, "topics": [
        {"name": name, "partitions": [
            {"partition_index": index, "replicas": replicas} for index, replicas in partitions]}
        for name, partitions in (
            ("edge", [(0, [1]), (0, [9]), (9, [1]), (-1, None)]), ("nowhere", [(0, None)]),
            ("edge", [(1, None)]), ("x.y", []))]}),
    **{f"an empty transactional id in version {version}": (ApiKey.INIT_PRODUCER_ID, version, {
        "transactional_id": "", "transaction_timeout": 1000, "producer_id": -1,
        "producer_epoch": -1}) for version in (0, 2, 4)},
    "committed twice": (ApiKey.OFFSET_COMMIT, 8, commit(
        ("edge", [(0, 5), (0, 6), (9, 1), (9, 1)]), ("nowhere", [(0, 1), (0, 1)]),
        ("edge", [(1, 7), (9, 1)]))),
    "and the last counts": (ApiKey.OFFSET_FETCH, 7, {
        "group_id": "edge", "require_stable": False, "topics": None}),
    "committed twice by a stranger": (ApiKey.OFFSET_COMMIT, 8, commit(
        ("edge", [(0, 5), (0, 6), (1, 1)]), ("nowhere", [(0, 1)]),
        generation_id_or_member_epoch=4, member_id="who")),
    **{f"{len(text.encode())} bytes of metadata": (ApiKey.OFFSET_COMMIT, 8, commit(
        ("edge", [(0, 1)]), metadata=text)) for text in (
            "x" * 4096, "x" * 4097, "ü" * 4096, "ü" * 4097, "😀" * 2048, "😀" * 2048 + "x")},
    "offsets removed twice": (ApiKey.OFFSET_DELETE, 0, removal(
        ("edge", [1, 1, 9, -1]), ("nowhere", [0, 0]), ("edge", [1]), ("bad/name", [0]))),
    "offsets of unknown partitions removed": (ApiKey.OFFSET_DELETE, 0, removal(("nowhere", [0]))),
    "offsets of an unknown group removed": (ApiKey.OFFSET_DELETE, 0, removal(
        ("nowhere", [0]), group="who")),
    **{f"{what} of {kind} {name} by {key.name}": (key, 1, altered(*settings, kind=kind, name=name))
       for key in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS)
       for kind, name in ((2, "edge"), (2, "nowhere"), (2, "bad/name"), (2, ""),
                          (4, "9"), (8, "1"), (99, "x"))
       for what, settings in (
           ("nothing", []), ("a setting", [("retention.ms", "5")]),
           ("a key twice", [("retention.ms", "5"), ("retention.ms", "6")]),
           ("a null", [("retention.ms", None)]),
           ("a key twice and null", [("retention.ms", None), ("retention.ms", None)]))},
    **{f"{name} is {value}": (ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, altered((name, value)))
       for name, value in (
           ("cleanup.policy", ""), ("cleanup.policy", "compact,compact"),
           ("cleanup.policy", "compact,"), ("cleanup.policy", ","), ("retention.ms", ""),
           ("retention.ms", " +5 "), ("retention.ms", "1_0"), ("compression.type", "ZSTD"),
           ("preallocate", "TRUE"), ("message.format.version", "0.10"),
           ("message.format.version", "0.10.0"), ("message.format.version", "3.9-IV0"),
           ("message.format.version", "3.9.1"), ("message.format.version", "7.0"))},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_odd_requests_are_answered_as_by_apache_kafka(
    both: list[tuple[int, Ids]], case: str
) -> None:
    key, version, asked = CASES[case]
    answers = []
    for port, ids in both:
        with Wire(port) as wire:
            fields = asked(ids) if callable(asked) else asked
            answers.append(plain(wire.ask(key, version, fields)))
    by_kafka, by_brokerd = answers
    assert by_brokerd == by_kafka


def test_ids_are_told_of_topics_that_are_deleted_by_id_alone(
    both: list[tuple[int, Ids]],
) -> None:
    for port, ids in both:
        with Wire(port) as wire:
            asked = deletion(("gone-d", None), (None, ids["gone-e"]))
            told = wire.ask(ApiKey.DELETE_TOPICS, 6, asked).responses
        assert {(each.name, each.topic_id, each.error_code) for each in told} == {
            ("gone-d", None, ErrorCode.NONE),
            ("gone-e", ids["gone-e"], ErrorCode.NONE),
        }


def test_a_policy_without_words_is_told_as_it_is(both: list[tuple[int, Ids]]) -> None:
    for port, _ in both:
        with Wire(port) as wire:
            asked = creation(new("kept", **config(("cleanup.policy", ""))))
            (told,) = wire.ask(ApiKey.CREATE_TOPICS, 7, asked).topics
        values = {each.name: each.value for each in told.configs}
        assert values["cleanup.policy"] == ""


def test_without_keys_all_settings_are_told(both: list[tuple[int, Ids]]) -> None:
    for port, _ in both:
        with Wire(port) as wire:
            for kind, name in ((2, "edge"), (4, "1"), (8, "1")):
                counts = []
                for keys in (None, []):
                    rows = [{"resource_type": kind, "resource_name": name,
                             "configuration_keys": keys}]  # fmt: skip
                    (told,) = wire.ask(ApiKey.DESCRIBE_CONFIGS, 4, {"resources": rows}).results
                    counts.append(len(told.configs))
                assert counts[0] == counts[1] > 1, (kind, name)


def test_the_admin_client_of_apache_kafka_writes_to_internal_topics(
    both: list[tuple[int, Ids]],
) -> None:
    for port, _ in both:
        for client, error in (("wire", 17), ("__admin_client", 0)):
            with Wire(port) as wire:
                key = encode_key(OffsetRecord("gone", "edge", 0, None))
                tombstone = bytes(encode_batch([Record(0, 1_700_000_000_000, key, None)]))
                asked = produce("__consumer_offsets", records=tombstone)
                for _ in range(2):
                    wire.send(encode_request(ApiKey.PRODUCE, 8, asked, 1, client))
                    told = wire.answer(ApiKey.PRODUCE, 8).responses[0].partition_responses[0]
                    assert told.error_code == error, client
