"""What is kept of compacted topics, and when: the very records that Apache Kafka 3.9.1 keeps.

All topics are filled at once and cleaned side by side. The expected records are what Kafka's broker
kept of the same records under the same settings.
"""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import HEADER_BYTES, Record, encode_batch, iter_batches, write_crc
from tests.support import written
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

SETTINGS = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.dedupe.buffer.size": "1000000",
    "log.cleaner.threads": "2",
    "log.segment.delete.delay.ms": "0",
    "log.retention.check.interval.ms": "300",
}
DIRTY = {"cleanup.policy": "compact", "segment.bytes": "3000", "min.cleanable.dirty.ratio": "0.01"}
NEVER = DIRTY | {"min.cleanable.dirty.ratio": "1.0"}
HOUR = "3600000"
FILLING = b"x" * 900  # three records fill a segment
DEADLINE_S = 60

Pairs = list[tuple[str | None, str | None]]
Found = list[tuple[int, str | None, str | None]]

LETTERS: Pairs = [("a", "1"), ("b", "1"), ("a", None), *((key, "1") for key in "cdef")]
CASES: dict[str, tuple[dict[str, str], Pairs]] = {
    "tombstone-due": (DIRTY | {"delete.retention.ms": "500"}, LETTERS),
    "tombstone-kept": (DIRTY | {"delete.retention.ms": HOUR}, LETTERS),
    "young": (DIRTY | {"min.compaction.lag.ms": HOUR}, [("a", str(n)) for n in range(10)]),
    "late": (NEVER | {"max.compaction.lag.ms": "500"}, [("a", str(n)) for n in range(5)]),
    "clean-enough": (NEVER, [("a", str(n)) for n in range(10)]),
    "compact-and-delete": (
        DIRTY | {"cleanup.policy": "compact,delete", "retention.ms": HOUR},
        [(f"k{n % 3}", str(n)) for n in range(12)],
    ),
    "old": (
        DIRTY | {"cleanup.policy": "compact,delete", "retention.ms": "1000"},
        [(f"k{n % 7}", str(n)) for n in range(12)],
    ),
    "once-deleted": (
        DIRTY | {"cleanup.policy": "delete"},
        [("a", "1"), (None, "2"), (None, "3"), ("a", "4"), ("b", "5"), (None, "6"), ("c", "7"),
         ("d", "8")],
    ),
}  # fmt: skip


def ones(offsets: str) -> Found:
    """Records of LETTERS that have the value 1, by offset."""
    return [(int(each), LETTERS[int(each)][0], "1") for each in offsets]


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory = tmp_path_factory.mktemp("rules")
    connect = zookeeper.connect("/compaction-rules")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        address = cluster.brokers[0].address
        admin = AdminClient({"bootstrap.servers": address})
        made = admin.create_topics(
            [NewTopic(name, 1, 1, config=config) for name, (config, _) in CASES.items()]
        )
        for each in made.values():
            each.result(DEADLINE_S)
        for name, (_, pairs) in CASES.items():
            assert send(address, name, pairs) == []
        set_config(address, "once-deleted", "cleanup.policy", "compact")
        yield cluster.brokers[0]


def set_config(address: str, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": address})
    admin.incremental_alter_configs([resource])[resource].result(DEADLINE_S)


def send(address: str, topic: str, pairs: Pairs, **settings: Any) -> list[str]:
    """One record a batch; the names of the errors."""
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0} | settings)
    errors: list[str] = []

    def told(error: Any, _message: Any) -> None:
        if error is not None:
            errors.append(error.name())

    for key, value in pairs:
        data = None if value is None else value.encode() + b":" + FILLING
        producer.produce(topic, data, key, on_delivery=told)
        assert producer.flush(DEADLINE_S) == 0
    return errors


def kept(address: str, topic: str) -> Found:
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "r", "enable.partition.eof": True}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: Found = []
    while True:
        message = consumer.poll(DEADLINE_S)
        assert message is not None
        if message.error():
            break
        key, value = message.key(), message.value()
        found.append(
            (
                message.offset(),
                None if key is None else key.decode(),
                None if value is None else value.partition(b":")[0].decode(),
            )
        )
    consumer.close()
    return found


until = partial(wait_until, deadline_s=DEADLINE_S)


def becomes(broker: Brokerd, topic: str, expected: Found) -> None:
    """Waits until that is what is kept of a topic; says what is kept else."""
    deadline = time.monotonic() + DEADLINE_S
    while (found := kept(broker.address, topic)) != expected and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found == expected


