"""What the gateway does to a real cluster and to the fake one alike: tests may use the fake.

The names and signatures are compared besides: a call that the gateway gains must be the fake's too.
"""

import dataclasses
import inspect
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from monitoring.gateway.broker_configs import BrokerConfigs
from monitoring.gateway.broker_metrics import BrokerMetrics
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.errors import NotFound, OffsetOutOfRange, Refused, Unsupported
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.group_admin import GroupAdmin
from monitoring.gateway.log_directory.log_directories import LogDirectories
from monitoring.gateway.log_offsets import LogOffsets
from monitoring.gateway.producing import CopyRequest, NewRecord, Producing
from monitoring.gateway.quota_requests import Quotas
from monitoring.gateway.reassignment_requests import Reassignments
from monitoring.gateway.record_pages import RecordPages
from monitoring.gateway.topic_admin import TopicAdmin
from monitoring.gateway.wire.sync_client import SyncClient
from tests.support import fake_gateway as fake
from tests.support.waiting import wait_until

PAIRS = [
    (Gateway, fake.FakeGateway),
    (SyncClient, fake.FakeWire),
    (TopicAdmin, fake.FakeTopicAdmin),
    (GroupAdmin, fake.FakeGroupAdmin),
    (LogOffsets, fake.FakeLogOffsets),
    (BrokerConfigs, fake.FakeBrokerConfigs),
    (Reassignments, fake.FakeReassignments),
    (Quotas, fake.FakeQuotas),
    (RecordPages, fake.FakeRecordPages),
    (Producing, fake.FakeProducing),
    (BrokerdAdmin, fake.FakeBrokerdAdmin),
    (LogDirectories, fake.FakeLogDirectories),
    (BrokerMetrics, fake.FakeBrokerMetrics),
]


def _calls(kind: type) -> dict[str, list[tuple[str, Any]]]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {
        name: [(p.name, p.kind) for p in inspect.signature(method).parameters.values()]
        for name, method in found
        if not name.startswith("_")
    }


@pytest.mark.parametrize(("real", "fake"), PAIRS, ids=lambda kind: kind.__name__)
def test_the_fake_has_every_call_of_the_real_one(real: type, fake: type) -> None:
    assert _calls(fake) == _calls(real)


def test_the_fake_has_every_part_of_the_gateway() -> None:
    assert set(fake.PARTS) <= set(vars(fake.FakeCluster().gateway()))
    # The registry is a server of its own, and tests have one (tests/support/schema_registry.py).
    others = {"close", "registry"}
    parts = {name for name in vars(Gateway) if not name.startswith("_")} - others
    assert parts == set(fake.PARTS)


@pytest.fixture(params=["real", "fake"])
def kind(request) -> str:
    return request.param


@pytest.fixture
def cluster(kind, request) -> Any:
    """A LiveCluster or a FakeCluster."""
    return request.getfixturevalue("live_cluster") if kind == "real" else fake.FakeCluster()


@pytest.fixture
def gateway(kind, cluster) -> Any:
    if kind == "fake":
        yield cluster.gateway()
        return
    with Gateway(cluster.row(admin_urls={}, zookeeper_connect="")) as real:
        yield real


@pytest.fixture
def produce(kind, cluster) -> Callable[..., None]:
    def write(topic: str, partition: int, *values: bytes) -> None:
        if kind == "fake":
            cluster.produce(topic, partition, *values)
            return
        producer = Producer({"bootstrap.servers": cluster.brokerd.bootstrap_servers})
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert producer.flush(30) == 0

    return write


@pytest.fixture
def name() -> str:
    return f"contract-{uuid.uuid4().hex[:10]}"


def test_a_topic_is_created_grown_described_and_deleted(gateway, name):
    gateway.topics.create_topic(name, 2, 1)
    gateway.topics.create_partitions(name, 3)
    told = gateway.topics.describe_topic(name)
    assert [place.partition for place in told.partitions] == [0, 1, 2]
    assert {len(place.replicas) for place in told.partitions} == {1}
    assert all(place.leader == place.replicas[0] for place in told.partitions)
    assert all(place.isr == place.replicas for place in told.partitions)
    assert gateway.wire.has_topic(name)
    gateway.topics.delete_topic(name)
    wait_until(lambda: not gateway.wire.has_topic(name), "it is gone")
    with pytest.raises(NotFound):
        gateway.topics.describe_topic(name)


