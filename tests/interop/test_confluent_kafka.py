"""librdkafka through confluent-kafka: what it produces is what it consumes."""

from collections.abc import Callable

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import Brokerd

TIMEOUT_S = 20

Names = Callable[[str], str]


def produce(broker: Brokerd, topic: str, messages: list[dict], **settings: object) -> list[Message]:
    """Produces to partition 0 and returns the delivery reports, in order."""
    reports: list[Message] = []
    producer = Producer({"bootstrap.servers": broker.address, **settings})
    for message in messages:
        producer.produce(
            topic, partition=0, on_delivery=lambda error, m: reports.append(m), **message
        )
    assert producer.flush(TIMEOUT_S) == 0
    return reports


def consume(broker: Brokerd, topic: str, number: int, **settings: object) -> list[Message]:
    """Reads partition 0 from its start, by assignment."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": "unused",
            "enable.auto.commit": False,
            **settings,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[Message] = []
        while len(found) < number:
            batch = consumer.consume(number - len(found), TIMEOUT_S)
            assert batch, f"only {len(found)} of {number} records came"
            found += batch
        return found
    finally:
        consumer.close()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_of_every_codec_come_back_as_they_were(
    broker: Brokerd, new_name: Names, codec: str
) -> None:
    topic = new_name("codec")
    values = [f"value {number} ".encode() * 20 for number in range(500)]
    reports = produce(
        broker, topic, [{"value": value} for value in values], **{"compression.type": codec}
    )
    assert [report.error() for report in reports] == [None] * 500
    assert [report.offset() for report in reports] == list(range(500))
    found = consume(broker, topic, 500)
    assert [message.value() for message in found] == values
    assert [message.offset() for message in found] == list(range(500))


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement_stores_the_records(
    broker: Brokerd, new_name: Names, acks: str
) -> None:
    topic = new_name("acks")
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(TIMEOUT_S)
    produce(broker, topic, [{"value": b"x"}] * 50, acks=acks)
    assert len(consume(broker, topic, 50)) == 50


def test_an_idempotent_producer_gets_an_id_and_stores_each_record_once(
    broker: Brokerd, new_name: Names
) -> None:
    topic = new_name("idempotent")
    messages = [{"value": str(number).encode()} for number in range(3000)]
    settings = {"enable.idempotence": True, "batch.num.messages": 100}
    assert len(produce(broker, topic, messages, **settings)) == 3000
    found = consume(broker, topic, 3000)
    assert [int(message.value()) for message in found] == list(range(3000))


def test_headers_keys_timestamps_and_nulls_survive(broker: Brokerd, new_name: Names) -> None:
    topic = new_name("headers")
    message = {
        "key": b"k",
        "value": None,
        "headers": [("a", b"1"), ("a", None), ("é", b"\x00\xff")],
        "timestamp": 1_700_000_000_123,
    }
    produce(broker, topic, [message])
    (found,) = consume(broker, topic, 1)
    assert (found.key(), found.value()) == (b"k", None)
    assert found.headers() == [("a", b"1"), ("a", None), ("é", b"\x00\xff")]
    assert found.timestamp() == (1, 1_700_000_000_123)


def test_offsets_are_found_by_timestamp(broker: Brokerd, new_name: Names) -> None:
    topic = new_name("times")
    messages = [{"value": b"x", "timestamp": 1000 * number} for number in range(1, 11)]
    for message in messages:
        produce(broker, topic, [message])
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "unused"})
    try:
        asked = [TopicPartition(topic, 0, 3500), TopicPartition(topic, 0, 1_000_000)]
        found = [consumer.offsets_for_times([each], TIMEOUT_S)[0].offset for each in asked]
        assert found == [3, -1]
        assert consumer.get_watermark_offsets(TopicPartition(topic, 0), TIMEOUT_S) == (0, 10)
    finally:
        consumer.close()


def test_a_consumer_that_waits_is_told_of_a_record_at_once(
    broker: Brokerd, new_name: Names
) -> None:
    topic = new_name("poll")
    produce(broker, topic, [{"value": b"first"}])
    consumer = Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": "unused",
            "fetch.wait.max.ms": 10_000,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        first = consumer.poll(TIMEOUT_S)
        assert first is not None
        assert first.value() == b"first"
        produce(broker, topic, [{"value": b"second"}])
        second = consumer.poll(5)  # half of what the long poll would wait
        assert second is not None
        assert second.value() == b"second"
    finally:
        consumer.close()


def test_an_offset_out_of_range_is_said(broker: Brokerd, new_name: Names) -> None:
    topic = new_name("range")
    produce(broker, topic, [{"value": b"x"}])
    consumer = Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": "unused",
            "auto.offset.reset": "error",
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 99)])
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        assert message.error().code() == KafkaError._AUTO_OFFSET_RESET
    finally:
        consumer.close()


def test_a_record_above_the_limit_is_refused_and_the_next_one_is_taken(
    broker: Brokerd, new_name: Names
) -> None:
    topic = new_name("large")
    reports: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": broker.address, "message.max.bytes": 1_900_000})
    for size in (1_500_000, 10):
        producer.produce(topic, b"x" * size, on_delivery=lambda error, _: reports.append(error))
        assert producer.flush(TIMEOUT_S) == 0
    assert reports[0] is not None
    assert reports[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert reports[1] is None


def test_large_and_small_fetches_return_the_same_records(broker: Brokerd, new_name: Names) -> None:
    topic = new_name("sizes")
    values = [bytes([number % 251]) * 5000 for number in range(400)]
    produce(broker, topic, [{"value": value} for value in values])
    for limit in (1000, 60_000, 1_000_000):
        settings = {"fetch.message.max.bytes": limit, "fetch.max.bytes": max(limit, 1_000_000)}
        assert [each.value() for each in consume(broker, topic, 400, **settings)] == values


def test_producing_to_an_internal_topic_is_refused(broker: Brokerd) -> None:
    reports: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": broker.address, "message.timeout.ms": 10_000})
    producer.produce(
        "__consumer_offsets", b"x", partition=0, on_delivery=lambda error, _: reports.append(error)
    )
    assert producer.flush(TIMEOUT_S) == 0
    assert reports[0] is not None
    assert reports[0].code() == KafkaError.TOPIC_EXCEPTION


def test_a_transactional_producer_is_told_at_once_that_there_are_no_transactions(
    broker: Brokerd,
) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "transactional.id": "t"})
    with pytest.raises(KafkaException, match="transactions are not served yet") as refused:
        producer.init_transactions(TIMEOUT_S)
    assert refused.value.args[0].fatal()
