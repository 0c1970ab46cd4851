import struct

import pytest

from brokerd.protocol.compression import Codec
from brokerd.protocol.records import CONTROL, TRANSACTIONAL, Record, encode_batch
from monitoring.gateway.wire.batches import AbortedTransaction, batches_before, committed_batches


def batch(offset: int, *values: bytes, **more: int) -> bytes:
    return bytes(
        encode_batch([Record(0, 1000, b"k", v) for v in values], base_offset=offset, **more)
    )


def marker(offset: int, producer_id: int, *, is_commit: bool) -> bytes:
    key = struct.pack(">hh", 0, int(is_commit))
    record = Record(0, 1000, key, bytes(6))
    flags = CONTROL | TRANSACTIONAL
    return bytes(
        encode_batch([record], base_offset=offset, producer_id=producer_id, attributes=flags)
    )


def offsets(data: bytes, *aborted: AbortedTransaction) -> list[int]:
    found = committed_batches(memoryview(data), aborted)
    return [each.header.base_offset for each in found]


def test_a_batch_that_is_cut_off_is_left_out():
    data = batch(0, b"a", b"b") + batch(2, b"c")[:-1]
    assert offsets(data) == [0]


def test_records_of_any_codec_are_decompressed():
    for codec in Codec:
        (found,) = committed_batches(memoryview(batch(0, b"a" * 500, codec=codec)), ())
        assert b"a" * 500 in found.records()


def test_records_of_an_aborted_transaction_and_all_markers_are_left_out():
    transactional = {"producer_id": 7, "attributes": TRANSACTIONAL}
    data = b"".join(
        (
            batch(0, b"aborted", **transactional),
            batch(1, b"of another"),
            marker(2, 7, is_commit=False),
            batch(3, b"committed", **transactional),
            marker(4, 7, is_commit=True),
        )
    )
    assert offsets(data, AbortedTransaction(7, 0)) == [1, 3]


def test_batches_behind_the_end_are_cut_away():
    first, second = batch(0, b"a", b"b"), batch(2, b"c")
    assert batches_before(memoryview(first + second), 2) == (first, 2)
    assert batches_before(memoryview(first + second), 3) == (first + second, 3)
    assert batches_before(memoryview(first), 0) == (b"", None)
    assert batches_before(memoryview(b""), 9) == (b"", None)


def test_older_formats_are_an_error():
    data = bytearray(batch(0, b"a"))
    data[16] = 1
    with pytest.raises(ValueError, match="format 1"):
        batches_before(memoryview(bytes(data)), 9)