def test_a_topic_of_the_same_name_has_another_id(gateway, name):
    gateway.topics.create_topic(name, 1, 1)
    first = gateway.topics.describe_topic(name).topic_id
    assert first
    gateway.topics.delete_topic(name)
    wait_until(lambda: not gateway.wire.has_topic(name), "it is gone")
    gateway.topics.create_topic(name, 1, 1)
    assert gateway.topics.describe_topic(name).topic_id not in ("", first)


@pytest.mark.parametrize(
    "ask",
    [
        lambda admin, name: admin.describe_topic(name),
        lambda admin, name: admin.describe_configs(name),
        lambda admin, name: admin.delete_topic(name),
        lambda admin, name: admin.create_partitions(name, 3),
        lambda admin, name: admin.alter_configs(name, {"retention.ms": "1"}),
    ],
    ids=[
        "describe_topic",
        "describe_configs",
        "delete_topic",
        "create_partitions",
        "alter_configs",
    ],
)
def test_an_unknown_topic_raises_not_found_and_is_not_created(gateway, name, ask):
    with pytest.raises(NotFound):
        ask(gateway.topics, name)
    assert not gateway.wire.has_topic(name)


def test_impossible_changes_are_refused(gateway, name):
    gateway.topics.create_topic(name, 2, 1)
    with pytest.raises(Refused, match="exists"):
        gateway.topics.create_topic(name, 2, 1)
    with pytest.raises(Refused):
        gateway.topics.create_partitions(name, 2)
    for bad_name in ("no spaces", ".."):
        with pytest.raises(Refused):
            gateway.topics.create_topic(bad_name, 1, 1)
    with pytest.raises(Refused):
        gateway.topics.create_topic(f"{name}.copies", 1, 3)
    with pytest.raises(Refused, match=r"no\.such\.setting"):
        gateway.topics.create_topic(f"{name}.setting", 1, 1, {"no.such.setting": "1"})


def test_validate_only_creates_nothing(gateway, name):
    gateway.topics.create_topic(name, 1, 1, validate_only=True)
    assert not gateway.wire.has_topic(name)
    with pytest.raises(Refused):
        gateway.topics.create_topic(name, 1, 3, validate_only=True)


def test_configs_have_their_source(gateway, name):
    gateway.topics.create_topic(name, 1, 1, {"retention.ms": "60000"})
    told = {value.name: value for value in gateway.topics.describe_configs(name)}
    assert list(told) == sorted(told)
    own = told["retention.ms"]
    assert (own.value, own.source, own.is_default) == ("60000", "DYNAMIC_TOPIC_CONFIG", False)
    for key, value in fake.DEFAULT_CONFIGS.items():
        if key != "retention.ms":
            assert (told[key].value, told[key].is_default) == (value, True), key


def test_only_the_settings_that_are_asked_for_are_described(gateway, name):
    gateway.topics.create_topic(name, 1, 1, {"retention.ms": "60000"})
    names = ["retention.ms", "cleanup.policy"]
    told = gateway.topics.describe_configs(name, names)
    assert [(each.name, each.value) for each in told] == [
        ("cleanup.policy", "delete"), ("retention.ms", "60000"),
    ]  # fmt: skip


def test_a_setting_is_changed_and_removed_and_the_others_stay(gateway, name):
    gateway.topics.create_topic(name, 1, 1, {"cleanup.policy": "compact"})

    def value(key: str) -> tuple[str | None, bool]:
        told = {value.name: value for value in gateway.topics.describe_configs(name)}
        return told[key].value, told[key].is_default

    gateway.topics.alter_configs(name, {"retention.ms": "60000"}, validate_only=True)
    assert value("retention.ms")[1]
    gateway.topics.alter_configs(name, {"retention.ms": "60000"})
    assert value("retention.ms") == ("60000", False)
    gateway.topics.alter_configs(name, {"retention.ms": None})
    assert value("retention.ms")[1]
    assert value("cleanup.policy") == ("compact", False)
    with pytest.raises(Refused, match=r"no\.such\.setting"):
        gateway.topics.alter_configs(name, {"no.such.setting": "1"})


def test_no_partition_is_being_reassigned_and_preferred_replicas_lead(gateway, name):
    gateway.topics.create_topic(name, 1, 1)
    gateway.reassignments.check_supported()
    assert all(each.topic != name for each in gateway.reassignments.in_progress())
    assert gateway.reassignments.elect_leaders([(name, 0)]) == {}
    [sizes] = gateway.reassignments.sizes([(name, 0)]).sizes.values()
    [place] = gateway.topics.describe_topic(name).partitions
    assert list(sizes) == list(place.replicas)


