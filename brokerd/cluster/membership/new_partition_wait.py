"""Metadata waits until the leaders of new partitions know that they lead them.

Each broker learns of a new partition from the change feed, at its own time, and a leader that does
not know it yet refuses a Produce (with acks=0 it is lost). So Metadata waits until the leaders have
acknowledged the entry of the new partitions in `/brokerd/applied/<id>`. It waits once, for at most
TIMEOUT_S; then clients retry, as with Kafka.
"""

import asyncio
from collections.abc import Iterable

from brokerd.cluster.cluster_state_wait import ClusterStateWait
from brokerd.cluster.metadata_image import SETTLED, MetadataImage, TopicInfo
from brokerd.cluster.zookeeper import bulk_reads
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, ZooKeeper

TIMEOUT_S = 1.0


class NewPartitionWait:
    """Reads which entries other brokers have applied, only while a request names new partitions."""

    def __init__(self, zookeeper: ZooKeeper, image: MetadataImage) -> None:
        self._zookeeper = zookeeper
        self._image = image
        self._applied_changed = ClusterStateWait()

    def is_awaited(self, name: str) -> bool:
        """Whether a topic has new partitions whose leaders may not know them yet."""
        info = self._image.topics.get(name)
        return info is not None and info.announced != SETTLED

    async def wait(self, names: Iterable[str]) -> None:
        """Waits until the leaders of these topics' partitions know them, or the time is over."""
        topics = self._image.topics
        infos = [topics[name] for name in names if self.is_awaited(name)]
        if not infos:
            return
        number = max(info.announced for info in infos)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._until_applied(self._leaders(infos), number)
        except TimeoutError:
            pass
        except DISCONNECTED:
            return
        for info in infos:
            if info.announced <= number:
                info.announced = SETTLED

    def _leaders(self, infos: Iterable[TopicInfo]) -> set[int]:
        return {state.leader for info in infos for state in info.partitions.values()} & set(
            self._image.brokers
        )

    async def _until_applied(self, brokers: set[int], number: int) -> None:
        while True:
            changed, watch = self._applied_changed.changed, self._applied_changed.notify
            reads = (bulk_reads.applied(self._zookeeper, each, watch) for each in brokers)
            applied = await asyncio.gather(*reads)
            if all(each >= number for each in applied):
                return
            await changed.wait()
