"""InitProducerId: an id of its own for each idempotent producer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext
from brokerd.transactions.producer_ids import ProducerIds

if TYPE_CHECKING:
    from brokerd.cluster.client import ClusterClient
    from brokerd.server.broker import Broker


class ProducerIdSource:
    """Takes ids from the broker's block and claims the next block once for all who wait."""

    def __init__(self, cluster: ClusterClient) -> None:
        self._cluster = cluster
        self._ids = ProducerIds()
        self._claiming = asyncio.Lock()

    async def next_id(self) -> int:
        """A producer id that nobody has; KafkaError while the cluster cannot give a block."""
        async with self._claiming:
            taken = self._ids.take()
            if taken is None:
                self._ids.refill(*await self._cluster.next_producer_id_block())
                taken = self._ids.take()
            assert taken is not None
            return taken


async def init_producer_id(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """A fresh id with epoch 0; a transactional id is refused until transactions are served."""
    if request.transactional_id is not None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "transactions are not served yet")
    return {
        "error_code": 0,
        "producer_id": await broker.producer_ids.next_id(),
        "producer_epoch": 0,
    }


HANDLERS: dict[ApiKey, ColdHandler] = {ApiKey.INIT_PRODUCER_ID: init_producer_id}