def compaction(broker: Brokerd) -> dict[str, Any]:
    token = (broker.directory / "admin.token").read_text().strip()
    answer = httpx.get(
        f"{broker.admin_url}/v1/compaction", headers={"Authorization": f"Bearer {token}"}
    )
    found: dict[str, Any] = answer.json()
    return found


def test_a_tombstone_stays_for_its_time_and_then_goes(broker: Brokerd) -> None:
    becomes(broker, "tombstone-kept", sorted([*ones("13456"), (2, "a", None)]))
    becomes(broker, "tombstone-due", sorted([*ones("13456"), (2, "a", None)]))
    time.sleep(0.6)
    send(broker.address, "tombstone-due", [("z", "2"), ("z", "3"), ("z", "4"), ("z", "5")])
    expected: Found = [*ones("13456"), (9, "z", "4"), (10, "z", "5")]
    until(lambda: (2, "a", None) not in kept(broker.address, "tombstone-due"))
    assert set(expected) <= set(kept(broker.address, "tombstone-due"))


def test_records_without_a_key_go_when_a_topic_becomes_compacted(broker: Brokerd) -> None:
    becomes(broker, "once-deleted", [(3, "a", "4"), (4, "b", "5"), (6, "c", "7"), (7, "d", "8")])


def test_a_record_without_a_key_is_refused_on_a_compacted_topic(broker: Brokerd) -> None:
    assert send(broker.address, "clean-enough", [(None, "1")]) == ["INVALID_RECORD"]


def test_a_log_may_be_compacted_and_lose_what_is_old(broker: Brokerd) -> None:
    becomes(
        broker, "compact-and-delete",
        [(6, "k0", "6"), (7, "k1", "7"), (8, "k2", "8"), (9, "k0", "9"), (10, "k1", "10"),
         (11, "k2", "11")],
    )  # fmt: skip
    becomes(broker, "old", [])


def test_a_log_dirty_for_too_long_is_rolled_and_cleaned_however_clean_it_is(
    broker: Brokerd,
) -> None:
    def newest_alone() -> bool:
        # The active segment is closed by the next record.
        send(broker.address, "late", [("z", "z")])
        return [each for each in kept(broker.address, "late") if each[1] == "a"] == [(4, "a", "4")]

    until(newest_alone)


@pytest.mark.parametrize("topic", ["young", "clean-enough"])
def test_what_is_too_young_or_clean_enough_stays(broker: Brokerd, topic: str) -> None:
    until(lambda: compaction(broker)["rounds"] >= 4)
    assert kept(broker.address, topic) == [(n, "a", str(n)) for n in range(10)]


def test_a_batch_that_lies_sets_the_log_aside(broker: Brokerd) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    deleting = NewTopic("lying", 1, 1, config=DIRTY | {"cleanup.policy": "delete"})
    admin.create_topics([deleting])["lying"].result(DEADLINE_S)
    assert send(broker.address, "lying", [("a", "1"), ("b", "2")]) == []
    lying = encode_batch([Record(0, int(time.time() * 1000), b"a", FILLING)] * 2)
    written.damaged(broker.logs / "lying-0")
    lying[HEADER_BYTES] = 2  # the first record says that it has one byte
    write_crc(lying)
    fields = {"acks": 1, "timeout": 5000, "topic_data": [
        {"name": "lying", "partition_data": [{"index": 0, "records": bytes(lying)}]}]}  # fmt: skip
    with Wire(broker.port) as wire:
        answer = wire.ask(ApiKey.PRODUCE, 7, fields)
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert send(broker.address, "lying", [("a", "5"), ("a", "6"), ("a", "7"), ("c", "8")]) == []
    set_config(broker.address, "lying", "cleanup.policy", "compact")
    until(lambda: [each["topic"] for each in compaction(broker)["uncleanable"]] == ["lying"])
    (each,) = compaction(broker)["uncleanable"]
    assert "the batch at offset 2 is damaged: " in each["reason"]
    segments = sorted((broker.logs / "lying-0").glob("*.log"))
    headers = [
        (header.base_offset, header.count)
        for path in segments
        for header, _ in iter_batches(memoryview(path.read_bytes()))
    ]
    assert headers[:3] == [(0, 1), (1, 1), (2, 2)]


def test_no_worker_is_there_when_there_is_nothing_to_clean(broker: Brokerd) -> None:
    assert broker.process is not None
    children = Path(f"/proc/{broker.process.pid}/task/{broker.process.pid}/children")
    until(lambda: compaction(broker)["cleaning"] == 0 and not children.read_text().split())
    set_config(broker.address, "clean-enough", "min.cleanable.dirty.ratio", "0.01")
    until(lambda: len(kept(broker.address, "clean-enough")) < 10)
    until(lambda: not children.read_text().split())
