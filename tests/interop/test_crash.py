"""kill -9 of a broker under load: what was acknowledged is there afterwards, once and in order."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.zookeeper import ZooKeeper

TIMEOUT_S = 60
PARTITIONS = 3


@pytest.fixture
def broker(zookeeper: ZooKeeper, tmp_path: Path) -> Iterator[Brokerd]:
    """A broker of the test's own, with segments small enough to roll under load."""
    settings = {"log.segment.bytes": "200000", "log.index.interval.bytes": "1000"}
    connect = zookeeper.connect(f"/{tmp_path.name}")
    with BrokerdCluster.started(tmp_path, connect, settings=settings) as cluster:
        yield cluster.brokers[0]


def create(broker: Brokerd, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(TIMEOUT_S)


def read_all(broker: Brokerd, topic: str) -> dict[int, list[int]]:
    """The numbers in each partition, in order."""
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": "x", "enable.auto.commit": False}
    )
    try:
        parts = [TopicPartition(topic, index, 0) for index in range(PARTITIONS)]
        ends = {
            each.partition: consumer.get_watermark_offsets(each, TIMEOUT_S)[1] for each in parts
        }
        consumer.assign(parts)
        found: dict[int, list[int]] = {index: [] for index in range(PARTITIONS)}
        deadline = time.monotonic() + TIMEOUT_S
        while any(len(found[index]) < ends[index] for index in found):
            assert time.monotonic() < deadline, f"{ends}; {[len(each) for each in found.values()]}"
            for message in consumer.consume(2000, 0.1):
                assert message.error() is None
                found[message.partition()].append(int(message.value()))
        return found
    finally:
        consumer.close()


@pytest.mark.parametrize("idempotent", [False, True])
def test_acknowledged_records_survive_kill_9_under_load(broker: Brokerd, idempotent: bool) -> None:
    """The same producer goes on through three kills; an idempotent one stores nothing twice."""
    create(broker, "load")
    acknowledged: dict[int, list[int]] = {index: [] for index in range(PARTITIONS)}
    failed: list[object] = []
    enough = threading.Event()
    producer = Producer(
        {
            "bootstrap.servers": broker.address,
            "acks": "all",
            "enable.idempotence": idempotent,
            "linger.ms": 1,
            "batch.num.messages": 200,
            "reconnect.backoff.max.ms": 200,
            "message.timeout.ms": 60_000,
            "queue.buffering.max.messages": 20_000,
        }
    )

    def delivered(error: object, message: object) -> None:
        if error is not None:
            failed.append(error)
            return
        acknowledged[message.partition()].append(int(message.value()))  # type: ignore[attr-defined]

    def load() -> None:
        number = 0
        while not enough.is_set():
            try:
                producer.produce(
                    "load", b"%d" % number, partition=number % PARTITIONS, on_delivery=delivered
                )
                number += 1
            except BufferError:
                producer.poll(0.01)
            producer.poll(0)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        for _ in range(3):
            wanted = sum(map(len, acknowledged.values())) + 10_000
            deadline = threading.Event()
            while sum(map(len, acknowledged.values())) < wanted and not deadline.wait(0.01):
                assert thread.is_alive()
            broker.kill()
            broker.start()
    finally:
        enough.set()
        thread.join(TIMEOUT_S)
    assert producer.flush(TIMEOUT_S) == 0
    assert failed == []
    found = read_all(broker, "load")
    for index, numbers in acknowledged.items():
        assert len(numbers) > 3000
        missing = set(numbers) - set(found[index])
        assert not missing, f"{len(missing)} acknowledged records are lost"
        if idempotent:
            assert found[index] == sorted(set(found[index])), "out of order or twice"


def test_a_clean_restart_keeps_everything(broker: Brokerd) -> None:
    create(broker, "kept")
    producer = Producer({"bootstrap.servers": broker.address, "compression.type": "lz4"})
    for number in range(9000):
        producer.produce("kept", b"%d" % number, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0
    before = read_all(broker, "kept")
    broker.stop()
    broker.start()
    assert read_all(broker, "kept") == before
    assert "truncated" not in broker.said()
