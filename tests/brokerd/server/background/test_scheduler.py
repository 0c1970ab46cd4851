"""Regular tasks run with the time, and one that fails does not end the others."""

import asyncio
from collections.abc import Callable

import pytest

from brokerd.metric_counters import LAG_BOUNDS_S, Histogram
from brokerd.server.background import scheduler
from brokerd.server.background.scheduler import SECOND_MS, Scheduler
from tests.support.manual_clock import ManualClock


async def test_tasks_are_called_with_the_time_and_again_after_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "INTERVAL_S", 0.005)
    monkeypatch.setattr(scheduler, "LAG_INTERVAL_S", 0.002)
    clock = ManualClock()
    seen: list[int] = []
    failures: list[int] = []

    def told(now_ms: int) -> None:
        seen.append(now_ms)

    def failing(now_ms: int) -> None:
        failures.append(now_ms)
        raise RuntimeError("disk on fire")

    lag = Histogram(LAG_BOUNDS_S)
    regular = Scheduler(clock, [(failing, SECOND_MS), (told, SECOND_MS)], lag)
    regular.start()
    async with asyncio.timeout(20):
        while len(seen) < 3 or len(failures) < 3 or lag.count < 3:
            await asyncio.sleep(0.001)
    regular.stop()
    assert set(seen) == {clock.now_ms()}
    count = len(seen)
    await asyncio.sleep(0.02)
    assert len(seen) == count


async def test_a_task_that_has_more_to_do_is_called_again_before_its_second_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "INTERVAL_S", 0.001)
    monkeypatch.setattr(scheduler, "PAUSE_S", 0.001)
    left = [1, 2, 3]
    done: list[int] = []

    def slices(now_ms: int) -> bool:
        monkeypatch.setattr(scheduler, "INTERVAL_S", 3600)
        done.append(left.pop())
        return bool(left)

    regular = Scheduler(ManualClock(), [(slices, SECOND_MS)], Histogram(LAG_BOUNDS_S))
    regular.start()
    async with asyncio.timeout(20):
        while left:
            await asyncio.sleep(0.001)
    regular.stop()
    assert done == [3, 2, 1]


async def test_a_task_with_a_shorter_interval_is_called_more_often_than_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler, "INTERVAL_S", 0.002)
    monkeypatch.setattr(scheduler, "PAUSE_S", 0.001)
    calls = {"short": 0, "none": 0, "long": 0}

    def counting(name: str) -> Callable[[int], None]:
        def count(_: int) -> None:
            monkeypatch.setattr(scheduler, "INTERVAL_S", 3600)
            calls[name] += 1

        return count

    wanted = [(counting("short"), 5), (counting("none"), 0), (counting("long"), 3_600_000)]
    regular = Scheduler(ManualClock(), wanted, Histogram(LAG_BOUNDS_S))
    regular.start()
    async with asyncio.timeout(20):
        while min(calls["short"], calls["none"]) < 5 or not calls["long"]:
            await asyncio.sleep(0.001)
    regular.stop()
    assert calls["long"] == 1
