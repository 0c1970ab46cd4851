"""Apache Kafka's own consumer, which fetches by topic ids and in sessions."""

import subprocess
from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import Brokerd
from tests.support.group_members import ROOT

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
    done = subprocess.run(
        [
            ROOT / "bench" / "kafka.sh", "console-consumer", "--bootstrap-server", broker.address,
            "--topic", topic, "--from-beginning", "--max-messages", str(RECORDS),
            "--isolation-level", isolation, "--timeout-ms", "30000",
            "--consumer-property", "max.partition.fetch.bytes=400",
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert sorted(map(int, done.stdout.split())) == list(range(RECORDS)), done.stderr
