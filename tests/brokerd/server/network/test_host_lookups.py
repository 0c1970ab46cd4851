"""Names that clients wrote: however slow their name servers are, the broker's own work goes on."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from brokerd.server.network.host_lookups import HostLookups

MANY = 200


@pytest.fixture
def lookups() -> Iterator[HostLookups]:
    one = HostLookups()
    yield one
    one.close()


async def test_names_that_are_never_found_keep_no_other_thread_busy(lookups: HostLookups) -> None:
    may_answer, asked = threading.Event(), []

    def look_up(number: int) -> int:
        asked.append(number)
        assert may_answer.wait(60)
        return number

    tasks = [asyncio.ensure_future(lookups.run(look_up, number)) for number in range(MANY)]
    try:
        for _ in range(MANY):
            await asyncio.wait_for(asyncio.to_thread(int), 30)
        assert asked == [0], "one at a time"
        tasks[1].cancel()
        await asyncio.wait([tasks[1]])
    finally:
        may_answer.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert asked == [0, *range(2, MANY)], "what nobody waits for is not looked up"
    assert found[2:] == asked[1:]


async def test_what_is_not_found_is_told_to_who_asked(lookups: HostLookups) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await lookups.run(int, "x")
    assert await lookups.run(int, "7") == 7
