"""What is opened before it is appended, and what is refused then."""

from dataclasses import replace

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_and_recompress import RecordWork
from brokerd.log.log_validator.validate_messages import AT_ONCE_RECORDS, validate_messages
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import (
    HEADER,
    HEADER_BYTES,
    TRANSACTIONAL,
    Record,
    encode_batch,
    read_header,
    write_crc,
)

HEADER_ONLY, ALL = False, True
"""brokerd.validate.records"""
DELETED, COMPACTED = LogConfig(), LogConfig(cleanup_policy=("compact",))
TWO = [Record(0, 1, b"k", b"v"), Record(0, 2, b"k", b"v")]
NOW_MS = 1_700_000_000_000
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


def checked(
    batch: bytearray, validates_all: bool, log: LogConfig, version: int = 9
) -> RecordWork | None:
    return validate_messages(memoryview(batch), version, validates_all, log, "t-0", NOW_MS)


def refusal(batch: bytearray, validates_all: bool, log: LogConfig, version: int = 9) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        checked(batch, validates_all, log, version)
    return caught.value.code


@pytest.mark.parametrize(("validates_all", "log"), [(HEADER_ONLY, COMPACTED), (ALL, DELETED)])
@pytest.mark.parametrize(
    "batch", [misnumbered(), *(garbage(codec) for codec in Codec)], ids=lambda _: ""
)
def test_garbage_with_a_right_crc_is_refused_where_batches_are_opened(
    batch: bytearray, validates_all: bool, log: LogConfig
) -> None:
    assert refusal(batch, validates_all, log) in (
        ErrorCode.INVALID_RECORD,
        ErrorCode.CORRUPT_MESSAGE,
    )
    assert checked(encode_batch(TWO), validates_all, log) is None


def test_elsewhere_the_header_alone_is_looked_at() -> None:
    assert checked(garbage(Codec.NONE), HEADER_ONLY, DELETED) is None


def test_a_record_without_a_key_is_refused_on_a_compacted_topic_only() -> None:
    batch = encode_batch([Record(0, 1, None, b"v")])
    assert refusal(batch, HEADER_ONLY, COMPACTED) is ErrorCode.INVALID_RECORD
    assert checked(batch, ALL, DELETED) is None


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
    assert checked(batch, HEADER_ONLY, DELETED) is None
    stamped = replace(LIMITED, message_timestamp_type="LogAppendTime")
    assert checked(batch, HEADER_ONLY, stamped) is None


@pytest.mark.parametrize("at_ms", [NOW_MS - 60_000, NOW_MS, NOW_MS + 1000, -1])
def test_a_timestamp_within_the_limits_or_none_passes(at_ms: int) -> None:
    assert checked(batch_at(at_ms, at_ms), HEADER_ONLY, LIMITED) is None


def test_a_lying_timestamp_in_the_header_is_set_right_wherever_it_is_met() -> None:
    batch = encode_batch(TWO)
    HEADER.pack_into(batch, 0, *read_header(batch)._replace(max_timestamp=-1))
    write_crc(batch)
    assert checked(batch, HEADER_ONLY, DELETED) is None
    assert read_header(batch).max_timestamp == TWO[-1].timestamp_ms


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_is_compressed_anew_only_where_its_codec_is_not_the_topics(codec: Codec) -> None:
    lz4 = LogConfig(compression_type="lz4", compression_lz4_level=12)
    batch = encode_batch(TWO, codec=codec)
    assert checked(batch, HEADER_ONLY, LogConfig(compression_type="producer")) is None
    work = checked(batch, HEADER_ONLY, lz4)
    if codec is Codec.LZ4:
        assert work is None
    else:
        assert work is not None
        assert work[:2] == (Codec.LZ4, 12)


@pytest.mark.parametrize(
    ("codec", "value"), [(Codec.NONE, b"v"), (Codec.ZSTD, b"v"), (Codec.ZSTD, bytes(1000))]
)
def test_a_small_batch_is_opened_at_once_and_a_large_one_later(codec: Codec, value: bytes) -> None:
    small = encode_batch([Record(0, 1, b"k", b"v")] * AT_ONCE_RECORDS, codec=codec)
    large = encode_batch([Record(0, 1, b"k", value)] * (AT_ONCE_RECORDS + 1), codec=codec)
    assert checked(small, ALL, DELETED) is None
    assert checked(large, ALL, DELETED) is not None


def test_a_small_bomb_does_not_go_off_at_once() -> None:
    bomb = encode_batch([Record(0, 1, b"k", bytes(1 << 20))], codec=Codec.ZSTD)
    assert len(bomb) < 1000
    assert checked(bomb, ALL, DELETED) is not None


def test_zstd_and_transactions_are_refused_where_apache_kafka_refuses_them() -> None:
    zstd = encode_batch(TWO, codec=Codec.ZSTD)
    unsupported = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert refusal(zstd, HEADER_ONLY, DELETED, version=6) is unsupported
    assert checked(zstd, HEADER_ONLY, DELETED, version=7) is None
    unauthorized = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert refusal(encode_batch(TWO, attributes=TRANSACTIONAL), ALL, DELETED) is unauthorized
