"""A cluster in memory behind the gateway's whole interface, for tests that need no broker.

It answers as a cluster of Kafka without brokerd's admin ports does, at once.
tests/monitoring/gateway/test_contract.py holds it to what the real one does.

    fake_cluster.create_topic("orders", 2)          # behind everybody's back
    fake_cluster.fails["delete_topic"] = Refused("…")   # until it is taken out again
"""

import dataclasses
import itertools
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary
from zlib import crc32

import pytest

from brokerd.protocol.records import BatchHeader
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    OffsetOutOfRange,
    Refused,
    Unsupported,
)
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.group_admin import GroupDescription
from monitoring.gateway.log_bounds import LogBounds
from monitoring.gateway.producing import CopyOutcome, CopyRequest, NewRecord, WriteOutcome
from monitoring.gateway.reassignment_requests import ReplicaSizes
from monitoring.gateway.record_pages import LIMIT_MAX, NO_LEADER, RecordPage, UnreadPartition
from monitoring.gateway.record_row import RecordRow, by_offset, by_time
from monitoring.gateway.topic_description import PartitionDescription, TopicDescription
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire.metadata import Broker, Metadata, _assemble, _Topic
from monitoring.gateway.wire.quotas import Entity, Quota
from monitoring.gateway.wire.reassignments import Reassignment
from monitoring.gateway.wire.response_limits import InvalidParts
from monitoring.topic_names import is_topic_name

DEFAULT_CONFIGS = {
    "cleanup.policy": "delete",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
}
_CLUSTERS: WeakValueDictionary[str, "FakeCluster"] = WeakValueDictionary()  # by id
PARTS = (
    "broker_configs", "broker_metrics", "brokerd_admin", "kafka_client_settings", "groups",
    "log_directories", "log_offsets", "producing", "quotas", "reassignments", "record_pages",
    "topics", "wire",
)  # fmt: skip


@dataclasses.dataclass
class FakeTopic:
    """`replicas` and `records` by partition; the first replica that is up leads."""

    topic_id: str
    replicas: list[tuple[int, ...]]
    configs: dict[str, str]
    records: list[list[RecordRow]]
    starts: dict[int, int] = dataclasses.field(default_factory=dict)  # by partition, if not 0


