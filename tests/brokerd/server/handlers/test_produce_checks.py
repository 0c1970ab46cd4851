"""What is opened before it is appended, and what is refused then."""

from dataclasses import replace

import pytest

from brokerd.clock import ManualClock
from brokerd.config import BrokerConfig, parse
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_config import LogConfig
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import HEADER_BYTES, Record, encode_batch, write_crc
from brokerd.server.handlers.produce_checks import check

BASE = "broker.id=1\nzookeeper.connect=z\nlog.dirs=/a\n"
HEADER_ONLY = parse(BASE)
ALL = parse(BASE, {"brokerd.validate.records": "all"})
DELETED, COMPACTED = LogConfig(), LogConfig(cleanup_policy=("compact",))
TWO = [Record(0, 1, b"k", b"v"), Record(0, 2, b"k", b"v")]
CLOCK = ManualClock()
NOW_MS = CLOCK.now_ms()
OFFSET_DELTA_AT = HEADER_BYTES + 3


def garbage(codec: Codec) -> bytearray:
    """A batch with a right header and a right CRC around bytes that are no records."""
    batch = encode_batch(TWO, codec=codec)
    batch[HEADER_BYTES:] = b"\xff" * (len(batch) - HEADER_BYTES)
    write_crc(batch)
    return batch


def misnumbered() -> bytearray:
    batch = encode_batch(TWO)
    batch[OFFSET_DELTA_AT] = 2
    write_crc(batch)
    return batch


def refusal(batch: bytearray, broker: BrokerConfig, log: LogConfig) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        check(memoryview(batch), broker, log, CLOCK)
    return caught.value.code


@pytest.mark.parametrize(("broker", "log"), [(HEADER_ONLY, COMPACTED), (ALL, DELETED)])
@pytest.mark.parametrize(
    "batch", [misnumbered(), *(garbage(codec) for codec in Codec)], ids=lambda _: ""
)
def test_garbage_with_a_right_crc_is_refused_where_batches_are_opened(
    batch: bytearray, broker: BrokerConfig, log: LogConfig
) -> None:
    assert refusal(batch, broker, log) in (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE)
    check(memoryview(encode_batch(TWO)), broker, log, CLOCK)


def test_elsewhere_the_header_alone_is_looked_at() -> None:
    check(memoryview(garbage(Codec.NONE)), HEADER_ONLY, DELETED, CLOCK)


def test_a_record_without_a_key_is_refused_on_a_compacted_topic_only() -> None:
    batch = encode_batch([Record(0, 1, None, b"v")])
    assert refusal(batch, HEADER_ONLY, COMPACTED) is ErrorCode.INVALID_RECORD
    check(memoryview(batch), ALL, DELETED, CLOCK)


def batch_at(first_ms: int, last_ms: int) -> bytearray:
    return encode_batch([Record(0, first_ms, b"k", b"v"), Record(0, last_ms, b"k", b"v")])


LIMITED = LogConfig(message_timestamp_before_max_ms=60_000, message_timestamp_after_max_ms=1000)


@pytest.mark.parametrize(
    ("first_ms", "last_ms"), [(NOW_MS - 60_001, NOW_MS), (NOW_MS, NOW_MS + 1001)]
)
def test_a_timestamp_too_far_from_now_is_refused_where_the_topic_says_so(
    first_ms: int, last_ms: int
) -> None:
    batch = batch_at(first_ms, last_ms)
    assert refusal(batch, HEADER_ONLY, LIMITED) is ErrorCode.INVALID_TIMESTAMP
    check(memoryview(batch), HEADER_ONLY, DELETED, CLOCK)
    stamped = replace(LIMITED, message_timestamp_type="LogAppendTime")
    check(memoryview(batch), HEADER_ONLY, stamped, CLOCK)


@pytest.mark.parametrize("at_ms", [NOW_MS - 60_000, NOW_MS, NOW_MS + 1000, -1])
def test_a_timestamp_within_the_limits_or_none_passes(at_ms: int) -> None:
    check(memoryview(batch_at(at_ms, at_ms)), HEADER_ONLY, LIMITED, CLOCK)