def test_quotas_are_set_and_removed(gateway, name):
    entity = (("user", name),)

    def told():
        return {quota.entity: quota.values for quota in gateway.quotas.describe()}

    gateway.quotas.alter(entity, {"producer_byte_rate": 5.0}, validate_only=True)
    assert entity not in told()
    gateway.quotas.alter(entity, {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0})
    assert told()[entity] == {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}
    gateway.quotas.alter(entity, {"producer_byte_rate": None})
    assert told()[entity] == {"consumer_byte_rate": 6.0}
    gateway.quotas.alter(entity, {"consumer_byte_rate": None})
    assert entity not in told()


def test_the_level_of_a_logger_is_changed(gateway):
    broker = gateway.wire.metadata().brokers[0].id

    def levels():
        return {
            entry.name: entry.value for entry in gateway.broker_configs.describe_loggers(broker)
        }

    assert levels()["root"]
    name = max(levels())
    before = levels()[name]
    gateway.broker_configs.alter_loggers(broker, {name: "ERROR"}, validate_only=True)
    assert levels()[name] == before
    gateway.broker_configs.alter_loggers(broker, {name: "ERROR"})
    assert levels()[name] == "ERROR"
    gateway.broker_configs.alter_loggers(broker, {name: before})


def test_records_before_an_offset_are_deleted(gateway, name, produce):
    gateway.topics.create_topic(name, 2, 1)
    produce(name, 0, b"1", b"2", b"3")
    keys = [(name, 0), (name, 1)]
    assert gateway.topics.delete_records(name, {0: 2, 1: 0}) == {}
    assert gateway.log_offsets.ranges(keys) == {keys[0]: range(2, 3), keys[1]: range(0)}
    assert gateway.topics.delete_records(name, {0: 1}) == {}, "they are deleted already"
    assert list(gateway.topics.delete_records(name, {0: 3, 1: 9})) == [1]
    assert gateway.log_offsets.ranges(keys)[keys[0]] == range(3, 3)
    assert gateway.log_offsets.bounds(keys[0]) == (3, 3, 3)
    with pytest.raises(OffsetOutOfRange):
        gateway.topics.delete_records(name, {0: 99})


def test_metadata_has_brokers_topics_and_leaders(gateway, name):
    gateway.topics.create_topic(name, 3, 1)
    metadata = gateway.wire.metadata()
    assert metadata.cluster_id == gateway.wire.cluster_id() != ""
    assert len(metadata.brokers) == 2
    span = metadata.rows_by_topic[name]
    assert name in metadata.topics
    assert len(span) == 3
    ids = {broker.id for broker in metadata.brokers}
    assert set(metadata.leaders[span.start : span.stop].tolist()) <= ids


def test_the_header_of_a_records_batch_is_read(gateway, name, produce):
    gateway.topics.create_topic(name, 1, 1)
    produce(name, 0, *(b"%d" % number for number in range(5)))
    header = gateway.wire.batch_header(name, 0, 3)
    assert header.base_offset <= 3 <= header.last_offset
    assert header.size_bytes > 61
    assert (header.codec, header.is_control, header.is_log_append_time) == (0, False, False)


def test_the_headers_of_all_batches_from_an_offset_on_are_read(gateway, name, produce):
    gateway.topics.create_topic(name, 1, 1)
    for number in range(3):
        produce(name, 0, b"%d" % number)
    headers = gateway.wire.batch_headers(name, 0, 1, 1 << 20)
    assert headers[0].base_offset <= 1
    assert headers[-1].last_offset == 2


def test_records_are_read_from_the_end_and_from_an_offset(gateway, name, produce):
    gateway.topics.create_topic(name, 2, 1)
    produce(name, 0, *(b"%d" % number for number in range(7)))
    assert gateway.wire.offset_ranges(name, 5.0) == {0: range(7), 1: range(0)}
    newest = gateway.record_pages.read(name, 0, None, 3)
    assert [(row.offset, row.value) for row in newest.rows] == [(6, b"6"), (5, b"5"), (4, b"4")]
    assert (newest.older_before, newest.newer_offset, newest.unread) == (4, None, ())
    older = gateway.record_pages.read(name, 0, None, 3, before_offset=4)
    assert (
        [row.offset for row in older.rows],
        older.older_before,
        older.newer_offset,
    ) == ([3, 2, 1], 1, 4)
    up = gateway.record_pages.read(name, 0, 2, 3)
    assert ([row.offset for row in up.rows], up.older_before, up.newer_offset) == (
        [2, 3, 4],
        2,
        5,
    )
    assert gateway.record_pages.read(name, 0, 5, 3).newer_offset is None
    assert [row.offset for row in gateway.record_pages.read(name, None, None, 2).rows] == [6, 5]


