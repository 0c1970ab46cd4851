"""What is done to a batch before it is appended."""

import cramjam
import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_and_recompress import RecordWork, validate_and_recompress
from brokerd.log.log_validator.validate_records import REPORTED_MAX, RefusedRecords, Rules
from brokerd.protocol.compression import Codec, TooManyBytes
from brokerd.protocol.records import (
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    crc_matches,
    encode_batch,
    iter_records,
    read_header,
    write_crc,
)

RECORDS = [Record(i, 1_000 + i, b"k%d" % i, b"value " * i) for i in range(50)]
CODECS = list(Codec)


def work(codec: int, level: int | None = None, **more: object) -> RecordWork:
    rules = {"rules": Rules(), "is_append_time": False, "max_message_bytes": 1 << 20, **more}
    return RecordWork(codec, level, **rules)  # type: ignore[arg-type]


def with_header(codec: int = 0, **fields: int) -> bytearray:
    batch = encode_batch(RECORDS, codec=codec)
    HEADER.pack_into(batch, 0, *read_header(batch)._replace(**fields))
    write_crc(batch)
    return batch


def test_of_very_many_records_with_a_time_that_is_the_brokers_only_some_are_told() -> None:
    batch = with_header(attributes=LOG_APPEND_TIME, count=(1 << 31) - 1)
    with pytest.raises(RefusedRecords) as caught:
        validate_and_recompress(batch, work(0, is_append_time=True))
    assert len(caught.value.records) == REPORTED_MAX


def performed(batch: bytearray, todo: RecordWork) -> BatchHeader:
    """The header of the result, which must hold the same records and a right CRC."""
    done = memoryview(validate_and_recompress(batch, todo))
    header = read_header(done)
    assert header.size_bytes == len(done)
    assert crc_matches(header, done)
    assert [each[2:] for each in iter_records(header, done)] == [each[2:] for each in RECORDS]
    return header


@pytest.mark.parametrize("source", CODECS)
@pytest.mark.parametrize("target", CODECS)
def test_a_batch_is_stored_with_the_codec_of_its_topic(source: Codec, target: Codec) -> None:
    batch = encode_batch(
        RECORDS, codec=source, producer_id=7, producer_epoch=1, base_sequence=40,
        attributes=TRANSACTIONAL,
    )  # fmt: skip
    header = performed(batch, work(target))
    assert header.attributes == TRANSACTIONAL | target
    before = read_header(batch)
    assert header[6:] == before[6:]  # from the last offset delta on
    assert header.base_offset == 0


def test_a_batch_that_is_right_is_not_copied_nor_touched() -> None:
    batch = encode_batch(RECORDS, codec=Codec.LZ4)
    before = bytes(batch)
    assert validate_and_recompress(batch, work(Codec.LZ4)) is batch
    assert batch == before


@pytest.mark.parametrize(
    ("codec", "low", "high"), [(Codec.GZIP, 1, 9), (Codec.LZ4, 9, 12), (Codec.ZSTD, -50, 19)]
)
def test_a_higher_level_tries_harder(codec: Codec, low: int, high: int) -> None:
    text = b" ".join(b"%d" % (i * i % 977) for i in range(20_000))
    batch = encode_batch([Record(0, 1, None, text)])
    small, large = (
        len(validate_and_recompress(batch, work(codec, level))) for level in (high, low)
    )
    assert small < large


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
@pytest.mark.parametrize(
    "fields",
    [
        {"max_timestamp": -1},
        {"max_timestamp": 10**15},
        {"attributes": LOG_APPEND_TIME},
        {"attributes": DELETE_HORIZON},
    ],
)
def test_the_header_is_set_right_from_the_records(codec: Codec, fields: dict[str, int]) -> None:
    if "attributes" in fields:
        fields = {"attributes": fields["attributes"] | codec}
    for target in (codec, Codec.GZIP):
        header = performed(with_header(codec, **fields), work(target))
        assert header.max_timestamp == RECORDS[-1].timestamp_ms
        assert header.attributes == target


def test_a_producer_may_not_set_the_append_time_itself() -> None:
    with pytest.raises(RefusedRecords) as caught:
        validate_and_recompress(
            with_header(attributes=LOG_APPEND_TIME), work(0, is_append_time=True)
        )
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert len(caught.value.records) == len(RECORDS)


def test_a_batch_that_is_too_large_when_it_is_stored_is_refused() -> None:
    batch = encode_batch(RECORDS, codec=Codec.ZSTD)
    with pytest.raises(KafkaError) as caught:
        validate_and_recompress(batch, work(Codec.NONE, max_message_bytes=len(batch) + 100))
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])  # snappy: 20 to 1 at most
def test_a_bomb_is_refused_before_it_goes_off(codec: Codec) -> None:
    batch = encode_batch([Record(0, 1, None, bytes(65 << 20))], codec=codec)
    with pytest.raises(TooManyBytes) as caught:
        validate_and_recompress(batch, work(Codec.NONE, max_message_bytes=1 << 30))
    assert caught.value.code is ErrorCode.INVALID_RECORD


def test_what_kafkas_clients_could_not_decompress_is_refused() -> None:
    records = encode_batch(RECORDS)[HEADER_BYTES:]
    linked = bytes(cramjam.lz4.compress(records))  # its blocks depend on each other
    batch = bytearray(encode_batch(RECORDS, codec=Codec.LZ4)[:HEADER_BYTES]) + linked
    with pytest.raises(KafkaError, match="depend on each other") as caught:
        validate_and_recompress(batch, work(Codec.LZ4))
    assert caught.value.code is ErrorCode.INVALID_RECORD
