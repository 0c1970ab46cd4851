"""The collector of cycles rests while many objects are made, and wakes again."""

import asyncio
import gc

import pytest

from brokerd import garbage_collection
from brokerd.garbage_collection import uncollected


async def test_the_collector_rests_while_anybody_makes_many_objects() -> None:
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


async def test_the_collector_wakes_in_time_however_long_that_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage_collection, "REST_MAX_S", 0.001)
    with uncollected():
        async with asyncio.timeout(10):
            while not gc.isenabled():
                await asyncio.sleep(0.001)
        with uncollected():
            assert not gc.isenabled()
        assert gc.isenabled()
    assert gc.isenabled()
