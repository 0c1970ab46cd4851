"""Long work on the event loop, a few milliseconds at a time."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

TURN_S = 0.002
AT_ONCE_MAX = 200
"""Of items that may have to read files each, as the first use of a log does, more than this are not
done in one turn of the loop."""

SWITCH_INTERVAL_S = 0.0005
"""How long the event loop may have to wait for a thread that runs Python. With Python's 5 ms one in
a hundred of its turns took 12 ms."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def expect_busy_threads() -> None:
    """From now on threads may run Python for long, as when they walk records."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


async def in_turns(items: Iterable[Item], work: Callable[[Item], object]) -> None:
    """Calls `work` with each item in order; whatever else is due on the loop comes in between."""
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + TURN_S
    for item in items:
        work(item)
        if now_s() > ends_s:
            await asyncio.sleep(0)
            ends_s = now_s() + TURN_S


async def in_turns_awaited(
    items: Iterable[Item], work: Callable[[Item], Awaitable[object]]
) -> None:
    """As `in_turns` with work that may have to wait, and often does not."""
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + TURN_S
    for item in items:
        await work(item)
        if now_s() > ends_s:
            await asyncio.sleep(0)
            ends_s = now_s() + TURN_S


def at_once_or_in_turns(
    items: Sequence[Item], work: Callable[[Item], object], result: Result
) -> Result | Awaitable[Result]:
    """Calls `work` with each item in order, which fills `result`: at once, or, of more than
    AT_ONCE_MAX items, in turns."""
    if len(items) > AT_ONCE_MAX:
        return _in_turns(items, work, result)
    for item in items:
        work(item)
    return result


async def _in_turns(
    items: Sequence[Item], work: Callable[[Item], object], result: Result
) -> Result:
    await in_turns(items, work)
    return result
