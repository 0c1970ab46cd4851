import pytest

from brokerd.protocol.compression import Codec
from brokerd.protocol.records import HEADER_BYTES, Record, encode_batch
from monitoring.gateway.log_directory.batch_scan import (
    is_crc_ok,
    sample_compression,
    walk_headers,
)


def batch(base_offset: int, value: bytes, codec: int = Codec.NONE) -> bytes:
    return bytes(
        encode_batch([Record(0, 5000, b"key", value)], base_offset=base_offset, codec=codec)
    )


def reading(data: bytes):
    return lambda position, size: data[position : position + size]


def walked(data: bytes) -> list[tuple[int, int]]:
    return [(at, header.base_offset) for at, header in walk_headers(reading(data), 0, len(data))]


def test_batches_are_walked_in_their_order():
    first, second = batch(0, b"x" * 20_000), batch(1, b"y")
    assert walked(first + second) == [(0, 0), (len(first), 1)]


@pytest.mark.parametrize(
    "rest", [batch(1, b"y")[:-1], b"\0" * 1000, b"\xff" * 1000, batch(1, b"y")[: HEADER_BYTES - 1]]
)
def test_the_walk_ends_where_no_whole_batch_starts(rest):
    assert walked(batch(0, b"x") + rest) == [(0, 0)]


def test_a_damaged_batch_has_a_wrong_crc():
    good = batch(0, b"x" * (3 << 20))
    bad = good[:-1] + b"z"
    [(at, header)] = walk_headers(reading(good), 0, len(good))
    assert is_crc_ok(reading(good), at, header)
    assert not is_crc_ok(reading(bad), at, header)
    assert not is_crc_ok(reading(good[:-1]), at, header)


@pytest.mark.parametrize("codec", list(Codec))
def test_the_compression_of_the_first_batches_is_sampled(codec):
    data = b"".join(batch(offset, b"x" * 5000, codec) for offset in range(20))
    plain = b"".join(batch(offset, b"x" * 5000) for offset in range(8))
    assert sample_compression(reading(data), len(data)) == {
        "codecs": [codec.name.lower()],
        "batches": 8,
        "size_bytes": len(data) * 8 // 20,
        "uncompressed_bytes": len(plain),
    }


def test_a_batch_that_cannot_be_decompressed_has_only_its_codec_in_the_sample():
    stored = bytearray(batch(0, b"x" * 5000, Codec.ZSTD))
    stored[HEADER_BYTES:] = b"\xff" * (len(stored) - HEADER_BYTES)
    sample = sample_compression(reading(bytes(stored)), len(stored))
    assert (sample["codecs"], sample["batches"]) == (["zstd"], 0)
