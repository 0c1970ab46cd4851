"""DescribeProducers over the wire."""

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch


def describe(asking, topic: str, *indexes: int) -> list:
    fields = {"topics": [{"name": topic, "partition_indexes": indexes}]}
    return list(asking(ApiKey.DESCRIBE_PRODUCERS, 0, fields).topics[0].partitions)


def test_the_producers_of_a_partition_are_told_with_their_last_sequence(ask, led_by) -> None:
    topic = led_by("produced", 1)
    producer_id = ask(
        ApiKey.INIT_PRODUCER_ID, 4, {"transactional_id": None, "transaction_timeout": 1}
    ).producer_id
    records = [Record(0, 1_700_000_000_000 + n, None, b"v") for n in range(3)]
    data = bytes(encode_batch(records, producer_id=producer_id, producer_epoch=0, base_sequence=0))
    partition = {"index": 0, "records": data}
    fields = {"acks": -1, "timeout": 5000,
              "topic_data": [{"name": topic, "partition_data": [partition]}]}  # fmt: skip
    ask(ApiKey.PRODUCE, 8, fields)
    (found,) = describe(ask, topic, 0)
    (producer,) = found.active_producers
    assert (producer.producer_id, producer.producer_epoch) == (producer_id, 0)
    assert (producer.last_sequence, producer.last_timestamp) == (2, 1_700_000_000_002)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (-1, -1)


def test_a_partition_that_is_not_led_here_or_not_there_is_refused(ask, led_by) -> None:
    topic = led_by("produced-elsewhere", 2)
    elsewhere, unknown = describe(ask, topic, 0, 8)
    assert elsewhere.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
