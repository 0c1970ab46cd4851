"""Apache Kafka's own consumer, which fetches by topic ids and in sessions."""

from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import Brokerd
from tests.support.kafka_tools import kafka

RECORDS = 500


@pytest.mark.kafka
@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_the_java_consumer_reads_every_record_of_many_partitions(
    broker: Brokerd, new_name: Callable[[str], str], isolation: str
) -> None:
    topic = new_name("java")
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, 6, 1)])[topic].result(30)
    producer = Producer({"bootstrap.servers": broker.address})
    for number in range(RECORDS):
        producer.produce(topic, str(number), partition=number % 6)
    assert producer.flush(30) == 0
    said = kafka(
        "console-consumer", "--bootstrap-server", broker.address, "--topic", topic,
        "--from-beginning", "--max-messages", str(RECORDS), "--isolation-level", isolation,
        "--timeout-ms", "30000", "--consumer-property", "max.partition.fetch.bytes=400",
    )  # fmt: skip
    assert sorted(map(int, said.out.split())) == list(range(RECORDS)), said.err
