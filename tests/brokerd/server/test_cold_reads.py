"""Threads that read ahead: for who still waits, and with nothing held afterwards."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from brokerd.server.cold_reads import ColdReads


class Spot:
    """Counts what is done to it; its bytes may be unreadable."""

    def __init__(self, error: OSError | None = None) -> None:
        self.warmed = self.released = 0
        self.subject: object | None = None
        self._error = error

    def warm(self) -> None:
        self.warmed += 1
        if self._error is not None:
            raise self._error

    def release(self) -> None:
        self.released += 1


@pytest.fixture
async def reads() -> AsyncIterator[ColdReads]:
    one = ColdReads()
    yield one
    await one.stop()


async def test_all_spots_are_read_and_released_though_one_cannot_be(reads: ColdReads) -> None:
    spots = [Spot(OSError(5, "Input/output error")), Spot()]
    await reads.warm(spots, lambda: True)
    assert [(each.warmed, each.released) for each in spots] == [(1, 1), (1, 1)]


async def test_nothing_is_read_for_who_has_gone_and_all_is_released(reads: ColdReads) -> None:
    spots = [Spot(), Spot(), Spot()]
    await reads.warm(spots, lambda: not spots[0].warmed)  # gone after the first
    assert [(each.warmed, each.released) for each in spots] == [(1, 1), (0, 1), (0, 1)]


async def test_who_wait_for_the_same_wait_for_one_reading(reads: ColdReads) -> None:
    spots = [Spot(), Spot(), Spot()]
    for each in spots:
        each.subject = "one log"
    gone = asyncio.ensure_future(reads.warm(spots[:1], lambda: False))
    waiting = [asyncio.ensure_future(reads.warm([each], lambda: False)) for each in spots[1:]]
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(*waiting)
    assert [(each.warmed, each.released) for each in spots] == [(1, 1), (0, 1), (0, 1)]
    await reads.warm([later := spots[1]], lambda: True)
    assert (later.warmed, later.released) == (1, 2)


async def test_a_client_has_one_thing_read_at_a_time_and_others_do_not_wait_for_it(
    reads: ColdReads,
) -> None:
    first, second, of_another = Spot(), Spot(), Spot()
    reading = asyncio.ensure_future(reads.warm_for("one", [first], lambda: True))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(reads.warm_for("one", [second], lambda: True))
    assert await reads.warm_for("another", [of_another], lambda: True)
    assert await asyncio.gather(reading, waiting) == [True, False]
    spots = (first, second, of_another)
    assert [(each.warmed, each.released) for each in spots] == [(1, 1), (0, 1), (1, 1)]
    assert await reads.warm_for("one", [second], lambda: True)
    assert second.warmed == 1


async def test_who_waits_for_a_request_that_is_given_up_goes_on(reads: ColdReads) -> None:
    given_up = asyncio.ensure_future(reads.warm_for("one", [Spot()], lambda: True))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(reads.warm_for("one", [Spot()], lambda: True))
    await asyncio.sleep(0)
    given_up.cancel()
    assert not await waiting
