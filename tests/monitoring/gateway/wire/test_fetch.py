"""Which batch of a Fetch response holds an offset."""

import pytest

from monitoring.gateway.wire.fetch import batch_header_at
from tests.brokerd.log.support import batch


def stamped(base_offset: int, count: int) -> bytes:
    return base_offset.to_bytes(8, "big") + bytes(batch(count=count))[8:]


TWO = stamped(10, 3) + stamped(20, 2)


@pytest.mark.parametrize(("offset", "base"), [(10, 10), (12, 10), (20, 20), (21, 20)])
def test_the_batch_that_holds_an_offset_is_found(offset, base):
    header = batch_header_at(memoryview(TWO), offset)
    assert header is not None
    assert header.base_offset == base


@pytest.mark.parametrize("offset", [9, 15, 22])
def test_no_batch_holds_offsets_before_between_and_after(offset):
    assert batch_header_at(memoryview(TWO), offset) is None


def test_older_formats_and_cut_batches_have_no_header():
    assert batch_header_at(memoryview(TWO[:40]), 10) is None
    old = bytearray(TWO)
    old[16] = 1
    assert batch_header_at(memoryview(bytes(old)), 10) is None
    senseless = TWO[:8] + (-70).to_bytes(4, "big", signed=True) + TWO[12:]
    assert batch_header_at(memoryview(senseless), 10) is None
