"""One directory and one chroot of ZooKeeper, held by brokerd and Apache Kafka in turn, and what is
written there. Both listen on one port, so that clients live on while the broker is changed."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.support.brokerd import Brokerd
from tests.support.kafka import ApacheKafka
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

TIMEOUT_S = 60
FIRST_MS = int(time.time()) * 1000 - 3_600_000  # so young that none is too old to keep
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LEDGER, COMPACTED_LEDGER = "ledger", "compacted-ledger"
TOPICS: dict[str, dict[str, str]] = {
    **{f"codec-{codec}": {} for codec in CODECS},
    "idempotent": {"segment.bytes": "20000"},
    "rolled": {"segment.bytes": "4000", "index.interval.bytes": "500"},
    "deleted-from": {"segment.bytes": "4000"},
    "append-time": {"message.timestamp.type": "LogAppendTime"},
    "recompressed": {"compression.type": "zstd"},
    "recovered": {"segment.bytes": "4000"},
    "set": {"retention.ms": "86400000", "max.message.bytes": "50000"},
    "compacted": {
        "cleanup.policy": "compact", "segment.bytes": "1000", "min.cleanable.dirty.ratio": "0.01",
        "file.delete.delay.ms": "0",
    },
    LEDGER: {"segment.bytes": "1000"},
    COMPACTED_LEDGER: {
        "cleanup.policy": "compact", "segment.bytes": "1000", "min.cleanable.dirty.ratio": "1.0",
        "file.delete.delay.ms": "0",
    },
    "gone": {},
}  # fmt: skip
"""The topics with their settings; `idempotent` has two partitions, the others one."""

_LOADING = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR, KafkaError._WAIT_COORD,
)  # fmt: skip

COMPACTED = ("compacted", COMPACTED_LEDGER)


class Swap:
    """The two brokers, of which never more than one runs."""

    def __init__(self, directory: Path, zookeeper: ZooKeeper) -> None:
        connect = zookeeper.connect("/swap")
        settings = {"log.cleaner.backoff.ms": "100", "auto.create.topics.enable": "false"}
        settings |= zookeeper.broker_settings
        self.brokerd = Brokerd(directory, 1, connect, settings)
        self.logs = self.brokerd.logs
        self.kafka = ApacheKafka(
            directory, connect, port=self.brokerd.port,
            settings={
                "log.dirs": str(self.logs), "auto.create.topics.enable": "false",
                "log.flush.start.offset.checkpoint.interval.ms": "500",
                "log.initial.task.delay.ms": "500",  # the first time too
            },
            login=zookeeper,
        )  # fmt: skip
        self.address = self.brokerd.address
        self.producer = Producer({
            "bootstrap.servers": self.address, "enable.idempotence": True, "linger.ms": 1,
            "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "log_level": 0,
        })  # fmt: skip
        """An idempotent producer for the whole time."""
        self.zookeeper = zookeeper
        self.sent = 0

    def close(self) -> None:
        self.brokerd.kill()
        self.kafka.kill()

    def start_kafka(self) -> None:
        """Returns once every partition has a leader, of which it tells clients bit by bit."""
        self.kafka.start()
        admin = AdminClient({"bootstrap.servers": self.address})
        wanted = TOPICS.keys() - {"gone"}

        def are_led() -> bool:
            told = admin.list_topics(timeout=TIMEOUT_S).topics
            leaders = [each.leader for topic in told.values() for each in topic.partitions.values()]
            return wanted <= told.keys() and min(leaders) >= 0

        until(are_led)

    def go_on(self, count: int = 40) -> None:
        """Let the lasting producer write that many more numbers."""
        for number in range(self.sent, self.sent + count):
            self.producer.produce("idempotent", str(number), partition=number % 2)
            if number % 5 == 0:
                assert self.producer.flush(TIMEOUT_S) == 0
        assert self.producer.flush(TIMEOUT_S) == 0
        self.sent += count

    def create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.address})
        wanted = [NewTopic(name, 1, 1, config=config) for name, config in TOPICS.items()]
        for made in admin.create_topics(wanted).values():
            made.result(TIMEOUT_S)
        grown = admin.create_partitions([NewPartitions("idempotent", 2)])
        grown["idempotent"].result(TIMEOUT_S)
        admin.delete_topics(["gone"])["gone"].result(TIMEOUT_S)
        alter(self.address, "set", "retention.ms", "90000000")
        alter(self.address, "set", "delete.retention.ms", "12345")

    def write(self, round_: int) -> None:
        """Some of everything that both brokers can do."""
        for codec in CODECS:
            put(self.address, f"codec-{codec}", round_, {"compression.type": codec})
        for topic in ("rolled", "deleted-from", "append-time", "recompressed", "set"):
            put(self.address, topic, round_)
        put(self.address, "compacted", round_, {"compression.type": "lz4"}, keys=7)
        delete_records(self.address, "deleted-from", 37 + 50 * round_)
        commit(self.address, "readers", "rolled", 20 + round_, "where I was")
        commit(self.address, "readers", "codec-zstd", 5 * round_)
        commit(self.address, "others", "rolled", 1)
        self.go_on()

    def wait_until_cleaned(self, topic: str, offset: int) -> None:
        until(lambda: self.checkpoint("cleaner-offset-checkpoint", topic) >= offset)

    def waiting_for_transactions(self) -> list[dict[str, Any]]:
        """The logs that brokerd could clean further if no transaction were open."""
        token = (self.brokerd.directory / "admin.token").read_text().strip()
        answer = httpx.get(
            f"{self.brokerd.admin_url}/v1/compaction", headers={"Authorization": f"Bearer {token}"}
        )
        found: list[dict[str, Any]] = answer.json()["waiting"]
        return found

    def wait_until_saved(self, topic: str, log_start: int) -> None:
        """Until the start of the log would be known after a kill."""
        until(lambda: self.checkpoint("log-start-offset-checkpoint", topic) == log_start)

    def checkpoint(self, name: str, topic: str) -> int:
        """What it says of the first partition."""
        path = self.logs / name
        lines = path.read_text().splitlines() if path.exists() else []
        return next((int(line.split()[2]) for line in lines if line.startswith(f"{topic} 0 ")), 0)


until = partial(wait_until, deadline_s=TIMEOUT_S)


def put(
    bootstrap: str, topic: str, round_: int, settings: dict[str, str] | None = None, keys: int = 0
) -> None:
    """100 records with keys, times, headers and nulls, in batches of 20, or of 5 with few keys."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 50, "log_level": 0, **(settings or {})}
    )
    for number in range(100):
        value = None if number % 9 == 4 else b"%s-%d-%d-" % (topic.encode(), round_, number) * 5
        key = b"key-%d" % (number % keys if keys else number) if number % 5 or keys else None
        at_ms = FIRST_MS + 1000 * round_ + number - (30 if number % 11 == 6 else 0)
        headers = [("n", b"%d" % number), ("empty", b"")] if number % 4 == 1 else []
        producer.produce(
            topic, value, key, partition=0, timestamp=at_ms, headers=headers, on_delivery=_taken
        )
        if number % (5 if keys else 20) == 4:
            assert producer.flush(TIMEOUT_S) == 0
    assert producer.flush(TIMEOUT_S) == 0


