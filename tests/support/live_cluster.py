"""A real cluster for the tests of monitoring and console: two brokerds, started once a run.

Tests share it: each makes topics and groups of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch
from monitoring.clock import now_ms
from monitoring.gateway.gateway import Gateway
from monitoring.models import Cluster
from tests.support.brokerd import BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper


@dataclass
class LiveCluster:
    """The brokers, and the row that the console would have for them."""

    brokerd: BrokerdCluster
    zookeeper: ZooKeeper
    token: str

    def row(self, slug: str = "live", **fields: object) -> Cluster:
        """An unsaved Cluster with admin URLs and token."""
        cluster = Cluster(
            slug=slug,
            name=slug,
            bootstrap_servers=self.brokerd.bootstrap_servers,
            zookeeper_connect=self.zookeeper.connect("/live"),
            admin_urls={str(broker.id): broker.admin_url for broker in self.brokerd.brokers},
        )
        cluster.set_admin_token(self.token)
        for name, value in fields.items():
            setattr(cluster, name, value)
        return cluster

    def gateway(self) -> Gateway:
        return Gateway(self.row())

    def ask_each_broker(self) -> None:
        """Requests to each, so that all have counted some, and timed some.

        brokerd times one of 16 of an API.
        """
        for broker in self.brokerd.brokers:
            with Wire(broker.port) as wire:
                for _ in range(17):
                    wire.ask(ApiKey.API_VERSIONS, 0, {})
                    wire.ask(ApiKey.METADATA, 1, {"topics": []})

    def create_topic(self, name: str, partitions: int = 2) -> None:
        with self.gateway() as gateway:
            gateway.topics.create_topic(name, partitions, 1)

    def create_compacted_topic(self, name: str) -> list[int]:
        """A topic of one partition whose offsets have a hole of 7999; returns the offsets left."""
        configs = {
            "cleanup.policy": "compact",
            "segment.bytes": "4000",
            "min.cleanable.dirty.ratio": "0.01",
        }
        with self.gateway() as gateway:
            gateway.topics.create_topic(name, 1, 1, configs)
        producer = Producer(
            {
                "bootstrap.servers": self.brokerd.bootstrap_servers,
                "batch.size": 2000,
                "log_level": 0,
            }
        )
        for number in range(8013):
            is_kept = number < 5 or number > 8004
            # The large ones begin segments: all before the last of them is compacted.
            value = b"x" * 3000 if number in (8004, 8012) else b"%d" % number
            producer.produce(name, value, b"key-%d" % number if is_kept else b"same", partition=0)
            if number in (4, 8003, 8004, 8011):
                assert producer.flush(60) == 0
        assert producer.flush(60) == 0
        left = [*range(5), *range(8004, 8013)]
        wait_until(lambda: self._offsets(name) == left, f"{name} is compacted", deadline_s=120)
        return left

    def _offsets(self, topic: str) -> list[int]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.brokerd.bootstrap_servers,
                "group.id": "offsets",
                "enable.partition.eof": True,
                "log_level": 0,
            }
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        try:
            found = []
            while (message := consumer.poll(30)) is not None and message.error() is None:
                found.append(message.offset())
            return found
        finally:
            consumer.close()

    def produce(self, topic: str, counts: dict[int, int]) -> None:
        """Write `counts[partition]` small records."""
        self.write(
            topic,
            (
                {"value": b"value-%d" % number, "key": b"key", "partition": partition}
                for partition, count in counts.items()
                for number in range(count)
            ),
        )

    def write(self, topic: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records, each with the arguments of Producer.produce."""
        producer = Producer({"bootstrap.servers": self.brokerd.bootstrap_servers, "log_level": 0})
        for record in records:
            producer.produce(topic, **record)
        assert producer.flush(30) == 0

    def produce_zeros(self, topic: str, size_bytes: int) -> None:
        """Write one record of zeros, compressed to a thousandth, to a topic of one partition."""
        # The time is today's: the retention deletes older records at once.
        record = Record(0, now_ms(), None, bytes(size_bytes))
        batch = bytes(encode_batch([record], codec=Codec.GZIP))
        with self.gateway() as gateway:
            (leader,) = (each.leader for each in gateway.topics.describe_topic(topic).partitions)
        broker = next(each for each in self.brokerd.brokers if each.id == leader)
        data = [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}]
        with Wire(broker.port) as wire:
            answer = wire.ask(0, 7, {"acks": -1, "timeout": 30_000, "topic_data": data})
        assert answer.responses[0].partition_responses[0].error_code == 0

    def write_once(self, topic: str, partitions: int, records: Iterable[Mapping[str, Any]]) -> None:
        """Create a topic with these records, if no test of this run did before."""
        with self.gateway() as gateway:
            if gateway.wire.has_topic(topic):
                return
        self.create_topic(topic, partitions)
        self.write(topic, records)

    def commit(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        """Commit as a consumer that assigned itself, without joining the group."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.brokerd.bootstrap_servers,
                "group.id": group,
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        places = [TopicPartition(topic, p, offset) for p, offset in offsets.items()]
        consumer.commit(offsets=places, asynchronous=False)
        consumer.close()


@pytest.fixture(scope="session")
def _live_brokers(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveCluster]:
    directory = tmp_path_factory.mktemp("live-brokers")
    token = directory / "admin.token"
    with BrokerdCluster.started(
        directory,
        zookeeper.connect("/live"),
        brokers=2,
        settings={
            "brokerd.admin.token.file": str(token),
            "zookeeper.session.timeout.ms": "5000",  # for who waits until a dead broker is missed
            "log.cleaner.backoff.ms": "100",
        },
    ) as brokers:
        yield LiveCluster(brokers, zookeeper, token.read_text().strip())


@pytest.fixture
def live_cluster(_live_brokers: LiveCluster, settings) -> LiveCluster:
    """Two running brokers; a test that stops one is followed by a start of it."""
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    for broker in _live_brokers.brokerd.brokers:
        if broker.process is None:
            broker.start()
    return _live_brokers
