"""Producer ids for this broker's clients, out of the block that the cluster gave it."""

import asyncio

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.coordinator.transaction.producer_ids import ProducerIds


class ProducerIdSource:
    """Takes ids from the broker's block; claims the next block when it is used up."""

    def __init__(self, cluster: BrokerLifecycle) -> None:
        self._cluster = cluster
        self._ids = ProducerIds()
        self._claiming = asyncio.Lock()

    async def next_id(self) -> int:
        """A producer id that was never given out. Raises KafkaError if no block can be claimed."""
        async with self._claiming:
            taken = self._ids.take()
            if taken is None:
                self._ids.refill(*await self._cluster.next_producer_id_block())
                taken = self._ids.take()
            assert taken is not None
            return taken
