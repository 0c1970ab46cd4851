"""Administration of groups: confluent-kafka's and kafka-python's clients, Apache Kafka's tool."""

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient

from tests.support.brokerd import BrokerdCluster
from tests.support.group_members import ConfluentMember
from tests.support.kafka_tools import kafka
from tests.support.zookeeper import ZooKeeper

TOPIC = "numbers"
PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    directory: Path = tmp_path_factory.mktemp("groups-admin")
    connect = zookeeper.connect("/groups-admin")
    with BrokerdCluster.started(directory, connect, brokers=2) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        for value in range(40):
            producer.produce(TOPIC, str(value), partition=value % PARTITIONS)
        assert producer.flush(30) == 0
        yield cluster


@pytest.fixture
def bootstrap(cluster: BrokerdCluster) -> str:
    return cluster.bootstrap_servers


@pytest.fixture
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def group() -> str:
    return f"g-{uuid4().hex[:8]}"


def commit(bootstrap: str, group: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    wanted = [TopicPartition(TOPIC, index, offset) for index in range(PARTITIONS)]
    consumer.commit(offsets=wanted, asynchronous=False)
    consumer.close()


def offsets(admin: AdminClient, group: str) -> dict[int, int]:
    """All that the group committed, without naming a partition."""
    asked = [ConsumerGroupTopicPartitions(group)]
    found = admin.list_consumer_group_offsets(asked)[group].result(30)
    return {each.partition: each.offset for each in found.topic_partitions}


def test_a_live_group_is_listed_and_described(
    bootstrap: str, admin: AdminClient, group: str
) -> None:
    with ConfluentMember(bootstrap, group, TOPIC, **{"client.id": "reader"}) as member:
        member.owns(PARTITIONS)
        listing = admin.list_consumer_groups(states={ConsumerGroupState.STABLE}).result(30)
        assert listing.errors == []
        found = {each.group_id: each.state for each in listing.valid}
        assert found[group] is ConsumerGroupState.STABLE
        described = admin.describe_consumer_groups([group])[group].result(30)
        assert described.state is ConsumerGroupState.STABLE
        assert described.partition_assignor in ("range", "roundrobin")
        one = described.members[0]
        assert one.client_id == "reader"
        assert one.host == "/127.0.0.1"
        assigned = {each.partition for each in one.assignment.topic_partitions}
        assert assigned == {0, 1, 2, 3}


def test_offsets_are_read_moved_and_deleted_with_their_group(
    bootstrap: str, admin: AdminClient, group: str
) -> None:
    commit(bootstrap, group, 5)
    assert offsets(admin, group) == dict.fromkeys(range(PARTITIONS), 5)
    moved = ConsumerGroupTopicPartitions(group, [TopicPartition(TOPIC, 1, 9)])
    admin.alter_consumer_group_offsets([moved])[group].result(30)
    assert offsets(admin, group) == {0: 5, 1: 9, 2: 5, 3: 5}
    admin.delete_consumer_groups([group])[group].result(30)
    with pytest.raises(KafkaException, match="GROUP_ID_NOT_FOUND"):
        admin.delete_consumer_groups([group])[group].result(30)


def test_a_group_with_members_is_not_deleted_and_its_offsets_not_moved(
    bootstrap: str, admin: AdminClient, group: str
) -> None:
    with ConfluentMember(bootstrap, group, TOPIC) as member:
        member.owns(PARTITIONS)
        with pytest.raises(KafkaException, match="NON_EMPTY_GROUP"):
            admin.delete_consumer_groups([group])[group].result(30)
        moved = ConsumerGroupTopicPartitions(group, [TopicPartition(TOPIC, 1, 9)])
        refused = admin.alter_consumer_group_offsets([moved])[group].result(30)
        assert refused.topic_partitions[0].error.code() == KafkaError.UNKNOWN_MEMBER_ID


def test_kafka_python_administers_groups(bootstrap: str, group: str) -> None:
    commit(bootstrap, group, 5)
    client = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        assert group in str(client.list_groups())
        assert "Empty" in str(client.describe_groups([group]))
        assert "5" in str(client.list_group_offsets([group]))
        client.delete_groups([group])
        assert group not in str(client.list_groups())
    finally:
        client.close()


def consumer_groups(bootstrap: str, *arguments: str) -> str:
    said = kafka("consumer-groups", "--bootstrap-server", bootstrap, *arguments)
    assert said.code == 0, said.out + said.err
    return said.out


@pytest.mark.kafka
def test_the_tool_of_apache_kafka_shows_and_resets_groups(bootstrap: str, group: str) -> None:
    with ConfluentMember(bootstrap, group, TOPIC) as member:
        member.got(40)
        described = consumer_groups(bootstrap, "--describe", "--group", group)
        rows = [line.split() for line in described.splitlines() if line.startswith(group)]
        assert [row[2] for row in sorted(rows)] == ["0", "1", "2", "3"]
        assert all(row[4] == "10" and "/127.0.0.1" in row for row in rows)
    reset = consumer_groups(
        bootstrap, "--reset-offsets", "--group", group, "--topic", TOPIC, "--to-offset", "3",
        "--execute",
    )  # fmt: skip
    assert re.findall(rf"{group}\s+{TOPIC}\s+\d\s+(\d+)", reset) == ["3"] * 4


@pytest.mark.kafka
def test_the_tool_of_apache_kafka_deletes_offsets_and_groups(bootstrap: str, group: str) -> None:
    commit(bootstrap, group, 5)
    arguments = ("--delete-offsets", "--group", group, "--topic", f"{TOPIC}:0,1")
    assert consumer_groups(bootstrap, *arguments).count("Successful") == 2
    consumer_groups(bootstrap, "--delete", "--group", group)
    assert group not in consumer_groups(bootstrap, "--list")