class FakeCluster:
    """The state that all fake gateways to it share.

    Attributes:
        fails: the name of a call → the error that it raises instead of answering.
        calls: the names of the calls that were made, in their order.
        refused_values: the value of a record that is not written → the outcome of its write.
    """

    def __init__(self, broker_ids: tuple[int, ...] = (1, 2)) -> None:
        self.id = f"fake-{uuid.uuid4().hex[:12]}"
        self.broker_ids = broker_ids
        self.down: set[int] = set()  # brokers; with all of them down nobody answers
        self.topics: dict[str, FakeTopic] = {}
        self.commits: dict[str, dict[TopicPartition, int]] = {}  # by group
        self.members: dict[str, int] = {}  # by group
        # Broker (None = all) → its dynamic settings.
        self.broker_configs: dict[int | None, dict[str, str]] = {}
        # Partition → the replicas it is being reassigned to, and whether they stay in progress.
        self.reassigning: dict[TopicPartition, tuple[int, ...]] = {}
        self.is_slow = False
        self.leaders: dict[TopicPartition, int] = {}  # where not the preferred replica leads
        self.log_levels = {"root": "INFO", "kafka.server.KafkaServer": "INFO"}
        self.quotas: dict[Entity, dict[str, float]] = {}
        self.fails: dict[str, GatewayError] = {}
        self.calls: list[str] = []
        self.refused_values: dict[bytes | None, WriteOutcome] = {}
        self._next_broker = itertools.cycle(broker_ids)

    @property
    def up(self) -> list[int]:
        return [id for id in self.broker_ids if id not in self.down]

    def asked(self, call: str) -> None:
        """Notes the call. Raises what it is to fail with."""
        self.calls.append(call)
        if call in self.fails:
            raise self.fails[call]
        if not self.up:
            raise ClusterUnavailable("no broker answered within 5 seconds")

    def topic(self, name: str) -> FakeTopic:
        if name not in self.topics:
            raise NotFound("Broker: Unknown topic or partition")
        return self.topics[name]

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        self.topics[name] = topic = FakeTopic(str(uuid.uuid4()), [], dict(configs or {}), [])
        self.add_partitions(topic, partitions, replication_factor)

    def add_partitions(self, topic: FakeTopic, total: int, replication_factor: int) -> None:
        while len(topic.replicas) < total:
            first = self.broker_ids.index(next(self._next_broker))
            ring = self.broker_ids[first:] + self.broker_ids[:first]
            topic.replicas.append(ring[:replication_factor])
            topic.records.append([])

    def produce(self, name: str, partition: int, *values: bytes, key: bytes | None = None) -> None:
        log = self.topic(name).records[partition]
        for value in values:
            log.append(RecordRow(partition, len(log), 1_700_000_000_000 + len(log), key, value, ()))

    def leader(self, replicas: tuple[int, ...]) -> int:
        return next((id for id in replicas if id not in self.down), -1)

    def in_sync(self, replicas: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(id for id in replicas if id in self.up)

    def commits_to_change(self, group: str, create: bool = False) -> dict[TopicPartition, int]:
        """The commits of a group without members."""
        if self.members.get(group):
            raise Refused(Reason("group_has_members"))
        if create:
            self.commits.setdefault(group, {})
        if group not in self.commits:
            raise NotFound("Broker: The group id does not exist")
        return self.commits[group]

    def gateway(self) -> "FakeGateway":
        return FakeGateway(self)


class FakeGateway:
    """As monitoring.gateway.gateway.Gateway."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.kafka_client_settings = ClientSettings(((cluster.id, 9092),))
        _CLUSTERS[cluster.id] = cluster
        self.wire = FakeWire(cluster)
        self.topics = FakeTopicAdmin(cluster)
        self.groups = FakeGroupAdmin(cluster)
        self.log_offsets = FakeLogOffsets(cluster)
        self.broker_configs = FakeBrokerConfigs(cluster)
        self.record_pages = FakeRecordPages(cluster)
        self.quotas = FakeQuotas(cluster)
        self.reassignments = FakeReassignments(cluster)
        self.producing = FakeProducing(cluster)
        self.brokerd_admin = FakeBrokerdAdmin(cluster)
        self.log_directories = FakeLogDirectories(cluster)
        self.broker_metrics = FakeBrokerMetrics(cluster)

    def close(self) -> None:
        pass

    def __enter__(self) -> "FakeGateway":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()


class FakeWire:
    """As monitoring.gateway.wire.sync_client.Wire."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def metadata(self) -> Metadata:
        self._cluster.asked("metadata")
        brokers = tuple(Broker(id, f"fake-{id}", 9092, None) for id in self._cluster.up)
        rows = {
            name: _Topic(
                topic.topic_id,
                [
                    (
                        self._cluster.leaders.get((name, number), self._cluster.leader(ids)),
                        ids,
                        self._cluster.in_sync(ids),
                    )
                    for number, ids in enumerate(topic.replicas)
                ],
            )
            for name, topic in self._cluster.topics.items()
        }
        first = min(self._cluster.up)
        return _assemble(self._cluster.id, first, brokers, rows, InvalidParts())

    def cluster_id(self) -> str:
        self._cluster.asked("cluster_id")
        return self._cluster.id

    def has_topic(self, name: str) -> bool:
        self._cluster.asked("has_topic")
        return name in self._cluster.topics

    def offset_ranges(self, topic: str, timeout_s: float) -> dict[int, range]:
        self._cluster.asked("offset_ranges")
        found = self._cluster.topics.get(topic)
        if found is None:
            return {}
        return {
            number: range(len(log))
            for number, log in enumerate(found.records)
            if self._cluster.leader(found.replicas[number]) >= 0
        }

    def batch_header(self, topic: str, partition: int, offset: int) -> BatchHeader | None:
        """Of a batch of one record, as a producer without idempotence writes it."""
        self._cluster.asked("batch_header")
        found = [
            row for row in self._cluster.topic(topic).records[partition] if row.offset == offset
        ]
        if not found:
            return None
        at_ms, length = found[0].timestamp_ms or 0, 50 + found[0].size_bytes
        return BatchHeader(offset, length, 0, 2, 0, 0, 0, at_ms, at_ms, -1, -1, -1, 1)

    def batch_headers(
        self, topic: str, partition: int, offset: int, max_bytes: int
    ) -> list[BatchHeader]:
        """Each of one record."""
        rows = self._cluster.topic(topic).records[partition]
        found = [self.batch_header(topic, partition, row.offset) for row in rows]
        return [header for header in found if header and header.base_offset >= offset]

    def delete_offsets(
        self, group: str, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, str]:
        self._cluster.asked("delete_offsets")
        commits = self._cluster.commits_to_change(group)
        for key in partitions:
            commits.pop(key, None)
        return {}


class FakeBrokerConfigs:
    """As monitoring.gateway.broker_configs.BrokerConfigs, with one dynamic setting."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def describe(self, broker_id: int | None) -> list[ConfigValue]:
        self._cluster.asked("describe_broker_configs")
        levels: list[tuple[int | None, str]] = [(None, "DYNAMIC_DEFAULT_BROKER_CONFIG")]
        found = []
        if broker_id is not None:
            levels.append((broker_id, "DYNAMIC_BROKER_CONFIG"))
            found = [_broker_id(broker_id), _MESSAGE_BYTES]
        for level, source in levels:
            for name, value in self._cluster.broker_configs.get(level, {}).items():
                found = [entry for entry in found if entry.name != name]
                default = _MESSAGE_BYTES.value
                found.append(ConfigValue(name, value, source, False, False, default=default))
        return sorted(found, key=lambda entry: entry.name)

    def alter(
        self,
        broker_id: int | None,
        configs: Mapping[str, str | None],
        *,
        validate_only: bool = False,
    ) -> None:
        self._cluster.asked("alter_broker_configs")
        for name in configs:
            if name != _MESSAGE_BYTES.name:
                raise Refused(f"Cannot update these configs dynamically: {name}")
        own = self._cluster.broker_configs.setdefault(broker_id, {})
        for name, value in configs.items() if not validate_only else ():
            if value is None:
                own.pop(name, None)
            else:
                own[name] = value

    def describe_loggers(self, broker_id: int) -> list[ConfigValue]:
        self._cluster.asked("describe_loggers")
        source = "DYNAMIC_BROKER_LOGGER_CONFIG"
        levels = sorted(self._cluster.log_levels.items())
        return [ConfigValue(name, level, source, False, False) for name, level in levels]

    def alter_loggers(
        self, broker_id: int, levels: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        self._cluster.asked("alter_loggers")
        if not validate_only:
            self._cluster.log_levels |= levels


_MESSAGE_BYTES = ConfigValue(
    "message.max.bytes", "1048588", "DEFAULT_CONFIG", True, False, default="1048588"
)


def _broker_id(broker_id: int) -> ConfigValue:
    return ConfigValue(
        "broker.id", str(broker_id), "STATIC_BROKER_CONFIG", False, False, is_read_only=True
    )


class FakeQuotas:
    """As monitoring.gateway.quota_requests.Quotas."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def describe(self) -> list[Quota]:
        self._cluster.asked("describe_quotas")
        return [Quota(entity, dict(values)) for entity, values in self._cluster.quotas.items()]

    def alter(
        self, entity: Entity, values: Mapping[str, float | None], *, validate_only: bool = False
    ) -> None:
        self._cluster.asked("alter_quotas")
        if validate_only:
            return
        now: dict[str, float | None] = {**self._cluster.quotas.pop(entity, {}), **values}
        if kept := {key: value for key, value in now.items() if value is not None}:
            self._cluster.quotas[entity] = kept


class FakeReassignments:
    """As monitoring.gateway.reassignment_requests.Reassignments; each replica has 1000 bytes."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def check_supported(self) -> None:
        self._cluster.asked("check_reassignments")

    def in_progress(self) -> list[Reassignment]:
        self._cluster.asked("list_reassignments")
        found = []
        for (topic, number), target in self._cluster.reassigning.items():
            now = self._cluster.topic(topic).replicas[number]
            adding = tuple(id for id in target if id not in now)
            removing = tuple(id for id in now if id not in target)
            found.append(Reassignment(topic, number, target + removing, adding, removing))
        return found

    def alter(
        self, targets: Mapping[TopicPartition, Sequence[int] | None]
    ) -> dict[TopicPartition, str]:
        self._cluster.asked("alter_reassignments")
        for key, replicas in targets.items():
            if replicas is None:
                self._cluster.reassigning.pop(key, None)
            elif self._cluster.is_slow:
                self._cluster.reassigning[key] = tuple(replicas)
            else:
                self._cluster.topic(key[0]).replicas[key[1]] = tuple(replicas)
        return {}

    def elect_leaders(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, str]:
        self._cluster.asked("elect_leaders")
        for key in partitions:
            self._cluster.leaders.pop(key, None)
        return {}

    def sizes(self, partitions: Sequence[TopicPartition]) -> ReplicaSizes:
        self._cluster.asked("sizes")
        return ReplicaSizes(
            {
                (topic, number): dict.fromkeys(self._cluster.topic(topic).replicas[number], 1000)
                for topic, number in partitions
            },
            dict.fromkeys(self._cluster.up, 10**9),
        )


class FakeGroupAdmin:
    """As monitoring.gateway.group_admin.GroupAdmin."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def describe(self, group: str) -> GroupDescription:
        self._cluster.asked("describe_group")
        members = self._cluster.members.get(group, 0)
        if members:
            return GroupDescription("STABLE", members)
        return GroupDescription("EMPTY" if group in self._cluster.commits else "DEAD", 0)

    def committed(self, group: str) -> dict[TopicPartition, int]:
        self._cluster.asked("committed")
        return dict(self._cluster.commits.get(group, {}))

    def alter_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, str]:
        self._cluster.asked("alter_offsets")
        self._cluster.commits_to_change(group, create=True).update(offsets)
        return {}

    def delete_offsets(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, str]:
        return FakeWire(self._cluster).delete_offsets(group, list(partitions))

    def delete(self, group: str) -> None:
        self._cluster.asked("delete_group")
        self._cluster.commits_to_change(group)
        del self._cluster.commits[group]


