"""Producer ids for a broker's clients (Kafka's ProducerIdManager), claimed in blocks from
`/latest_producer_id_block` by writing over the version that was read. After a lost connection the
outcome is unknown and the block is given up, and so is what is left of a block at a restart.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from kazoo.exceptions import BadVersionError

from brokerd.cluster.admin.api_errors import unreachable
from brokerd.cluster.zookeeper import paths, zk_data
from brokerd.cluster.zookeeper.zk_data import ProducerIdBlock
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, ZooKeeper
from brokerd.errors import ErrorCode, KafkaError

BLOCK_SIZE = 1_000
LAST_ID_MAX = 2**63 - 1


async def claim_block(zookeeper: ZooKeeper, broker_id: int) -> ProducerIdBlock:
    """The next block. Raises KafkaError: retriable while ZooKeeper is away."""
    try:
        while True:
            node = await zookeeper.get(paths.PRODUCER_ID_BLOCK)
            if node is None:
                await zookeeper.ensure(paths.PRODUCER_ID_BLOCK)
                continue
            held = zk_data.decode_producer_id_block(node[0])
            first = held.last + 1 if held else 0
            if first > LAST_ID_MAX - BLOCK_SIZE:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "the producer ids are used up")
            block = ProducerIdBlock(broker_id=broker_id, first=first, last=first + BLOCK_SIZE - 1)
            try:
                data = zk_data.encode_producer_id_block(block)
                await zookeeper.set(paths.PRODUCER_ID_BLOCK, data, node[1].version)
            except BadVersionError:
                continue
            return block
    except DISCONNECTED as error:
        raise unreachable(error) from error


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
