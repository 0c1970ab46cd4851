"""kafka-python, aiokafka and kcat: produce, consume, groups and admin calls of each."""

import shutil
import subprocess
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioTopicPartition
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.admin import NewTopic as KafkaPythonTopic

from tests.support.brokerd import Brokerd

TIMEOUT_S = 20
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
KAFKA_PYTHON_CODECS = [None, "gzip", "zstd"]
"""The others need libraries that nothing else of ours uses."""

Names = Callable[[str], str]


@pytest.mark.parametrize("codec", KAFKA_PYTHON_CODECS)
def test_kafka_python_reads_what_it_wrote(
    broker: Brokerd, new_name: Names, codec: str | None
) -> None:
    topic = new_name("kp")
    producer = KafkaProducer(bootstrap_servers=broker.address, compression_type=codec, acks="all")
    try:
        sent = [
            producer.send(topic, value, key=b"k", partition=0, headers=[("h", b"v")])
            for value in (f"{number}".encode() for number in range(100))
        ]
        assert [future.get(TIMEOUT_S).offset for future in sent] == list(range(100))
    finally:
        producer.close()
    consumer = KafkaConsumer(bootstrap_servers=broker.address, consumer_timeout_ms=10_000)
    try:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        found = [next(consumer) for _ in range(100)]
        assert [int(record.value) for record in found] == list(range(100))
        assert found[0].key == b"k"
        assert list(found[0].headers) == [("h", b"v")]
        assert consumer.end_offsets([partition]) == {partition: 100}
        assert consumer.beginning_offsets([partition]) == {partition: 0}
    finally:
        consumer.close()


def test_kafka_python_consumes_in_a_group_and_goes_on_where_it_stopped(
    broker: Brokerd, new_name: Names
) -> None:
    topic, group = new_name("kp"), new_name("group")
    producer = KafkaProducer(bootstrap_servers=broker.address)
    try:
        for number in range(10):
            producer.send(topic, str(number).encode(), partition=0).get(TIMEOUT_S)
    finally:
        producer.close()

    def read(count: int) -> list[int]:
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=broker.address,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            consumer_timeout_ms=15_000,
            max_poll_records=count,
        )
        try:
            found = [int(next(consumer).value) for _ in range(count)]
            consumer.commit()
            return found
        finally:
            consumer.close()

    assert read(4) == [0, 1, 2, 3]
    assert read(6) == [4, 5, 6, 7, 8, 9]


def test_kafka_python_creates_describes_and_deletes_a_topic(
    broker: Brokerd, new_name: Names
) -> None:
    topic = new_name("admin")
    admin = KafkaAdminClient(bootstrap_servers=broker.address)
    try:
        admin.create_topics([KafkaPythonTopic(topic, num_partitions=3, replication_factor=1)])
        described = admin.describe_topics([topic])[0]
        assert len(described["partitions"]) == 3
        admin.delete_topics([topic])
        assert topic not in admin.list_topics()
    finally:
        admin.close()


@pytest.mark.parametrize("codec", CODECS)
async def test_aiokafka_reads_what_it_wrote(
    broker: Brokerd, new_name: Names, codec: str | None
) -> None:
    topic = new_name("aio")
    async with AIOKafkaProducer(
        bootstrap_servers=broker.address, compression_type=codec, enable_idempotence=True
    ) as producer:
        for number in range(50):
            sent = await producer.send_and_wait(
                topic, str(number).encode(), partition=0, headers=[("h", b"v")]
            )
        assert sent.offset == 49
    async with AIOKafkaConsumer(
        bootstrap_servers=broker.address, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([AioTopicPartition(topic, 0)])
        found = [await consumer.getone() for _ in range(50)]
    assert [int(record.value) for record in found] == list(range(50))
    assert found[0].headers == (("h", b"v"),)


async def test_aiokafka_consumes_in_a_group(broker: Brokerd, new_name: Names) -> None:
    topic, group = new_name("aio"), new_name("group")
    async with AIOKafkaProducer(bootstrap_servers=broker.address) as producer:
        for number in range(6):
            await producer.send_and_wait(topic, str(number).encode(), partition=number % 2)
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=broker.address, group_id=group, auto_offset_reset="earliest"
    ) as consumer:
        found = [int((await consumer.getone()).value) for _ in range(6)]
        await consumer.commit()
        committed = [await consumer.committed(AioTopicPartition(topic, each)) for each in (0, 1)]
    assert sorted(found) == list(range(6))
    assert committed == [3, 3]


def kcat(broker: Brokerd, *arguments: str, stdin: str = "") -> str:
    """kcat's standard output; its errors fail the test."""
    done = subprocess.run(
        ["kcat", "-b", broker.address, *arguments],
        input=stdin, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_kcat_lists_produces_consumes_and_queries(broker: Brokerd, new_name: Names) -> None:
    topic = new_name("kcat")
    lines = "".join(f"key{number}:value{number}\n" for number in range(20))
    kcat(broker, "-P", "-t", topic, "-p", "0", "-K", ":", "-z", "snappy", stdin=lines)
    read = kcat(broker, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q", "-K", ":")
    assert read == lines
    assert f'topic "{topic}" with 2 partitions' in kcat(broker, "-L", "-t", topic)
    assert "offset 20" in kcat(broker, "-Q", "-t", f"{topic}:0:-1")


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_kcat_consumes_in_a_group(broker: Brokerd, new_name: Names) -> None:
    topic, group = new_name("kcat"), new_name("group")
    kcat(broker, "-P", "-t", topic, stdin="a\nb\nc\n")
    read = kcat(
        broker, "-G", group, "-q", "-c", "3", "-X", "auto.offset.reset=earliest", topic
    )  # fmt: skip
    assert sorted(read.split()) == ["a", "b", "c"]
