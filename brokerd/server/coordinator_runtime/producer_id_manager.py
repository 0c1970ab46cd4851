"""Producer ids for this broker's clients, out of the block that the cluster gave it (Kafka's
ProducerIdManager). What is left of a block at a restart is lost.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator


class ProducerIdManager:
    """Hands ids out one by one; `claim` gives the next block, both ends included."""

    def __init__(self, claim: Callable[[], Awaitable[tuple[int, int]]]) -> None:
        self._claim = claim
        self._left: Iterator[int] = iter(())
        self._claiming = asyncio.Lock()

    async def next_id(self) -> int:
        """A producer id that was never given out. Raises KafkaError if no block can be claimed."""
        async with self._claiming:
            taken = next(self._left, None)
            if taken is None:
                first, last = await self._claim()
                if not 0 <= first <= last:
                    raise ValueError(f"no block of producer ids: {first} to {last}")
                self._left = iter(range(first, last + 1))
                taken = next(self._left)
            return taken