def _taken(error: KafkaError | None, _: object) -> None:
    assert error is None, error


def transaction(
    bootstrap: str, name: str, values: list[str], end: str, keys: int, read_to: tuple[str, int]
) -> None:
    """One transaction in both ledgers that is committed, aborted or left open; with so many keys
    in turn, and the offset to which a group has read."""
    producer = Producer({
        "bootstrap.servers": bootstrap, "transactional.id": name, "log_level": 0,
        "transaction.timeout.ms": 600_000,  # so that one left open stays open
    })  # fmt: skip
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    for number, value in enumerate(values):
        for ledger in (LEDGER, COMPACTED_LEDGER):
            producer.produce(ledger, value, f"key-{number % keys}", partition=0)
    producer.flush(TIMEOUT_S)
    group, offset = read_to
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    producer.send_offsets_to_transaction(
        [TopicPartition(LEDGER, 0, offset)], reader.consumer_group_metadata(), TIMEOUT_S
    )
    reader.close()
    if end == "commit":
        producer.commit_transaction(TIMEOUT_S)
    elif end == "abort":
        producer.abort_transaction(TIMEOUT_S)


def delete_records(bootstrap: str, topic: str, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    (done,) = admin.delete_records([TopicPartition(topic, 0, offset)]).values()
    assert done.result(TIMEOUT_S).low_watermark == offset


def commit(bootstrap: str, group: str, topic: str, offset: int, metadata: str = "") -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    place = TopicPartition(topic, 0, offset, metadata)
    until(lambda: _commits(consumer, place))
    consumer.close()


def _commits(consumer: Consumer, place: TopicPartition) -> bool:
    """Whether the coordinator takes it; one that loads its groups does not yet."""
    try:
        consumer.commit(offsets=[place], asynchronous=False)
    except KafkaException as error:
        if error.args[0].code() not in _LOADING:
            raise
        return False
    return True


def alter(bootstrap: str, topic: str, name: str, value: str) -> None:
    """Set one setting of a topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)
