"""Regular duties run with the time, and one that fails does not end the others."""

import asyncio

import pytest

from brokerd.clock import ManualClock
from brokerd.metrics import LAG_BOUNDS_S, Histogram
from brokerd.server import duties
from brokerd.server.duties import Duties


async def test_duties_are_called_with_the_time_and_again_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duties, "INTERVAL_S", 0.005)
    monkeypatch.setattr(duties, "LAG_INTERVAL_S", 0.002)
    clock = ManualClock()
    seen: list[int] = []
    failures: list[int] = []

    def failing(now_ms: int) -> None:
        failures.append(now_ms)
        raise RuntimeError("disk on fire")

    lag = Histogram(LAG_BOUNDS_S)
    regular = Duties(clock, [failing, seen.append], lag)
    regular.start()
    async with asyncio.timeout(20):
        while len(seen) < 3 or len(failures) < 3 or lag.count < 3:
            await asyncio.sleep(0.001)
    regular.stop()
    assert set(seen) == {clock.now_ms()}
    count = len(seen)
    await asyncio.sleep(0.02)
    assert len(seen) == count
