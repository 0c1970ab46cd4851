"""Producer ids come from blocks and are never given twice."""

import pytest

from brokerd.cluster.admin.producer_id_manager import ProducerIdManager


def source_of(*blocks: tuple[int, int]) -> ProducerIdManager:
    """One whose cluster gives these blocks, one after another."""
    left = iter(blocks)

    async def claim() -> tuple[int, int]:
        return next(left)

    return ProducerIdManager(claim)


async def test_a_block_is_handed_out_to_its_last_id() -> None:
    ids = source_of((1000, 1002), (5000, 5999))
    assert [await ids.next_id() for _ in range(4)] == [1000, 1001, 1002, 5000]


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4)])
async def test_a_block_that_is_none_is_refused(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="no block"):
        await source_of((first, last)).next_id()
