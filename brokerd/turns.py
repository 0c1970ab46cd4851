"""Long work on the event loop, a few milliseconds at a time."""

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

TURN_S = 0.002

Item = TypeVar("Item")


async def in_turns(items: Iterable[Item], work: Callable[[Item], object]) -> None:
    """Calls `work` with each item in order; whatever else is due on the loop comes in between."""
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + TURN_S
    for item in items:
        work(item)
        if now_s() > ends_s:
            await asyncio.sleep(0)
            ends_s = now_s() + TURN_S
