"""What clients can see of a cluster, in a form that two brokers' answers can be compared in."""

import time
from collections.abc import Iterable
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    ConfigSource,
    OffsetSpec,
    ResourceType,
)

from brokerd.protocol.api_keys import ApiKey
from tests.support.wire import Wire

TIMEOUT_S = 60

_ELECTED = (KafkaError.FENCED_LEADER_EPOCH, KafkaError.NOT_LEADER_FOR_PARTITION)

Place = tuple[str, int]
Row = tuple[int, tuple[int, int], bytes | None, bytes | None, tuple[tuple[str, bytes], ...]]
"""A record: offset, (type, ms) of its timestamp, key, value, headers."""


def records(bootstrap: str, places: Iterable[Place], isolation: str) -> dict[Place, list[Row]]:
    """Every record that a consumer reads from the start until the end that it is told of."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "unused", "isolation.level": isolation,
        "enable.partition.eof": True, "enable.auto.commit": False, "log_level": 0,
        "auto.offset.reset": "error",
    })  # fmt: skip
    found: dict[Place, list[Row]] = {place: [] for place in places}
    starts = ends(bootstrap, found, OffsetSpec.earliest())
    try:
        consumer.assign([TopicPartition(*place, starts[place]) for place in found])
        left = set(found)
        while left:
            message = consumer.poll(TIMEOUT_S)
            assert message is not None, f"the ends of {left} were not reached"
            place = message.topic(), message.partition()
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                left.discard(place)
                continue
            headers = tuple(message.headers() or ())
            found[place].append(
                (message.offset(), message.timestamp(), message.key(), message.value(), headers)
            )
    finally:
        consumer.close()
    return found


def ends(
    bootstrap: str,
    places: Iterable[Place],
    spec: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[Place, int]:
    """The offset that is told of each partition for `spec`."""
    asked = {TopicPartition(*place): spec for place in places}
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        # A new one each time: it does not ask again who leads, where leaders were elected since.
        admin = AdminClient({"bootstrap.servers": bootstrap})
        told = admin.list_offsets(asked, isolation_level=isolation)
        try:
            return {(p.topic, p.partition): each.result().offset for p, each in told.items()}
        except KafkaException as error:
            if error.args[0].code() not in _ELECTED or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def topics(bootstrap: str) -> dict[str, tuple[str, int, dict[str, str]]]:
    """By name: id, number of partitions, settings of its own."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    names = [name for name in admin.list_topics(timeout=TIMEOUT_S).topics if name[:2] != "__"]
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    configs = {
        resource.name: {
            entry.name: entry.value
            for entry in told.result(TIMEOUT_S).values()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        for resource, told in admin.describe_configs(asked).items()
    }
    described = admin.describe_topics(TopicCollection(names))
    found = {name: told.result(TIMEOUT_S) for name, told in described.items()}
    return {
        name: (str(each.topic_id), len(each.partitions), configs[name])
        for name, each in found.items()
    }


def committed(bootstrap: str) -> dict[str, list[tuple[str, int, int, str | None]]]:
    """By group: topic, partition, offset and metadata of all that it has committed."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    groups = admin.list_consumer_groups().result(TIMEOUT_S).valid
    found = {}
    for group in sorted(each.group_id for each in groups):
        asked = [ConsumerGroupTopicPartitions(group)]
        told = admin.list_consumer_group_offsets(asked)[group].result(TIMEOUT_S)
        found[group] = sorted(
            (each.topic, each.partition, each.offset, each.metadata)
            for each in told.topic_partitions
        )
    return found


def unstable(bootstrap: str, group: str, place: Place) -> list[tuple[int, int]]:
    """Offset and error of who wants what no transaction can change any more, and of others."""
    found = []
    with Wire(int(bootstrap.split(":")[1])) as wire:
        for is_wanted in (True, False):
            topics = [{"name": place[0], "partition_indexes": [place[1]]}]
            fields = {"group_id": group, "topics": topics, "require_stable": is_wanted}
            (row,) = wire.ask(ApiKey.OFFSET_FETCH, 7, fields).topics[0].partitions
            found.append((row.committed_offset, row.error_code))
    return found


def producers(bootstrap: str, places: Iterable[Place]) -> dict[Place, list[tuple[int, ...]]]:
    """Producer id, epoch, sequence, time, coordinator epoch, start of its transaction."""
    found = {}
    with Wire(int(bootstrap.split(":")[1])) as wire:
        for topic, index in places:
            fields = {"topics": [{"name": topic, "partition_indexes": [index]}]}
            (row,) = wire.ask(ApiKey.DESCRIBE_PRODUCERS, 0, fields).topics[0].partitions
            found[topic, index] = sorted(
                (p.producer_id, p.producer_epoch, p.last_sequence, p.last_timestamp,
                 p.coordinator_epoch, p.current_txn_start_offset)
                for p in row.active_producers
            )  # fmt: skip
    return found


def epoch_ends(bootstrap: str, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
    """Where the first leader epoch of each partition ended."""
    found = {}
    with Wire(int(bootstrap.split(":")[1])) as wire:
        for topic, index in places:
            row = {"partition": index, "current_leader_epoch": -1, "leader_epoch": 0}
            fields = {"replica_id": -1, "topics": [{"topic": topic, "partitions": [row]}]}
            (told,) = wire.ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, fields).topics[0].partitions
            found[topic, index] = (told.leader_epoch, told.end_offset)
    return found


def aborted(bootstrap: str, place: Place) -> dict[int, list[tuple[int, int]]]:
    """By offset: producer id and first offset of what a read_committed Fetch leaves out there."""
    start, end = (
        ends(bootstrap, [place], spec, IsolationLevel.READ_COMMITTED)[place]
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    found = {}
    with Wire(int(bootstrap.split(":")[1])) as wire:
        for offset in range(start, end):
            (told,) = wire.ask(ApiKey.FETCH, 11, _fetch(place, offset)).responses[0].partitions
            listed = told.aborted_transactions or ()
            found[offset] = sorted((each.producer_id, each.first_offset) for each in listed)
    return found


def _fetch(place: Place, offset: int) -> dict[str, Any]:
    row = {"partition": place[1], "fetch_offset": offset, "partition_max_bytes": 1 << 20,
           "current_leader_epoch": -1, "last_fetched_epoch": -1}  # fmt: skip
    return {
        "replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20,
        "isolation_level": 1, "session_id": 0, "session_epoch": -1, "rack_id": "",
        "topics": [{"topic": place[0], "partitions": [row]}], "forgotten_topics_data": [],
    }  # fmt: skip