class FakeLogOffsets:
    """As monitoring.gateway.log_offsets.LogOffsets; all records were written at one time."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def ranges(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, range]:
        self._cluster.asked("log_ranges")
        return {
            (topic, number): range(
                self._cluster.topics[topic].starts.get(number, 0),
                len(self._cluster.topics[topic].records[number]),
            )
            for topic, number in partitions
        }

    def bounds(self, partition: TopicPartition) -> LogBounds | None:
        self._cluster.asked("log_bounds")
        topic, number = partition
        end = len(self._cluster.topics[topic].records[number])
        return LogBounds(self._cluster.topics[topic].starts.get(number, 0), end, end)

    def at_time(
        self, partitions: Iterable[TopicPartition], at_ms: int
    ) -> dict[TopicPartition, int | None]:
        self._cluster.asked("log_offsets_at_time")
        return {
            key: next((row.offset for row in self._records(key) if row.timestamp_ms >= at_ms), None)
            for key in partitions
        }

    def _records(self, key: TopicPartition) -> list[RecordRow]:
        return self._cluster.topics[key[0]].records[key[1]]


class FakeTopicAdmin:
    """As monitoring.gateway.topic_admin.TopicAdmin."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def create_topic(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        configs: Mapping[str, str] | None = None,
        *,
        validate_only: bool = False,
    ) -> None:
        self._cluster.asked("create_topic")
        if not is_topic_name(name):
            raise Refused(f"the topic name {name!r} is not valid")
        if name in self._cluster.topics:
            raise Refused(f"Topic '{name}' already exists.")
        if not 0 < replication_factor <= len(self._cluster.up) or partitions < 1:
            raise Refused(f"{replication_factor} copies cannot lie on {len(self._cluster.up)}")
        _check_names(configs or {})
        if not validate_only:
            self._cluster.create_topic(name, partitions, replication_factor, configs)

    def create_partitions(self, name: str, total: int) -> None:
        self._cluster.asked("create_partitions")
        topic = self._cluster.topic(name)
        if total <= len(topic.replicas):
            raise Refused(f"Topic already has {len(topic.replicas)} partitions.")
        self._cluster.add_partitions(topic, total, len(topic.replicas[0]))

    def delete_topic(self, name: str) -> None:
        self._cluster.asked("delete_topic")
        self._cluster.topic(name)
        del self._cluster.topics[name]

    def delete_records(self, topic: str, offsets: Mapping[int, int]) -> dict[int, str]:
        self._cluster.asked("delete_records")
        found = self._cluster.topic(topic)
        beyond = {n: "" for n, offset in offsets.items() if offset > len(found.records[n])}
        if len(beyond) == len(offsets):
            raise OffsetOutOfRange("Broker: Offset out of range")
        for number in offsets.keys() - beyond.keys():
            found.starts[number] = max(offsets[number], found.starts.get(number, 0))
        return dict.fromkeys(beyond, "Broker: Offset out of range")

    def describe_topic(self, name: str) -> TopicDescription:
        self._cluster.asked("describe_topic")
        topic = self._cluster.topic(name)
        up = set(self._cluster.up)
        places = [
            PartitionDescription(
                number, self._cluster.leader(ids), ids, tuple(id for id in ids if id in up)
            )
            for number, ids in enumerate(topic.replicas)
        ]
        return TopicDescription(name, tuple(places), topic.topic_id)

    def describe_configs(self, topic: str, names: Sequence[str] | None = None) -> list[ConfigValue]:
        self._cluster.asked("describe_configs")
        own = self._cluster.topic(topic).configs
        return [
            ConfigValue(
                key,
                own.get(key, value),
                "DYNAMIC_TOPIC_CONFIG" if key in own else "DEFAULT_CONFIG",
                key not in own,
                False,
            )
            for key, value in sorted(DEFAULT_CONFIGS.items())
            if names is None or key in names
        ]

    def alter_configs(
        self, topic: str, configs: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        self._cluster.asked("alter_configs")
        own = self._cluster.topic(topic).configs
        _check_names(configs)
        if validate_only:
            return
        for key, value in configs.items():
            if value is None:
                own.pop(key, None)
            else:
                own[key] = value

    def cluster_operations(self) -> frozenset[str] | None:
        self._cluster.asked("cluster_operations")
        return None


def _check_names(configs: Iterable[str]) -> None:
    for key in configs:
        if key not in DEFAULT_CONFIGS:
            raise Refused(f"Unknown topic config name: {key}")


class FakeRecordPages:
    """As monitoring.gateway.record_pages.RecordPages, without a bound in bytes."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def read(
        self,
        topic: str,
        partition: int | None,
        offset: int | None,
        limit: int,
        max_bytes: int = 8 * 1024 * 1024,
        *,
        before_offset: int | None = None,
    ) -> RecordPage:
        self._cluster.asked("read")
        found = self._cluster.topic(topic)
        if partition is None and (offset is not None or before_offset is not None):
            raise NotFound("an offset needs a partition")
        if partition is not None and partition >= len(found.replicas):
            raise NotFound(f"topic {topic} has no partition {partition}")
        limit = max(1, min(limit, LIMIT_MAX))
        asked = range(len(found.replicas)) if partition is None else [partition]
        led = [n for n in asked if self._cluster.leader(found.replicas[n]) >= 0]
        unread = tuple(UnreadPartition(n, NO_LEADER) for n in asked if n not in led)
        if not led:
            return RecordPage((), unread)
        if len(asked) > 1:
            rows = sorted((row for n in led for row in found.records[n]), key=by_time)
            return RecordPage(tuple(rows[:limit]), unread)
        log = found.records[led[0]]
        if offset is not None:
            return _upwards(topic, led[0], log, offset, limit)
        return _downwards(led[0], log, before_offset, limit)


def _upwards(topic: str, partition: int, log: list[RecordRow], at: int, limit: int) -> RecordPage:
    if not 0 <= at <= len(log):
        holds = f"holds offsets 0 to {len(log) - 1}" if log else "is empty"
        raise OffsetOutOfRange(f"partition {partition} of {topic} {holds}")
    rows = log[at : at + limit]
    newer = at + len(rows) if rows and at + len(rows) < len(log) else None
    return RecordPage(tuple(rows), (), partition, at or None, newer)


def _downwards(
    partition: int, log: list[RecordRow], before_offset: int | None, limit: int
) -> RecordPage:
    end = len(log) if before_offset is None else min(before_offset, len(log))
    rows = sorted(log[max(0, end - limit) : end], key=by_offset)
    older = rows[-1].offset if rows and rows[-1].offset else None
    newer = None if before_offset is None or end >= len(log) else end
    return RecordPage(tuple(rows), (), partition, older, newer)


class FakeProducing:
    """As monitoring.gateway.producing.Producing."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def write(
        self, topic: str, records: Sequence[NewRecord], compression: str = "none"
    ) -> list[WriteOutcome]:
        self._cluster.asked("write")
        return [self._write(topic, record) for record in records]

    def copy(self, request: CopyRequest, source: ClientSettings | None = None) -> CopyOutcome:
        self._cluster.asked("copy")
        read = _CLUSTERS[source.addresses[0][0]] if source else self._cluster
        log = read.topic(request.source).records[request.partition]
        rows = log[request.first : request.end][: request.records_max]
        partition = request.partition if request.keeps_partition else None
        written: list[WriteOutcome] = []
        for row in rows:
            record = NewRecord(row.key, row.value, row.headers, partition, row.timestamp_ms)
            outcome = self._write(request.target, record)
            if outcome.offset is None:
                unknown = int(outcome.is_unknown)
                return CopyOutcome(row.offset, tuple(written), 0, unknown, outcome.error)
            written.append(outcome)
        return CopyOutcome(request.first + len(rows), tuple(written))

    def _write(self, topic: str, record: NewRecord) -> WriteOutcome:
        logs = self._cluster.topic(topic).records
        partition = record.partition
        if partition is None:
            partition = crc32(record.key or b"") % len(logs)
        if partition >= len(logs):
            return WriteOutcome(partition, error=f"{topic} has no partition {partition}")
        if record.value in self._cluster.refused_values:
            return self._cluster.refused_values[record.value]
        log = logs[partition]
        at_ms = record.timestamp_ms or 1_700_000_000_000 + len(log)
        row = RecordRow(partition, len(log), at_ms, record.key, record.value, record.headers)
        log.append(row)
        return WriteOutcome(partition, row.offset)