def test_a_read_of_an_unknown_topic_or_offset_raises_an_error(gateway, name):
    gateway.topics.create_topic(name, 1, 1)
    with pytest.raises(NotFound):
        gateway.record_pages.read(name, 9, None, 3)
    with pytest.raises(NotFound):
        gateway.record_pages.read(f"{name}.not", 0, None, 3)
    with pytest.raises(NotFound):
        gateway.record_pages.read(name, None, 3, 3)
    with pytest.raises(OffsetOutOfRange):
        gateway.record_pages.read(name, 0, 1, 3)
    assert gateway.record_pages.read(name, 0, 0, 3).rows == ()


def test_written_records_are_read_as_they_were_given(gateway, name):
    gateway.topics.create_topic(name, 2, 1)
    headers = (("trace", b"1"), ("none", None), ("trace", b"\x00\xff"))
    records = [
        NewRecord(b"k", b"v", headers, 1, 1_700_000_000_123),
        NewRecord(None, b"", (), 1),
        NewRecord(b"", None, (), 0),
    ]
    outcomes = gateway.producing.write(name, records)
    assert [(each.partition, each.offset, each.error) for each in outcomes] == [
        (1, 0, ""), (1, 1, ""), (0, 0, ""),
    ]  # fmt: skip
    first, second = gateway.record_pages.read(name, 1, 0, 5).rows
    assert (first.key, first.value, first.headers) == (b"k", b"v", headers)
    assert first.timestamp_ms == 1_700_000_000_123
    assert (second.key, second.value) == (None, b"")
    assert second.timestamp_ms
    [tombstone] = gateway.record_pages.read(name, 0, 0, 5).rows
    assert (tombstone.key, tombstone.value) == (b"", None)


def test_records_of_one_key_go_to_one_partition(gateway, name):
    gateway.topics.create_topic(name, 3, 1)
    outcomes = gateway.producing.write(name, [NewRecord(b"same", b"%d" % n) for n in range(9)])
    assert len({each.partition for each in outcomes}) == 1
    assert [each.offset for each in outcomes] == list(range(9))


def test_a_record_for_a_missing_partition_is_an_error_and_the_others_are_written(gateway, name):
    gateway.topics.create_topic(name, 1, 1)
    records = [NewRecord(None, b"1", (), 9), NewRecord(None, b"2", (), 0)]
    missing, written = gateway.producing.write(name, records)
    assert missing.offset is None
    assert "no partition 9" in missing.error
    assert not missing.is_unknown
    assert written.offset == 0


def test_a_write_to_an_unknown_topic_raises_not_found_and_creates_nothing(gateway, name):
    with pytest.raises(NotFound):
        gateway.producing.write(name, [NewRecord(None, b"1")])
    assert not gateway.wire.has_topic(name)


def test_a_range_is_copied_with_key_headers_and_time(gateway, name):
    target = f"{name}.copy"
    gateway.topics.create_topic(name, 2, 1)
    gateway.topics.create_topic(target, 2, 1)
    headers = (("h", b"1"), ("n", None))
    records = [NewRecord(b"%d" % n, b"v", headers, 1, 1_700_000_000_000 + n) for n in range(6)]
    gateway.producing.write(name, records)
    request = CopyRequest(name, 1, 1, 5, target, True, 3)
    first = gateway.producing.copy(request)
    assert (first.next_offset, len(first.written), first.error) == (4, 3, "")
    source = gateway.kafka_client_settings  # as if it were another cluster
    rest = gateway.producing.copy(dataclasses.replace(request, first=4), source)
    assert (rest.next_offset, [each.offset for each in rest.written]) == (5, [3])
    rows = gateway.record_pages.read(target, 1, 0, 9).rows
    assert [(row.key, row.headers, row.timestamp_ms) for row in rows] == [
        (b"%d" % n, headers, 1_700_000_000_000 + n) for n in range(1, 5)
    ]
    done = gateway.producing.copy(dataclasses.replace(request, first=5))
    assert (done.next_offset, done.written) == (5, ())
    with pytest.raises(NotFound):
        gateway.producing.copy(dataclasses.replace(request, target=f"{name}.not"))
    assert not gateway.wire.has_topic(f"{name}.not")


