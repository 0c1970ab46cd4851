"""Waits, with a timeout, until the image or the controller has reached a state."""

import asyncio
from collections.abc import Callable
from contextlib import suppress


class ClusterStateWait:
    """`notify` is called after every change, by BrokerLifecycle once the parts have applied it and
    by the controller; it sets `changed`, and puts another in its place."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()

    def notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def until(self, reached: Callable[[], bool], timeout_s: float) -> bool:
        """Waits until the condition is true; returns whether it became so in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while not reached():
                    await self.changed.wait()
        return reached()
