"""The same requests to Apache Kafka and to brokerd: the same answers, error for error."""

import struct
import time
from dataclasses import fields, is_dataclass
from typing import Any
from uuid import UUID

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch
from tests.support.protocol_page import rows
from tests.support.waiting import wait_until
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka


LARGE = encode_batch(
    [Record(0, 1_700_000_000_000 + at * 997 % 3_000_017, None, b"v") for at in range(6000)],
    codec=Codec.GZIP,
)


def prepare(port: int) -> None:
    """Topics `plain`, `large` and `compacted` of one partition; `plain` has three records, `large`
    one compressed batch of many whose times rise and fall, all old and kept all the same."""
    with Wire(port) as wire:
        kept = [{"name": "retention.ms", "value": "-1"}]
        topics = [
            {"name": "plain", "num_partitions": 1, "replication_factor": 1, "configs": kept},
            {"name": "large", "num_partitions": 1, "replication_factor": 1, "configs": kept},
            {"name": "compacted", "num_partitions": 1, "replication_factor": 1,
             "configs": [{"name": "cleanup.policy", "value": "compact"}]},
        ]  # fmt: skip
        wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": topics, "timeout": 20_000})
        wire.ask(ApiKey.METADATA, 8, {"topics": [{"name": t["name"]} for t in topics]})
        while wire.ask(ApiKey.FIND_COORDINATOR, 1, {"key_type": 0, "key": "none"}).error_code:
            time.sleep(0.1)
        row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        commit = {"group_id": "listed", "generation_id_or_member_epoch": -1, "member_id": "",
                  "topics": [{"name": "plain", "partitions": [row]}]}  # fmt: skip
        while wire.ask(ApiKey.OFFSET_COMMIT, 8, commit).topics[0].partitions[0].error_code:
            time.sleep(0.1)
        group = {"groups": ["none"], "include_authorized_operations": False}
        while wire.ask(ApiKey.DESCRIBE_GROUPS, 5, group).groups[0].error_code:
            time.sleep(0.1)
        small = [
            ("plain", encode_batch([Record(0, 1_700_000_000_000 + number, b"k", b"v")]))
            for number in range(3)
        ]
        for name, records in (*small, ("large", LARGE)):
            topic = {"name": name, "partition_data": [{"index": 0, "records": bytes(records)}]}
            wire.ask(ApiKey.PRODUCE, 8, {"acks": -1, "timeout": 5000, "topic_data": [topic]})


@pytest.fixture(scope="module")
def ports(kafka_port: int, brokerd_port: int) -> tuple[int, int]:
    for port in (kafka_port, brokerd_port):
        prepare(port)
    return kafka_port, brokerd_port


IGNORED = {
    "error_message", "throttle_time", "cluster_id", "session_id", "topic_id", "brokers", "host",
    "port", "configs",
}  # fmt: skip
"""Words differ, numbers are drawn, settings have a test of their own."""


def plain(value: Any) -> Any:
    """A response as dicts and sorted lists, without what may differ."""
    if is_dataclass(value):
        return {
            each.name: plain(getattr(value, each.name))
            for each in fields(value)
            if each.name not in IGNORED
        }
    return sorted(map(plain, value), key=repr) if isinstance(value, tuple) else value


def deletion(topic: str, offset: int, partition: int = 0) -> dict[str, Any]:
    rows = [{"partition_index": partition, "offset": offset}]
    return {"topics": [{"name": topic, "partitions": rows}], "timeout": 5000}


def election(kind: int, *topics: str, partition: int = 0) -> dict[str, Any]:
    rows = [{"topic": topic, "partitions": [partition]} for topic in topics]
    return {"election_type": kind, "topic_partitions": rows, "timeout": 5000}


def reassignment(topic: str, replicas: list[int] | None, partition: int = 0) -> dict[str, Any]:
    rows = [{"partition_index": partition, "replicas": replicas}]
    return {"topics": [{"name": topic, "partitions": rows}], "timeout": 5000}


def offsets(
    timestamp: int, isolation: int = 0, epoch: int = -1, topic: str = "plain"
) -> dict[str, Any]:
    rows = [{"partition_index": 0, "current_leader_epoch": epoch, "timestamp": timestamp}]
    return {"replica_id": -1, "isolation_level": isolation,
            "topics": [{"name": topic, "partitions": rows}]}  # fmt: skip


def fetch(offset: int, isolation: int = 0, session: tuple[int, int] = (0, -1), **more: Any) -> Any:
    rows = [{"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20,
             "current_leader_epoch": -1, "last_fetched_epoch": -1, **more}]  # fmt: skip
    return {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20,
            "isolation_level": isolation, "session_id": session[0], "session_epoch": session[1],
            "topics": [{"topic": "plain", "partitions": rows}], "forgotten_topics_data": [],
            "rack_id": ""}  # fmt: skip