def test_offsets_of_a_group_are_committed_listed_and_deleted(gateway, name, produce):
    gateway.topics.create_topic(name, 3, 1)
    produce(name, 0, b"1", b"2", b"3")
    zero, one, two = ((name, number) for number in range(3))
    assert gateway.groups.describe(name).state == "DEAD"
    assert gateway.groups.committed(name) == {}
    assert gateway.groups.alter_offsets(name, {zero: 2, one: 0}) == {}
    described = gateway.groups.describe(name)
    assert (described.state, described.members) == ("EMPTY", 0)
    assert gateway.groups.committed(name) == {zero: 2, one: 0}
    assert gateway.log_offsets.ranges([zero, two]) == {zero: range(3), two: range(0)}
    assert gateway.groups.delete_offsets(name, [one, two]) == {}
    assert gateway.groups.committed(name) == {zero: 2}
    gateway.groups.delete(name)
    assert gateway.groups.describe(name).state == "DEAD"
    with pytest.raises(NotFound):
        gateway.groups.delete(name)


def test_the_offset_at_a_time_is_the_first_record_since_then(gateway, name, produce):
    gateway.topics.create_topic(name, 2, 1)
    produce(name, 0, b"1", b"2")
    keys = [(name, 0), (name, 1)]
    assert gateway.log_offsets.at_time(keys, 1000) == {(name, 0): 0, (name, 1): None}
    future_ms = 4_000_000_000_000
    assert gateway.log_offsets.at_time(keys, future_ms) == {(name, 0): None, (name, 1): None}


def test_a_setting_of_one_broker_overrides_that_of_all_brokers(gateway):
    def told(broker_id: int) -> tuple[str | None, str, str | None]:
        values = {value.name: value for value in gateway.broker_configs.describe(broker_id)}
        assert values["broker.id"].value == str(broker_id)
        assert values["broker.id"].is_read_only
        value = values["message.max.bytes"]
        assert not value.is_read_only
        return value.value, value.source, value.default

    configs, name = gateway.broker_configs, "message.max.bytes"
    default = "1048588"
    configs.alter(None, {name: "2000000"})
    configs.alter(1, {name: "3000000"}, validate_only=True)
    wait_until(lambda: told(1)[0] == "2000000", "broker 1 has the setting of all")
    assert told(1) == ("2000000", "DYNAMIC_DEFAULT_BROKER_CONFIG", default)
    assert [(v.name, v.value) for v in configs.describe(None)] == [(name, "2000000")]
    configs.alter(1, {name: "3000000"})
    wait_until(lambda: told(1)[0] == "3000000", "broker 1 has its own")
    assert told(1) == ("3000000", "DYNAMIC_BROKER_CONFIG", default)
    wait_until(lambda: told(2)[0] == "2000000", "broker 2 has the setting of all")
    configs.alter(1, {name: None})
    configs.alter(None, {name: None})
    wait_until(lambda: told(1) == (default, "DEFAULT_CONFIG", default), "both are removed")
    with pytest.raises(Refused, match=r"broker\.id"):
        configs.alter(1, {"broker.id": "9"}, validate_only=True)


def test_segments_of_a_cluster_without_admin_ports_raise_unsupported(gateway, name):
    for ask in (
        lambda: gateway.brokerd_admin.segments(1, name, 0),
        lambda: gateway.brokerd_admin.index(1, name, 0, 0, "offset", 0, 10),
        lambda: gateway.brokerd_admin.batches(1, name, 0, 0, 0, 10),
        lambda: gateway.brokerd_admin.broker(1),
        lambda: gateway.brokerd_admin.events(1, 0, 10),
    ):
        with pytest.raises(Unsupported, match="no admin address"):
            ask()


def test_segments_of_a_cluster_without_log_directories_raise_unsupported(gateway, name):
    assert not gateway.brokerd_admin.has(1)
    assert not gateway.log_directories.has(1)
    for ask in (
        lambda: gateway.log_directories.segments(1, name, 0),
        lambda: gateway.log_directories.index(1, name, 0, 0, "offset", 0, 10),
        lambda: gateway.log_directories.batches(1, name, 0, 0, 0, 10),
    ):
        with pytest.raises(Unsupported, match="no log directory"):
            ask()


def test_a_gateway_may_be_used_again_after_it_was_closed(gateway, name):
    assert not gateway.wire.has_topic(name)
    gateway.close()
    assert not gateway.wire.has_topic(name)
