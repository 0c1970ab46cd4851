"""Long work shares the loop."""

import asyncio
import time
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from brokerd import event_loop_turns
from brokerd.event_loop_turns import TURN_S, Steps, at_once_or_in_turns, in_turns, run_steps


async def test_others_have_their_turn_before_long_work_is_done() -> None:
    order: list[object] = []

    def work(item: int) -> None:
        until_s = time.monotonic() + 2 * TURN_S
        while time.monotonic() < until_s:
            pass
        order.append(item)

    asyncio.get_running_loop().call_soon(order.append, "another")
    await in_turns([1, 2], work)
    assert order == [1, "another", 2]


async def test_what_takes_longer_than_a_turn_goes_on_in_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[int] = []
    assert at_once_or_in_turns(range(3), done.append, "result") == "result"
    assert done == [0, 1, 2]
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    rest = at_once_or_in_turns(range(3, 6), done.append, "result")
    assert isinstance(rest, Awaitable)
    assert done == [0, 1, 2, 3]
    assert await rest == "result"
    assert done == [0, 1, 2, 3, 4, 5]


async def test_steps_run_at_once_up_to_where_they_wait() -> None:
    seen: list[object] = []

    def steps(waits: bool) -> Steps[None]:
        seen.append("begun")
        if waits:
            seen.append((yield asyncio.sleep(0, "waited")))
            try:
                yield asyncio.wait_for(asyncio.sleep(60), 0)
            except TimeoutError:
                seen.append("failed")
        seen.append("done")

    rests: list[Coroutine[Any, Any, None]] = []
    run_steps(steps(False), rests.append)
    assert (seen, rests) == (["begun", "done"], [])
    run_steps(steps(True), rests.append)
    assert seen[2:] == ["begun"]
    await rests[0]
    assert seen[3:] == ["waited", "failed", "done"]