def quotas(*components: tuple[str, int]) -> dict[str, Any]:
    rows = [{"entity_type": kind, "match_type": match, "match": None} for kind, match in components]
    return {"components": rows, "strict": False}


def credentials(*changes: tuple[Any, ...]) -> dict[str, Any]:
    """Deletions of (user, mechanism)."""
    rows = [{"name": name, "mechanism": mechanism} for name, mechanism in changes]
    return {"deletions": rows, "upsertions": []}


def creation(**topic: Any) -> dict[str, Any]:
    made = {"num_partitions": 1, "replication_factor": 1, **topic}
    return {"topics": [made], "timeout": 5000, "validate_only": True}


FILTER = {"resource_type_filter": 1, "resource_name_filter": None, "principal_filter": None,
          "host_filter": None, "operation": 1, "permission_type": 1}  # fmt: skip
BINDING = {"resource_type": 2, "resource_name": "t", "principal": "User:a", "host": "*",
           "operation": 3, "permission_type": 3}  # fmt: skip

REQUESTS: list[tuple[ApiKey, int, dict[str, Any]]] = [
    *((ApiKey.METADATA, v, {"topics": [{"name": n} for n in ("plain", "nowhere", "bad/name")],
       "allow_auto_topic_creation": False}) for v in (4, 8, 12)),
    *((ApiKey.METADATA, v, {"topics": [{"name": n} for n in ("plain", "nowhere") * 2],
       "allow_auto_topic_creation": False}) for v in (4, 8, 12)),
    *((ApiKey.METADATA, v, {"topics": [{"topic_id": UUID(int=77), "name": name}, {"name": "plain"}],
       "allow_auto_topic_creation": False}) for v, name in ((11, "plain"), (12, ""))),
    *((ApiKey.FETCH, 11, fetch(offset)) for offset in (0, 2, 3, 4, -1)),
    (ApiKey.FETCH, 4, fetch(1)),
    *((ApiKey.FETCH, 12, fetch(offset, isolation=1)) for offset in (0, 3)),
    (ApiKey.FETCH, 12, fetch(0, current_leader_epoch=5)),
    (ApiKey.FETCH, 12, fetch(2, last_fetched_epoch=0)),
    (ApiKey.FETCH, 12, fetch(2, last_fetched_epoch=9)),
    (ApiKey.FETCH, 12, fetch(0, session=(4711, 3))),
    *((ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, {"replica_id": -1, "topics": [{"topic": "plain",
       "partitions": [{"partition": 0, "current_leader_epoch": current, "leader_epoch": epoch}]}]})
      for current, epoch in ((-1, 0), (-1, 1), (0, 0), (3, 0))),
    *((ApiKey.LIST_OFFSETS, 9, offsets(time)) for time in (-1, -2, -3, -4, -5, -6)),
    *((ApiKey.LIST_OFFSETS, 6, offsets(time)) for time in (-1, -2, -3, -4)),
    *((ApiKey.LIST_OFFSETS, 8, offsets(1_700_000_000_000 + n)) for n in (-5, 0, 1, 2, 3)),
    *((ApiKey.LIST_OFFSETS, 8, offsets(time, topic="large")) for time in (
        -3, 1_700_000_000_000, *range(1_700_000_000_001, 1_700_003_000_100, 500_000))),
    (ApiKey.LIST_OFFSETS, 5, offsets(-1, isolation=1)),
    (ApiKey.LIST_OFFSETS, 5, offsets(-1, epoch=7)),
    *((ApiKey.DELETE_RECORDS, 2, deletion("plain", offset)) for offset in (-2, 0, 4)),
    (ApiKey.DELETE_RECORDS, 1, deletion("plain", 0, partition=4)),
    (ApiKey.DELETE_RECORDS, 1, deletion("nowhere", 0)),
    (ApiKey.DELETE_RECORDS, 2, deletion("compacted", 0)),
    (ApiKey.DELETE_RECORDS, 2, deletion("plain", 1)),
    (ApiKey.DELETE_RECORDS, 0, deletion("plain", 0)),
    (ApiKey.DELETE_RECORDS, 2, deletion("large", 4000)),
    *((ApiKey.LIST_OFFSETS, 8, offsets(time, topic="large"))
      for time in (-3, 1_700_000_000_000, 1_700_002_000_000)),
    (ApiKey.LIST_OFFSETS, 8, offsets(-2)),
    (ApiKey.LIST_OFFSETS, 8, offsets(1_700_000_000_000)),
    (ApiKey.FETCH, 11, fetch(0)),
    (ApiKey.DELETE_RECORDS, 2, deletion("plain", -1)),
    (ApiKey.LIST_OFFSETS, 9, offsets(-2)),
    *((ApiKey.ELECT_LEADERS, 2, election(kind, "plain", "nowhere")) for kind in (0, 1)),
    (ApiKey.ELECT_LEADERS, 1, election(0, "plain", partition=5)),
    (ApiKey.ELECT_LEADERS, 2, {"election_type": 0, "topic_partitions": None}),
    *(
        (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, reassignment("plain", replicas))
        for replicas in ([1], None, [], [1, 1], [-1], [77])
    ),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, reassignment("plain", [1], partition=5)),
    (ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {"topics": None}),
    (ApiKey.LIST_PARTITION_REASSIGNMENTS, 0,
     {"topics": [{"name": "plain", "partition_indexes": [0, 9]}]}),
    (ApiKey.DESCRIBE_PRODUCERS, 0, {"topics": [{"name": "plain", "partition_indexes": [0, 9]}]}),
    (ApiKey.DESCRIBE_PRODUCERS, 0, {"topics": [{"name": "bad/name", "partition_indexes": [0]}]}),
    (ApiKey.METADATA, 1, {"topics": ()}),
    (ApiKey.DESCRIBE_CLUSTER, 1, {"endpoint_type": 1,
                                  "include_cluster_authorized_operations": True}),
    *((ApiKey.CREATE_TOPICS, 7, creation(**more)) for more in (
        {"name": "plain"}, {"name": "bad/name"}, {"name": ""}, {"name": "p0", "num_partitions": 0},
        {"name": "rf9", "replication_factor": 9}, {"name": "rf0", "replication_factor": 0},
        {"name": "checked"},
        {"name": "cfg", "configs": [{"name": "no.such", "value": "1"}]},
        {"name": "cfg", "configs": [{"name": "retention.ms", "value": "x"}]},
        {"name": "asg", "num_partitions": -1, "replication_factor": -1,
         "assignments": [{"partition_index": 1, "broker_ids": [1]}]},
        {"name": "asg", "num_partitions": -1, "replication_factor": -1,
         "assignments": [{"partition_index": 0, "broker_ids": [1, 1]}]},
    )),
    *((ApiKey.CREATE_PARTITIONS, 3, {"topics": [{"name": name, "count": count,
       "assignments": assigned}], "timeout": 5000, "validate_only": True})
      for name, count, assigned in (("plain", 1, None), ("plain", 0, None), ("plain", 3, None),
       ("nowhere", 3, None), ("plain", 2, [{"broker_ids": [1]}]),
       ("plain", 2, [{"broker_ids": [9]}]), ("plain", 3, [{"broker_ids": [1]}]))),
    (ApiKey.DELETE_TOPICS, 5, {"topic_names": ["nowhere"], "timeout": 5000}),
    *((ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [{"resource_type": kind,
       "resource_name": name, "configs": [{"name": key, "config_operation": op, "value": value}]}],
       "validate_only": True})
      for kind, name, key, op, value in (
        (2, "plain", "retention.ms", 0, "5"), (2, "plain", "retention.ms", 0, "x"),
        (2, "plain", "retention.ms", 2, "5"),
        (2, "nowhere", "retention.ms", 0, "5"), (2, "plain", "no.such", 0, "5"),
        (2, "plain", "cleanup.policy", 2, "compact"), (99, "plain", "retention.ms", 0, "5"))),
    (ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [{"resource_type": 2, "resource_name": "nowhere",
                                                 "configuration_keys": None}]}),
    (ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [{"resource_type": 4, "resource_name": "17",
                                                 "configuration_keys": None}]}),
    *((ApiKey.FIND_COORDINATOR, v, {"key_type": 0, "key": ""}) for v in (1, 3)),
    *((ApiKey.FIND_COORDINATOR, 6, {"key_type": kind, "coordinator_keys": ["a:b:c"]})
      for kind in (0, 2, 7)),
    *((ApiKey.LIST_GROUPS, 5, {"states_filter": [], "types_filter": kinds})
      for kinds in ([], ["classic"], ["Classic"], ["consumer"], ["nonsense"])),
    (ApiKey.LIST_GROUPS, 5, {"states_filter": ["empty"], "types_filter": ["classic"]}),
    *((ApiKey.DESCRIBE_GROUPS, 5, {"groups": ["none"], "include_authorized_operations": asked})
      for asked in (False, True)),
    (ApiKey.LIST_GROUPS, 4, {"states_filter": []}),
    (ApiKey.OFFSET_FETCH, 7, {"group_id": "none", "require_stable": False,
     "topics": [{"name": "plain", "partition_indexes": [0]}]}),
    (ApiKey.OFFSET_DELETE, 0, {"group_id": "none", "topics": [
        {"name": "plain", "partitions": [{"partition_index": 0}]}]}),
    (ApiKey.OFFSET_DELETE, 0, {"group_id": "", "topics": []}),
    (ApiKey.DELETE_GROUPS, 2, {"groups_names": ["none"]}),
    (ApiKey.INIT_PRODUCER_ID, 5, {"transactional_id": "", "transaction_timeout": 1000,
                                  "producer_id": -1, "producer_epoch": -1}),
    (ApiKey.DESCRIBE_TRANSACTIONS, 0, {"transactional_ids": [""]}),
    (ApiKey.DESCRIBE_CLUSTER, 1, {"endpoint_type": 2,
                                  "include_cluster_authorized_operations": False}),
    (ApiKey.HEARTBEAT, 4, {"group_id": "none", "generation_id": 1, "member_id": "m"}),
    (ApiKey.LEAVE_GROUP, 4, {"group_id": "none", "members": [{"member_id": "m"}]}),
    (ApiKey.SYNC_GROUP, 5, {"group_id": "none", "generation_id": 1, "member_id": "m",
                            "protocol_type": None, "protocol_name": None, "assignments": []}),
    (ApiKey.OFFSET_COMMIT, 8, {"group_id": "none", "generation_id_or_member_epoch": 3,
     "member_id": "m", "topics": [{"name": "plain", "partitions": [
         {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]}]}),
    *((ApiKey.OFFSET_COMMIT, v, {"group_id": "kept", "generation_id_or_member_epoch": -1,
     "member_id": "", "retention_time": time, "topics": [{"name": "plain", "partitions": [
         {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]}]})
      for v in (2, 4) for time in (86_400_000, 2**63 - 1)),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, quotas()),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, quotas(("user", 2))),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, quotas(("user", 2), ("user", 2))),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, quotas(("planet", 2))),
    (ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, quotas(("ip", 2), ("user", 2))),
    (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": None}),
    *((ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": [{"name": each} for each in names]})
      for names in ((), ("ada",))),
    (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, credentials(
        ("ada", 1), ("joe", 1), ("joe", 2))),
    (ApiKey.DESCRIBE_ACLS, 2, FILTER),
    (ApiKey.CREATE_ACLS, 2, {"creations": [BINDING]}),
    (ApiKey.DELETE_ACLS, 2, {"filters": [FILTER]}),
    (ApiKey.SASL_HANDSHAKE, 1, {"mechanism": "PLAIN"}),
    (ApiKey.SASL_AUTHENTICATE, 2, {"auth_bytes": b""}),
    (ApiKey.DESCRIBE_DELEGATION_TOKEN, 2, {"owners": None}),
    (ApiKey.LIST_TRANSACTIONS, 0, {"state_filters": ["Ongoing", "Wobbly"],
                                   "producer_id_filters": []}),
    (ApiKey.ALTER_REPLICA_LOG_DIRS, 2, {"dirs": [
        {"path": "/no/such", "topics": [{"name": "plain", "partitions": [0]}]}]}),
]  # fmt: skip


def test_a_topic_is_described_by_its_id_as_by_apache_kafka(ports: tuple[int, int]) -> None:
    answers = []
    for port in ports:
        with Wire(port) as wire:
            named = wire.ask(ApiKey.METADATA, 12, {"topics": [{"name": "plain"}]})
            ids = [{"topic_id": named.topics[0].topic_id, "name": name} for name in ("", "x", None)]
            asked = {"topics": [*ids, {"name": "compacted"}]}
            answers.append(plain(wire.ask(ApiKey.METADATA, 12, asked)))
    by_kafka, by_brokerd = answers
    assert by_brokerd == by_kafka
    assert [topic["name"] for topic in by_brokerd["topics"]] == ["plain"]


@pytest.mark.parametrize("topic", [{"topic_id": UUID(int=77), "name": ""}, {"name": None}])
def test_ids_that_come_too_early_are_refused_byte_for_byte(
    ports: tuple[int, int], topic: dict[str, Any]
) -> None:
    frames = []
    for port in ports:
        with Wire(port) as wire:
            wire.request(ApiKey.METADATA, 10, {"topics": [topic, {"name": "plain"}]})
            frames.append(wire.frame())
    assert frames[1] == frames[0]


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_brokerd_answers_as_apache_kafka(ports: tuple[int, int], number: int) -> None:
    key, version, asked = REQUESTS[number]
    answers = []
    for port in ports:
        with Wire(port) as wire:
            answers.append(plain(wire.ask(key, version, asked)))
    by_kafka, by_brokerd = answers
    assert by_brokerd == by_kafka, f"{key.name} {version}: {by_brokerd} instead of {by_kafka}"


@pytest.mark.parametrize("version", [1, 3, 6])
def test_the_message_beside_a_coordinator_is_that_of_apache_kafka(
    ports: tuple[int, int], version: int
) -> None:
    key = {"coordinator_keys": ["none"]} if version >= 4 else {"key": "none"}
    messages = []
    for port in ports:
        with Wire(port) as wire:
            answer = wire.ask(ApiKey.FIND_COORDINATOR, version, {"key_type": 0, **key})
            messages.append((answer.coordinators[0] if version >= 4 else answer).error_message)
    assert messages[1] == messages[0]


OLD_LIST_OFFSETS = [
    (name, partition, timestamp, most)
    for name, partition, timestamps in (
        ("rolled", 0, (-1, -2, -3, 0, 4_000_000_000_000)), ("rolled", 1, (-1, -2)),
        ("rolled", 9, (-1,)), ("nowhere", 0, (-1,)),
    )
    for timestamp in timestamps
    for most in (100, 2, 1, 0)
]  # fmt: skip


def old_list_offsets(wire: Wire, name: str, partition: int, timestamp: int, most: int) -> bytes:
    """The answer in version 0, which no client library writes any more."""
    head = struct.pack(">hhih", ApiKey.LIST_OFFSETS, 0, 5, -1)
    body = struct.pack(">iih", -1, 1, len(name)) + name.encode()
    body += struct.pack(">iiqi", 1, partition, timestamp, most)
    wire.send(struct.pack(">i", len(head) + len(body)) + head + body)
    return wire.frame()


def test_offsets_of_segments_are_those_of_apache_kafka(ports: tuple[int, int]) -> None:
    """`rolled` has a record in each of five segments, and an empty partition."""
    answers = []
    for port in ports:
        with Wire(port) as wire:
            small = [{"name": "segment.bytes", "value": "150"}]
            new = {"name": "rolled", "num_partitions": 2, "replication_factor": 1, "configs": small}
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [new], "timeout": 20_000})
            wait_until(lambda wire=wire: leader_epoch(wire, "rolled") >= 0)
            for number in range(5):
                batch = encode_batch([Record(0, 1_700_000_000_000 + number, b"k", b"v" * 50)])
                topic = {"name": "rolled",
                         "partition_data": [{"index": 0, "records": bytes(batch)}]}  # fmt: skip
                wire.ask(ApiKey.PRODUCE, 8, {"acks": -1, "timeout": 5000, "topic_data": [topic]})
            answers.append([old_list_offsets(wire, *asked) for asked in OLD_LIST_OFFSETS])
    assert answers[1] == answers[0]
    assert struct.unpack(">5q", answers[0][0][-40:]) == (4, 3, 2, 1, 0)


