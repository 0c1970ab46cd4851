"""Long work shares the loop."""

import asyncio
import time

from brokerd.turns import TURN_S, in_turns


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
