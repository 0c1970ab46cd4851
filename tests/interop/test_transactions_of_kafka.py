"""Transactions that Apache Kafka wrote, served by brokerd from the same log directory."""

import re
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import BrokerdCluster
from tests.support.kafka import apache_kafka, dump_of_log
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

TOPIC = "ledger"
PARTITION = TopicPartition(TOPIC, 0)
TIMEOUT_S = 60


def write(
    bootstrap: str, transaction: str, values: list[str], end: str, keys: int | None = None
) -> None:
    """One transaction that is committed, aborted or left open; with so many keys in turn."""
    producer = Producer({
        "bootstrap.servers": bootstrap, "transactional.id": transaction,
        "transaction.timeout.ms": 600_000,  # so that one left open stays open
    })  # fmt: skip
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    for number, value in enumerate(values):
        key = None if keys is None else f"key-{number % keys}"
        producer.produce(TOPIC, value, key, partition=0)
    producer.flush(TIMEOUT_S)
    if end == "commit":
        producer.commit_transaction(TIMEOUT_S)
    elif end == "abort":
        producer.abort_transaction(TIMEOUT_S)


def values(bootstrap: str, isolation: str) -> list[str]:
    """The values that a consumer reads until the end that it is told of."""
    return [value for _, value in pairs(bootstrap, isolation)]


def pairs(bootstrap: str, isolation: str) -> list[tuple[str, str]]:
    """The same with keys, empty where there is none."""
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
            found.append(((message.key() or b"").decode(), message.value().decode()))
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


def let_compact(bootstrap: str) -> None:
    """Have the topic compacted from now on, as soon as anything in it is dirty."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    entry = ConfigEntry(
        "min.cleanable.dirty.ratio", "0.01", incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)


def wait_until_cleaned(logs: Path, offset: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    checkpoint = logs / "cleaner-offset-checkpoint"
    while True:
        lines = checkpoint.read_text().splitlines() if checkpoint.exists() else []
        if any(int(line.split()[2]) >= offset for line in lines if line.startswith(f"{TOPIC} 0 ")):
            return
        assert time.monotonic() < deadline, lines
        time.sleep(0.05)


@pytest.mark.kafka
def test_kafkas_transactions_that_brokerd_compacted_say_the_same_to_both(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    connect = zookeeper.connect("/compacted-transactions-of-kafka")
    logs = tmp_path / "kafka" / "logs"
    config = {
        "cleanup.policy": "compact", "segment.bytes": "1000", "min.cleanable.dirty.ratio": "1.0",
        "file.delete.delay.ms": "0",
    }  # fmt: skip
    with apache_kafka(tmp_path, connect) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka})
        admin.create_topics([NewTopic(TOPIC, 1, 1, config=config)])[TOPIC].result(TIMEOUT_S)
        for number in range(8):
            end = "abort" if number % 2 else "commit"
            text = [f"{end}-{number}-{i}" * 9 for i in range(6)]
            write(kafka, f"writer-{number % 3}", text, end, keys=4 if number % 4 == 2 else 6)
        stable = ends(kafka)[0]
        write(kafka, "hanging", ["open"], "none", keys=1)
        write(kafka, "later", ["commit-later" * 9] * 5, "commit", keys=1)
        expected = dict(pairs(kafka, "read_committed"))
        ends_then, producers_then = ends(kafka), producers(kafka)
    assert ends_then[0] == stable
    settings = {"log.dirs": str(logs), "log.cleaner.backoff.ms": "100"}
    with BrokerdCluster.started(tmp_path, connect, settings=settings) as cluster:
        brokerd = cluster.bootstrap_servers
        let_compact(brokerd)
        wait_until_cleaned(logs, stable // 2)
        committed = pairs(brokerd, "read_committed")
        assert dict(committed) == expected
        assert len(committed) == len(expected)
        aborted = {value for value in values(brokerd, "read_uncommitted") if "abort" in value}
        assert aborted == set(text)  # those of the last one are in the segment of the open one
        assert (ends(brokerd), producers(brokerd)) == (ends_then, producers_then)
        cluster.stop()
        cluster.start()
        assert pairs(brokerd, "read_committed") == committed
        assert (ends(brokerd), producers(brokerd)) == (ends_then, producers_then)
        cluster.stop()  # takes its registration along
    dump = dump_of_log(logs / f"{TOPIC}-0")
    assert not re.findall("ismatch|isvalid: false|Exception|not found|ERROR", dump)
    assert (dump.count("endTxnMarker: ABORT"), dump.count("endTxnMarker: COMMIT")) == (4, 5)
    with apache_kafka(tmp_path, connect) as kafka:
        assert pairs(kafka, "read_committed") == committed
        write(kafka, "hanging", ["end"], "commit", keys=1)  # aborts what it had begun
        assert dict(pairs(kafka, "read_committed")) == expected | {"key-0": "end"}
