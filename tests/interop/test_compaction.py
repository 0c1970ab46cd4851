"""Compaction in a real broker: clients read the last value of every key, also after a kill."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
)

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

SETTINGS = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.cleaner.dedupe.buffer.size": "1000000",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.segment.bytes": "20000",
    "log.segment.delete.delay.ms": "0",
}
TOPIC_CONFIG = {"cleanup.policy": "compact", "segment.bytes": "40000"}
RECORDS = 6000
KEYS = 50


@pytest.fixture
def compacting(zookeeper: ZooKeeper, tmp_path: Path) -> Iterator[Brokerd]:
    connect = zookeeper.connect(f"/compaction-{tmp_path.name}")
    with BrokerdCluster.started(tmp_path, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


def get(broker: Brokerd, path: str) -> httpx.Response:
    token = (broker.directory / "admin.token").read_text().strip()
    answer = httpx.get(broker.admin_url + path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    return answer


def compaction(broker: Brokerd) -> dict[str, Any]:
    found: dict[str, Any] = get(broker, "/v1/compaction").json()
    return found


until = partial(wait_until, deadline_s=60)


def cleaned_to(broker: Brokerd, topic: str) -> int:
    path = broker.logs / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    found = [line.split() for line in lines]
    return next((int(offset) for name, _, offset in found if name == topic), 0)


def create(broker: Brokerd, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, 1, 1, config=TOPIC_CONFIG)])[topic].result(30)


def produce(broker: Brokerd, topic: str, first: int, **settings: Any) -> dict[bytes, bytes]:
    """Write RECORDS records from number `first` on; the last value of each key."""
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 1} | settings)
    last = {}
    for number in range(first, first + RECORDS):
        key, value = b"key-%d" % (number % KEYS), b"%d-" % number + b"x" * 80
        producer.produce(topic, value, key)
        last[key] = value
        if number % 40 == 0:
            producer.flush(30)
    assert producer.flush(30) == 0
    return last


def read_all(broker: Brokerd, topic: str) -> list[tuple[int, bytes, bytes]]:
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": "r", "enable.partition.eof": True}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = []
    while True:
        message = consumer.poll(30)
        assert message is not None, "the end of the partition was not reached"
        if message.error():
            break
        found.append((message.offset(), message.key(), message.value()))
    consumer.close()
    return found


@pytest.mark.parametrize(
    "settings",
    [{}, {"compression.type": "zstd"}, {"enable.idempotence": True, "compression.type": "lz4"}],
    ids=["plain", "zstd", "idempotent-lz4"],
)
def test_the_last_value_of_each_key_is_read_before_and_after_a_kill(
    compacting: Brokerd, settings: dict[str, Any]
) -> None:
    create(compacting, "compacted")
    expected = produce(compacting, "compacted", 0, **settings)
    until(lambda: cleaned_to(compacting, "compacted") > RECORDS // 2)
    found = read_all(compacting, "compacted")
    assert {key: value for _, key, value in found} == expected
    assert len(found) < RECORDS // 2
    assert [offset for offset, _, _ in found] == sorted({offset for offset, _, _ in found})
    assert all(value.startswith(b"%d-" % offset) for offset, _, value in found)
    compacting.kill()
    compacting.start()
    again = read_all(compacting, "compacted")
    assert {key: value for _, key, value in again} == expected
    expected = produce(compacting, "compacted", RECORDS, **settings)
    until(lambda: cleaned_to(compacting, "compacted") > RECORDS + RECORDS // 2)
    assert {key: value for _, key, value in read_all(compacting, "compacted")} == expected
    assert compaction(compacting)["uncleanable"] == []
    assert "brokerd_log_cleaner_rounds_total " in get(compacting, "/metrics").text
    compacting.stop()
    compacting.start()
    assert {key: value for _, key, value in read_all(compacting, "compacted")} == expected


def test_committed_offsets_are_compacted_and_known_after_a_kill(compacting: Brokerd) -> None:
    create(compacting, "t")
    consumer = Consumer({"bootstrap.servers": compacting.address, "group.id": "g"})
    for number in range(1, 800):
        consumer.commit(offsets=[TopicPartition("t", 0, number)], asynchronous=False)
    until(lambda: cleaned_to(compacting, "__consumer_offsets") > 0)
    compacting.kill()
    compacting.start()
    (found,) = consumer.committed([TopicPartition("t", 0)], timeout=30)
    assert found.offset == 799
    consumer.close()
    assert compaction(compacting)["uncleanable"] == []
