"""The gateway and a tick with Apache Kafka: nothing may depend on features of brokerd only."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from brokerd.protocol.compression import Codec
from monitoring.clock import now_ms
from monitoring.gateway import event_loop
from monitoring.gateway.errors import NotFound, OffsetOutOfRange, Refused, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.read_model.snapshot import Snapshot
from monitoring.sampling.assemble import assemble
from monitoring.sampling.reader_pool import ReaderPool, SamplingTarget
from tests.support.kafka import apache_kafka
from tests.support.waiting import wait_until

pytestmark = pytest.mark.kafka
TOPIC, GROUP = "orders", "billing"


@pytest.fixture(scope="module")
def kafka(shared_kafka):
    return Cluster(slug="kafka", name="Kafka", bootstrap_servers=shared_kafka.address)


@pytest.fixture(scope="module")
def produced_ms(kafka):
    """30 records over two partitions; the times before and after they were written."""
    with for_cluster(kafka) as gateway:
        gateway.topics.create_topic(TOPIC, 2, 1, {"retention.ms": "3600000"})
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
    before_ms = now_ms()
    for number in range(30):
        producer.produce(TOPIC, b"value-%d" % number, partition=number % 2)
    assert producer.flush(20) == 0
    return before_ms, now_ms()


@pytest.fixture(scope="module")
def written(kafka, produced_ms):
    """The records, of which a live member has read and committed all of one partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": GROUP,
            "client.id": "billing-app",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    consumer.subscribe([TOPIC])
    assert consumer.poll(60) is not None  # it has joined
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, 15)], asynchronous=False)
    yield kafka
    consumer.close()


def test_the_header_of_a_records_batch_is_read(kafka, produced_ms):
    before_ms, after_ms = produced_ms
    with for_cluster(kafka) as gateway:
        headers = [gateway.wire.batch_header(TOPIC, 0, offset) for offset in range(15)]
    for offset, header in enumerate(headers):
        assert header.base_offset <= offset <= header.last_offset
        assert before_ms <= header.base_timestamp <= header.max_timestamp <= after_ms
        assert (header.magic, header.leader_epoch) == (2, 0)
    assert sum({header.base_offset: header.count for header in headers}.values()) == 15


def test_a_tick_matches_the_cluster(written, produced_ms):
    readers = ReaderPool()
    outcome = event_loop.run(readers.read(SamplingTarget.of(written), 20_000), 20)
    event_loop.run(readers.close_others([]), 5)
    tick = assemble("kafka", 1, 20_000, outcome.took_ms, outcome.answers)
    assert (tick.reason, tick.groups_complete) == ("", True)
    partitions = [row for row in tick.partitions.to_pylist() if row["topic"] == TOPIC]
    assert [(row["log_start_offset"], row["log_end_offset"]) for row in partitions] == [(0, 15)] * 2
    assert all(row["size_bytes"] > 0 for row in partitions)
    assert all(row["bytes_in"] is None for row in partitions)
    before_ms, after_ms = produced_ms
    assert all(before_ms <= row["last_record_ms"] <= after_ms for row in partitions)
    assert not any(row["has_newer_records"] for row in partitions)
    groups = [row for row in tick.groups.to_pylist() if row["group"] == GROUP]
    assert [
        (row["partition"], row["committed_offset"], row["log_end_offset"]) for row in groups
    ] == [
        (0, 15, 15),
        (1, None, 15),
    ]
    assert {(row["state"], row["client_id"], row["members"]) for row in groups} == {
        ("Stable", "billing-app", 1)
    }
    [broker] = tick.brokers
    assert (broker["up"], broker["source"]) == (True, "none")
    [log_dir] = broker["log_dirs"]
    assert log_dir["total_bytes"] >= log_dir["free_bytes"] > 0
    assert log_dir["size_bytes"] == broker["size_bytes"]
    assert broker["disk_free_bytes"] == log_dir["free_bytes"]
    with for_cluster(written) as gateway:
        topic_id = gateway.topics.describe_topic(TOPIC).topic_id
    assert {row["topic_id"] for row in partitions} == {topic_id}


def test_data_on_disk_includes_all_replicas(kafka, shared_kafka, tmp_path):
    with (
        apache_kafka(tmp_path, shared_kafka.zookeeper_connect, broker_id=2),
        for_cluster(kafka) as gateway,
    ):
        gateway.topics.create_topic("twice", 2, 2)
        producer = Producer(
            {"bootstrap.servers": kafka.bootstrap_servers, "acks": "all", "log_level": 0}
        )
        for number in range(20):
            producer.produce("twice", b"value-%d" % number, partition=number % 2)
        assert producer.flush(20) == 0  # acknowledged by both replicas
        readers = ReaderPool()
        outcome = event_loop.run(readers.read(SamplingTarget.of(kafka), 20_000), 20)
        event_loop.run(readers.close_others([]), 5)
        tick = assemble("kafka", 2, 20_000, outcome.took_ms, outcome.answers)
        rows = [row for row in tick.partitions.to_pylist() if row["topic"] == "twice"]
        assert [row["replicas_reported"] for row in rows] == [2, 2]
        assert all(row["size_bytes"] > 0 for row in rows)
        assert all(row["replicas_size_bytes"] == 2 * row["size_bytes"] for row in rows)
        shown = Snapshot.of(tick, None)
        assert shown.totals.disk_bytes.value_if_complete == sum(
            row.size_bytes for row in shown.brokers
        )


