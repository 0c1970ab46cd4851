"""What administrators ask through real clients: librdkafka's and kafka-python's admin."""

from collections.abc import Callable

import pytest
from confluent_kafka import ElectionType, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)
from kafka import KafkaAdminClient
from kafka import TopicPartition as Partition

from tests.support.brokerd import Brokerd

TIMEOUT_S = 20

Names = Callable[[str], str]


@pytest.fixture
def admin(broker: Brokerd) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.address})


@pytest.fixture
def topic(broker: Brokerd, admin: AdminClient, new_name: Names) -> str:
    """A topic of one partition with ten records."""
    name = new_name("administered")
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(TIMEOUT_S)
    producer = Producer({"bootstrap.servers": broker.address})
    for number in range(10):
        producer.produce(name, str(number).encode(), partition=0)
    assert producer.flush(TIMEOUT_S) == 0
    return name


def earliest(admin: AdminClient, topic: str) -> int:
    partition = TopicPartition(topic, 0)
    found = admin.list_offsets({partition: OffsetSpec.earliest()})[partition]
    return int(found.result(TIMEOUT_S).offset)


def test_librdkafka_deletes_records(admin: AdminClient, topic: str) -> None:
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 4)]).values()
    assert deleted.result(TIMEOUT_S).low_watermark == 4
    assert earliest(admin, topic) == 4
    (refused,) = admin.delete_records([TopicPartition(topic, 0, 11)]).values()
    with pytest.raises(KafkaException) as caught:
        refused.result(TIMEOUT_S)
    assert caught.value.args[0].code() == KafkaError.OFFSET_OUT_OF_RANGE


def test_librdkafka_elects_leaders(admin: AdminClient, topic: str) -> None:
    partition = TopicPartition(topic, 0)
    for kind in (ElectionType.PREFERRED, ElectionType.UNCLEAN):
        answer = admin.elect_leaders(kind, [partition]).result(TIMEOUT_S)
        assert answer[partition].code() == KafkaError.ELECTION_NOT_NEEDED


def test_librdkafka_is_told_that_there_are_no_acls_and_credentials(admin: AdminClient) -> None:
    binding = AclBinding(
        ResourceType.TOPIC, "t", ResourcePatternType.LITERAL, "User:ada", "*",
        AclOperation.READ, AclPermissionType.ALLOW,
    )  # fmt: skip
    with pytest.raises(KafkaException) as caught:
        admin.create_acls([binding])[binding].result(TIMEOUT_S)
    assert caught.value.args[0].code() == KafkaError.SECURITY_DISABLED
    assert admin.describe_user_scram_credentials().result(TIMEOUT_S) == {}


def test_kafka_python_deletes_records_and_sees_no_reassignments(
    broker: Brokerd, admin: AdminClient, topic: str
) -> None:
    client = KafkaAdminClient(bootstrap_servers=broker.address)
    try:
        deleted = client.delete_records({Partition(topic, 0): 3})
        assert deleted[Partition(topic, 0)]["low_watermark"] == 3
        assert not client.list_partition_reassignments()
    finally:
        client.close()
    assert earliest(admin, topic) == 3
