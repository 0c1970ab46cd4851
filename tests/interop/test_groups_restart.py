"""Groups and offsets over a broker's end: clean or kill -9, with members that never stopped."""

from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.group_members import ConfluentMember
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

TOPIC, GROUP = "numbers", "readers"
PARTITIONS = 4


def produce(bootstrap: str, first: int, end: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200})
    for value in range(first, end):
        producer.produce(TOPIC, str(value), partition=value % PARTITIONS)
    assert producer.flush(30) == 0


def committed(admin: AdminClient) -> dict[int, int]:
    wanted = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
    asked = [ConsumerGroupTopicPartitions(GROUP, wanted)]
    found = admin.list_consumer_group_offsets(asked, require_stable=True)[GROUP].result(30)
    return {each.partition: each.offset for each in found.topic_partitions}


@pytest.mark.parametrize("end", [Brokerd.kill, Brokerd.stop], ids=["killed", "stopped"])
def test_groups_and_offsets_survive_and_members_go_on(
    zookeeper: ZooKeeper, tmp_path: Path, end: object
) -> None:
    assert callable(end)
    name = end.__name__
    connect = zookeeper.connect(f"/groups-restart-{name}")
    with BrokerdCluster.started(tmp_path, connect, brokers=2) as cluster:
        bootstrap = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
        with ConfluentMember(bootstrap, "left", TOPIC) as gone:
            produce(bootstrap, 0, 40)
            gone.got(40)
        settings = {"session.timeout.ms": 20_000, "auto.commit.interval.ms": 50}
        with ConfluentMember(bootstrap, GROUP, TOPIC, **settings) as member:
            member.got(40)
            wait_until(
                lambda: committed(admin) == dict.fromkeys(range(PARTITIONS), 10),
                "the offsets are committed",
            )
            for broker in cluster.brokers:
                end(broker)
                broker.start()
            produce(bootstrap, 40, 80)
            member.got(80)
            assert sorted(int(r.value) for r in member.received) == list(range(80))
            # A client of its own: librdkafka's, once its coordinator was away, may leave it alone
            # for half a minute before it connects again.
            fresh = AdminClient({"bootstrap.servers": bootstrap})
            described = fresh.describe_consumer_groups([GROUP])[GROUP].result(30)
            assert [len(each.assignment.topic_partitions) for each in described.members] == [4]
        with ConfluentMember(bootstrap, "left", TOPIC) as back:
            back.got(40)
            assert sorted(int(r.value) for r in back.received) == list(range(40, 80))
