"""Producer ids come from blocks and are never given twice."""

import pytest

from brokerd.coordinator.transaction.producer_ids import ProducerIds


def test_a_new_one_has_none() -> None:
    assert ProducerIds().take() is None


def test_a_block_is_handed_out_to_its_last_id() -> None:
    ids = ProducerIds()
    ids.refill(1000, 1002)
    assert [ids.take() for _ in range(4)] == [1000, 1001, 1002, None]
    assert ids.left == 0


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4)])
def test_a_block_that_is_none_is_refused(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="no block"):
        ProducerIds().refill(first, last)
