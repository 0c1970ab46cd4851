"""Transactions that Apache Kafka wrote, served by brokerd from the same log directory."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import BrokerdCluster
from tests.support.kafka import apache_kafka
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

TOPIC = "ledger"
PARTITION = TopicPartition(TOPIC, 0)
TIMEOUT_S = 60


def write(bootstrap: str, transaction: str, values: list[str], end: str) -> None:
    """One transaction that is committed, aborted or left open."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": transaction})
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    for value in values:
        producer.produce(TOPIC, value, partition=0)
    producer.flush(TIMEOUT_S)
    if end == "commit":
        producer.commit_transaction(TIMEOUT_S)
    elif end == "abort":
        producer.abort_transaction(TIMEOUT_S)


def values(bootstrap: str, isolation: str) -> list[str]:
    """What a consumer reads until the end that it is told of."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "unused", "isolation.level": isolation,
        "enable.partition.eof": True, "enable.auto.commit": False,
    })  # fmt: skip
    found = []
    try:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        while True:
            message = consumer.poll(TIMEOUT_S)
            assert message is not None
            if message.error():
                return found
            found.append(message.value().decode())
    finally:
        consumer.close()


def ends(bootstrap: str) -> list[int]:
    """The log end as it is told with and without transactions that are not decided."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    told = []
    for isolation in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED):
        asked = admin.list_offsets({PARTITION: OffsetSpec.latest()}, isolation_level=isolation)
        told.append(asked[PARTITION].result(TIMEOUT_S).offset)
    return told


def seen(bootstrap: str) -> dict[str, object]:
    return {
        "committed": values(bootstrap, "read_committed"),
        "uncommitted": values(bootstrap, "read_uncommitted"),
        "ends": ends(bootstrap),
    }


def producers(bootstrap: str) -> list[tuple[int, ...]]:
    with Wire(int(bootstrap.split(":")[1])) as wire:
        fields = {"topics": [{"name": TOPIC, "partition_indexes": [0]}]}
        (row,) = wire.ask(ApiKey.DESCRIBE_PRODUCERS, 0, fields).topics[0].partitions
    return sorted(
        (p.producer_id, p.producer_epoch, p.last_sequence, p.last_timestamp, p.coordinator_epoch,
         p.current_txn_start_offset)
        for p in row.active_producers
    )  # fmt: skip


def indexes(logs: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (logs / f"{TOPIC}-0").glob("*.txnindex")}


@pytest.mark.kafka
def test_brokerd_tells_of_kafkas_transactions_what_kafka_told(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    connect = zookeeper.connect("/transactions-of-kafka")
    logs = tmp_path / "kafka" / "logs"
    with apache_kafka(tmp_path, connect) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka})
        topic = NewTopic(TOPIC, 1, 1, config={"segment.bytes": "1000"})
        admin.create_topics([topic])[TOPIC].result(TIMEOUT_S)
        for number in range(6):
            end = "abort" if number % 3 == 1 else "commit"
            write(kafka, f"writer-{number}", [f"{end}-{number}-{i}" * 9 for i in range(5)], end)
        write(kafka, "hanging", ["open-0", "open-1"], "none")
        write(kafka, "later", ["commit-later"], "commit")
        by_kafka, producers_then, indexes_then = seen(kafka), producers(kafka), indexes(logs)
    assert by_kafka["ends"][0] < by_kafka["ends"][1]
    assert len(indexes_then) == 2
    settings = {"log.dirs": str(logs)}
    with BrokerdCluster.started(tmp_path, connect, settings=settings) as cluster:
        assert seen(cluster.bootstrap_servers) == by_kafka
        assert producers(cluster.bootstrap_servers) == producers_then
        assert indexes(logs) == indexes_then
        cluster.stop()
        cluster.start()
        assert seen(cluster.bootstrap_servers) == by_kafka
        assert producers(cluster.bootstrap_servers) == producers_then
