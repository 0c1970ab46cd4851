"""Producer ids for this broker's clients, out of the block that the cluster gave it. What is left
of a block at a restart is lost."""

import asyncio
from collections.abc import Iterator

from brokerd.cluster.broker_lifecycle import BrokerLifecycle


class ProducerIdSource:
    """Takes ids from the broker's block; claims the next block when it is used up."""

    def __init__(self, cluster: BrokerLifecycle) -> None:
        self._cluster = cluster
        self._left: Iterator[int] = iter(())
        self._claiming = asyncio.Lock()

    async def next_id(self) -> int:
        """A producer id that was never given out. Raises KafkaError if no block can be claimed."""
        async with self._claiming:
            taken = next(self._left, None)
            if taken is None:
                first, last = await self._cluster.next_producer_id_block()
                if not 0 <= first <= last:
                    raise ValueError(f"no block of producer ids: {first} to {last}")
                self._left = iter(range(first, last + 1))
                taken = next(self._left)
            return taken