class FakeBrokerdAdmin:
    """As monitoring.gateway.brokerd_admin.BrokerdAdmin of a cluster that has no admin ports."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def has(self, broker_id: int) -> bool:
        return False

    def segments(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        *,
        with_samples: bool = False,
        offset: int | None = None,
        at_ms: int | None = None,
    ) -> dict[str, Any]:
        return self._get("segments", broker_id)

    def index(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        kind: str,
        start: int,
        limit: int,
    ) -> dict[str, Any]:
        return self._get("index", broker_id)

    def batches(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        position: int,
        limit: int,
    ) -> dict[str, Any]:
        return self._get("batches", broker_id)

    def broker(self, broker_id: int) -> dict[str, Any]:
        return self._get("broker", broker_id)

    def events(self, broker_id: int, after: int, limit: int) -> dict[str, Any]:
        return self._get("events", broker_id)

    def close(self) -> None:
        pass

    def _get(self, call: str, broker_id: int) -> dict[str, Any]:
        self._cluster.asked(call)
        raise Unsupported(f"broker {broker_id} has no admin address in this cluster's settings")


class FakeLogDirectories:
    """As monitoring.gateway.log_directory.log_directories.LogDirectories where none is set."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def has(self, broker_id: int) -> bool:
        return False

    def segments(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        *,
        with_samples: bool = False,
        offset: int | None = None,
        at_ms: int | None = None,
    ) -> dict[str, Any]:
        return self._refuse(broker_id)

    def index(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        kind: str,
        start: int,
        limit: int,
    ) -> dict[str, Any]:
        return self._refuse(broker_id)

    def batches(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        position: int,
        limit: int,
    ) -> dict[str, Any]:
        return self._refuse(broker_id)

    def _refuse(self, broker_id: int) -> dict[str, Any]:
        raise Unsupported(Reason("log_dir_none", id=broker_id))


class FakeBrokerMetrics:
    """As monitoring.gateway.broker_metrics.BrokerMetrics of a cluster without such addresses."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def text(self, broker_id: int) -> str:
        self._cluster.asked("metrics")
        raise Unsupported(Reason("no_metrics_address", id=broker_id))


def stand_in(monkeypatch: pytest.MonkeyPatch, cluster: FakeCluster, **others: FakeCluster) -> None:
    """Lets every gateway of this process lead to `cluster`, whoever makes it; those to the clusters
    with the slugs of `others` lead to these."""
    fake, by_slug = cluster.gateway(), {slug: each.gateway() for slug, each in others.items()}

    def find(gateway: Gateway, part: str) -> Any:
        return getattr(by_slug.get(getattr(gateway._cluster, "slug", ""), fake), part)

    for part in PARTS:
        monkeypatch.setattr(Gateway, part, property(partial(find, part=part)))


@pytest.fixture
def fake_cluster() -> Iterator[FakeCluster]:
    """A cluster in memory, to which all gateways lead."""
    cluster = FakeCluster()
    with pytest.MonkeyPatch.context() as monkeypatch:  # not the test's, which it may undo
        stand_in(monkeypatch, cluster)
        yield cluster