def test_records_and_settings_are_read(written):
    with for_cluster(written) as gateway:
        rows = gateway.record_pages.read(TOPIC, 0, None, 3).rows
        configs = {config.name: config for config in gateway.topics.describe_configs(TOPIC)}
    assert [row.value for row in rows] == [b"value-28", b"value-26", b"value-24"]
    assert (configs["retention.ms"].value, configs["retention.ms"].is_default) == ("3600000", False)


@pytest.fixture(scope="module")
def kafka_alone(zookeeper, tmp_path_factory):
    """A broker of which no test stopped a second one, which may lead new partitions."""
    directory = tmp_path_factory.mktemp("kafka-alone")
    with apache_kafka(directory, zookeeper.connect("/alone")) as broker:
        yield Cluster(slug="kafka", name="Kafka", bootstrap_servers=broker.address)


def test_a_topic_that_is_compressed_with_zstd_is_read(kafka_alone):
    with for_cluster(kafka_alone) as gateway:
        gateway.topics.create_topic("zstd", 1, 1, {"compression.type": "zstd"})
        producer = Producer({"bootstrap.servers": kafka_alone.bootstrap_servers, "log_level": 0})
        producer.produce("zstd", b"x" * 500, partition=0)
        assert producer.flush(20) == 0
        for partition in (0, None):
            [row] = gateway.record_pages.read("zstd", partition, None, 5).rows
            assert row.value == b"x" * 500
        assert gateway.wire.batch_header("zstd", 0, 0).codec == Codec.ZSTD


def test_pages_have_no_records_of_aborted_or_open_transactions(kafka_alone):
    topic, values = "transactions", [b"committed-1", b"aborted", b"committed-2", b"open"]
    settings = {"bootstrap.servers": kafka_alone.bootstrap_servers, "log_level": 0}
    producer = Producer({**settings, "transactional.id": "pages"})
    with for_cluster(kafka_alone) as gateway:
        gateway.topics.create_topic(topic, 1, 1)
        producer.init_transactions(60)
        for value in values:
            producer.begin_transaction()
            producer.produce(topic, value, partition=0)
            assert producer.flush(60) == 0
            if value.startswith(b"committed"):
                producer.commit_transaction(30)
            elif value == b"aborted":
                producer.abort_transaction(30)
        for partition in (0, None):
            page = gateway.record_pages.read(topic, partition, None, 9)
            assert [row.value for row in page.rows] == [b"committed-2", b"committed-1"]
            assert page.unread == ()
        page = gateway.record_pages.read(topic, 0, 0, 9)
        assert [row.value for row in page.rows] == [b"committed-1", b"committed-2"]
        assert (page.unread, page.newer_offset) == ((), None)
    producer.abort_transaction(30)


def test_refusals_read_the_same(written):
    with for_cluster(written) as gateway:
        with pytest.raises(Refused, match="exists"):
            gateway.topics.create_topic(TOPIC, 1, 1)
        with pytest.raises(NotFound):
            gateway.topics.describe_topic("nothing")
        with pytest.raises(OffsetOutOfRange, match="0 to 14"):
            gateway.record_pages.read(TOPIC, 0, 99, 1)
        with pytest.raises(Unsupported, match="no admin address"):
            gateway.brokerd_admin.segments(1, TOPIC, 0)


def test_a_setting_of_a_broker_is_described_changed_and_removed(kafka, shared_kafka):
    name = "log.cleaner.backoff.ms"

    def told():
        entries = {entry.name: entry for entry in gateway.broker_configs.describe(shared_kafka.id)}
        return entries[name].value, entries[name].source

    with for_cluster(kafka) as gateway:
        entries = {entry.name: entry for entry in gateway.broker_configs.describe(shared_kafka.id)}
        assert entries["broker.id"].is_read_only
        assert "amount of time" in entries[name].documentation
        assert (entries[name].value, entries[name].default) == ("15000", "15000")
        gateway.broker_configs.alter(None, {name: "14000"})
        wait_until(lambda: told() == ("14000", "DYNAMIC_DEFAULT_BROKER_CONFIG"), "it is changed")
        gateway.broker_configs.alter(None, {name: None})
        wait_until(lambda: told() == ("15000", "DEFAULT_CONFIG"), "it is removed")
        with pytest.raises(Refused, match=r"broker\.id"):
            gateway.broker_configs.alter(shared_kafka.id, {"broker.id": "9"}, validate_only=True)
