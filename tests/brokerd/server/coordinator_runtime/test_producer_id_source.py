"""Producer ids come from blocks and are never given twice."""

from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.server.coordinator_runtime.producer_id_source import ProducerIdSource


def source(*blocks: tuple[int, int]) -> tuple[ProducerIdSource, list[tuple[int, int]]]:
    """A source of ids from these blocks, and those that it has not claimed yet."""
    left = list(blocks)

    async def next_producer_id_block() -> tuple[int, int]:
        return left.pop(0)

    cluster: Any = SimpleNamespace(next_producer_id_block=next_producer_id_block)
    return ProducerIdSource(cluster), left


async def test_a_new_one_has_none_and_claims_a_block() -> None:
    ids, unclaimed = source((7, 7), (9, 9))
    assert (await ids.next_id(), unclaimed) == (7, [(9, 9)])


async def test_a_block_is_handed_out_to_its_last_id() -> None:
    ids, unclaimed = source((1000, 1002), (3000, 3999))
    assert [await ids.next_id() for _ in range(3)] == [1000, 1001, 1002]
    assert unclaimed == [(3000, 3999)]
    assert (await ids.next_id(), unclaimed) == (3000, [])


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4)])
async def test_a_block_that_is_none_is_refused(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="no block"):
        await source((first, last))[0].next_id()
