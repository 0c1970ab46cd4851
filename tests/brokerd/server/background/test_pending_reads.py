"""Threads that read ahead: for who still waits, and with nothing held afterwards."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from brokerd.server.background.pending_reads import PendingReads


class PendingRead:
    """Counts what is done to it; its bytes may be unreadable."""

    def __init__(self, error: OSError | None = None) -> None:
        self.loaded = self.released = 0
        self.subject: object | None = None
        self._error = error

    def load(self) -> None:
        self.loaded += 1
        if self._error is not None:
            raise self._error

    def release(self) -> None:
        self.released += 1


@pytest.fixture
async def reads() -> AsyncIterator[PendingReads]:
    one = PendingReads()
    yield one
    await one.stop()


async def test_all_pending_reads_are_loaded_and_released_though_one_fails(
    reads: PendingReads,
) -> None:
    pending = [PendingRead(OSError(5, "Input/output error")), PendingRead()]
    await reads.load(pending, lambda: True)
    assert [(each.loaded, each.released) for each in pending] == [(1, 1), (1, 1)]


async def test_nothing_is_read_for_who_has_gone_and_all_is_released(reads: PendingReads) -> None:
    pending = [PendingRead(), PendingRead(), PendingRead()]
    await reads.load(pending, lambda: not pending[0].loaded)  # gone after the first
    assert [(each.loaded, each.released) for each in pending] == [(1, 1), (0, 1), (0, 1)]


async def test_who_wait_for_the_same_wait_for_one_reading(reads: PendingReads) -> None:
    pending = [PendingRead(), PendingRead(), PendingRead()]
    for each in pending:
        each.subject = "one log"
    gone = asyncio.ensure_future(reads.load(pending[:1], lambda: False))
    waiting = [asyncio.ensure_future(reads.load([each], lambda: False)) for each in pending[1:]]
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(*waiting)
    assert [(each.loaded, each.released) for each in pending] == [(1, 1), (0, 1), (0, 1)]
    await reads.load([later := pending[1]], lambda: True)
    assert (later.loaded, later.released) == (1, 2)


async def test_a_client_has_one_thing_read_at_a_time_and_others_do_not_wait_for_it(
    reads: PendingReads,
) -> None:
    first, second, of_another = PendingRead(), PendingRead(), PendingRead()
    reading = asyncio.ensure_future(reads.load_for("one", [first], lambda: True))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(reads.load_for("one", [second], lambda: True))
    assert await reads.load_for("another", [of_another], lambda: True)
    assert await asyncio.gather(reading, waiting) == [True, False]
    pending = (first, second, of_another)
    assert [(each.loaded, each.released) for each in pending] == [(1, 1), (0, 1), (1, 1)]
    assert await reads.load_for("one", [second], lambda: True)
    assert second.loaded == 1


async def test_who_waits_for_a_request_that_is_given_up_goes_on(reads: PendingReads) -> None:
    given_up = asyncio.ensure_future(reads.load_for("one", [PendingRead()], lambda: True))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(reads.load_for("one", [PendingRead()], lambda: True))
    await asyncio.sleep(0)
    given_up.cancel()
    assert not await waiting