def leader_epoch(wire: Wire, topic: str) -> int:
    (told,) = wire.ask(ApiKey.METADATA, 8, {"topics": [{"name": topic}]}).topics
    return int(told.partitions[0].leader_epoch)


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        (ApiKey.CREATE_DELEGATION_TOKEN, {"renewers": [], "max_lifetime": -1}),
        (ApiKey.RENEW_DELEGATION_TOKEN, {"hmac": b"x", "renew_period": 1}),
        (ApiKey.EXPIRE_DELEGATION_TOKEN, {"hmac": b"x", "expiry_time_period": 1}),
    ],
)
def test_tokens_are_refused_byte_for_byte(
    ports: tuple[int, int], key: ApiKey, asked: dict[str, Any]
) -> None:
    frames = []
    for port in ports:
        with Wire(port) as wire:
            wire.request(key, 1, asked)
            frames.append(wire.frame())
    assert frames[1] == frames[0]


def test_the_page_on_the_protocol_says_what_apache_kafka_offers(kafka_port: int) -> None:
    with Wire(kafka_port) as wire:
        keys = wire.ask(ApiKey.API_VERSIONS, 0, {}).api_keys
    offered = {each.api_key: (each.min_version, each.max_version) for each in keys}
    assert {row.key: row.kafka for row in rows()} == offered


def test_no_version_is_offered_that_apache_kafka_has_not() -> None:
    for row in rows():
        if row.brokerd is not None:
            assert row.kafka[0] <= row.brokerd[0] <= row.brokerd[1] <= row.kafka[1], row.name
