"""Codecs: round trips, framing that Kafka's clients use, and limits."""

from contextlib import suppress

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import compression
from brokerd.protocol.compression import Codec, codec_name, compress, decompress

COMPRESSING = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]


@given(st.sampled_from(list(Codec)), st.binary(max_size=5000), st.integers(1, 40))
def test_data_comes_back(codec: Codec, data: bytes, repeat: int) -> None:
    data *= repeat
    packed = compress(codec, data)
    assert bytes(decompress(codec, memoryview(packed), len(data))) == data


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_is_refused(codec: Codec) -> None:
    packed = memoryview(compress(codec, bytes(50 << 20)))
    with pytest.raises(KafkaError, match="more than the 1000000 bytes") as caught:
        decompress(codec, packed, 1_000_000)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@given(st.sampled_from(COMPRESSING), st.binary(max_size=200))
def test_garbage_is_a_clear_error(codec: Codec, data: bytes) -> None:
    with suppress(KafkaError):
        assert len(decompress(codec, memoryview(data), 1 << 16)) <= 1 << 16


def test_snappy_without_framing_is_read_too() -> None:
    packed = bytes(cramjam.snappy.compress_raw(b"hello" * 100))
    assert bytes(decompress(Codec.SNAPPY, memoryview(packed))) == b"hello" * 100


def test_linked_lz4_blocks_are_read_too() -> None:
    packed = bytes(cramjam.lz4.compress(b"hello" * 100_000))
    assert bytes(decompress(Codec.LZ4, memoryview(packed))) == b"hello" * 100_000


def test_our_lz4_blocks_are_independent() -> None:
    assert compress(Codec.LZ4, b"hello")[4] & 0x20


def test_an_unknown_codec_is_named() -> None:
    with pytest.raises(KafkaError, match="7 is not") as caught:
        decompress(7, memoryview(b""))
    assert caught.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_a_codec_is_named_as_kafka_names_it_and_an_unknown_one_by_its_number() -> None:
    assert [codec_name(codec) for codec in (0, 4, 7)] == ["none", "zstd", "7"]


class PanicException(BaseException):
    """What the codecs' binding raises under this name, which cannot be imported."""


@pytest.mark.parametrize("raised", [PanicException, KeyboardInterrupt])
def test_a_codec_that_panics_says_that_the_data_is_damaged(
    monkeypatch: pytest.MonkeyPatch, raised: type[BaseException]
) -> None:
    def panic(data: memoryview, max_bytes: int) -> memoryview:
        raise raised("attempt to subtract with overflow")

    monkeypatch.setitem(compression._DECOMPRESSORS, Codec.LZ4, panic)
    with pytest.raises(KafkaError if raised is PanicException else raised) as caught:
        decompress(Codec.LZ4, memoryview(b"x"))
    if isinstance(caught.value, KafkaError):
        assert caught.value.code is ErrorCode.INVALID_RECORD
        assert str(caught.value) == "the lz4 data is damaged: its decoder gave up on it"
