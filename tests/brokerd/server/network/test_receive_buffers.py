"""Loans of frame buffers."""

from brokerd.server.network.receive_buffers import (
    KEPT_BYTES_MAX,
    KEPT_MAX,
    ROUND_BYTES,
    ReceiveBuffers,
)


def _nobody() -> None:
    """Nobody waits for memory."""


def test_a_buffer_that_came_back_is_lent_again() -> None:
    buffers = ReceiveBuffers(1 << 20, _nobody)
    first = buffers.borrow(100_000)
    assert len(first) == 2 * ROUND_BYTES
    buffers.give_back(first)
    assert buffers.borrow(70_000) is first


def test_loans_are_counted_until_they_end() -> None:
    buffers = ReceiveBuffers(3 * ROUND_BYTES, _nobody)
    loans = [buffers.borrow(ROUND_BYTES) for _ in range(3)]
    assert buffers.exhausted
    buffers.give_back(loans.pop())
    assert not buffers.exhausted
    assert buffers.held_bytes == 2 * ROUND_BYTES


def test_few_and_no_large_buffers_are_kept() -> None:
    buffers = ReceiveBuffers(1 << 30, _nobody)
    large = buffers.borrow(KEPT_BYTES_MAX + 1)
    small = [buffers.borrow(10) for _ in range(KEPT_MAX + 3)]
    for loan in [large, *small]:
        buffers.give_back(loan)
    lent = [buffers.borrow(10) for _ in range(KEPT_MAX + 3)]
    assert sum(any(each is old for old in small) for each in lent) == KEPT_MAX


def test_whoever_waits_for_memory_is_told_of_every_loan_that_ends() -> None:
    told: list[bool] = []
    buffers = ReceiveBuffers(ROUND_BYTES, lambda: told.append(buffers.exhausted))
    frame = buffers.borrow(ROUND_BYTES)
    buffers.lend(100)
    buffers.give_back(frame)
    buffers.lend(ROUND_BYTES)
    buffers.repay(90)
    assert buffers.exhausted
    buffers.repay(10 + ROUND_BYTES)
    assert told == [False, True, False]
    assert buffers.held_bytes == 0
