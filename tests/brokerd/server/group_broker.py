"""A group service over real logs, with a cluster of one broker that tests drive by hand."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

from brokerd.clock import SystemClock
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import ImageDelta, MetadataImage, TopicInfo
from brokerd.cluster.zookeeper.zk_data import RegisteredBroker
from brokerd.config.broker_config import BrokerConfig, parse
from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC
from brokerd.errors import KafkaError
from brokerd.replication.partition_state import PartitionState
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.requests.ack_watchers import AckWatchers
from brokerd.server.requests.request_context import RequestContext
from brokerd.topic_partition import TopicPartition
from tests.brokerd.log.support import open_manager

BROKER_ID = 1
LISTENER = "PLAINTEXT"


class HandCluster:
    """Stands in for BrokerLifecycle: an image, and topics created at once (or refused)."""

    def __init__(self, broker: "GroupBroker") -> None:
        self.image = MetadataImage()
        self.image.brokers[BROKER_ID] = RegisteredBroker(
            id=BROKER_ID, endpoints={LISTENER: ("127.0.0.1", 9092), "OUTSIDE": ("example", 19092)}
        )
        self.refusal: KafkaError | None = None
        self.created: list[str] = []
        self._broker = broker
        self.topics = self

    async def auto_create(self, name: str) -> None:
        await asyncio.sleep(0)
        if self.refusal is not None:
            raise self.refusal
        self.created.append(name)
        self._broker.create_topic(name, 3)


class GroupBroker:
    """`groups` is the service under test; `restart` closes it and opens the same logs again."""

    def __init__(self, directory: Path, **settings: str) -> None:
        self.directory = directory
        text = f"broker.id={BROKER_ID}\nlog.dirs={directory}\nzookeeper.connect=nowhere\n"
        self.config: BrokerConfig = parse(text, settings)
        self.clock = SystemClock()
        self.cluster = HandCluster(self)
        self.topic_ids: dict[str, UUID] = {}
        self._versions = 0
        self._open()

    def _open(self) -> None:
        self.logs = open_manager([str(self.directory)], BROKER_ID, now_ms=self.clock.now_ms())
        self.replicas = ReplicaManager(self.logs, BROKER_ID, self.clock)
        self.groups = GroupCoordinatorService(
            self.config, self.clock, self.replicas, cast(BrokerLifecycle, self.cluster),
            AckWatchers(),
        )  # fmt: skip

    async def stop(self) -> None:
        await self.groups.stop()
        self.replicas.checkpoint()
        self.logs.shutdown()

    async def restart(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        await self.stop()
        meanwhile()
        self._open()
        for name in self.topic_ids:
            self.lead(name)

    # What the cluster decides

    def create_topic(self, name: str, partitions: int) -> None:
        topic_id = self.topic_ids.setdefault(name, uuid4())
        info = TopicInfo(name=name, topic_id=topic_id)
        self.cluster.image.topics[name] = info
        for index in range(partitions):
            info.partitions[index] = self.state(name, index, BROKER_ID, 0)
        self.lead(name)

    def state(self, topic: str, index: int, leader: int, epoch: int, **more: Any) -> PartitionState:
        self._versions += 1
        fields: dict[str, Any] = {
            "topic": topic,
            "partition": index,
            "topic_id": self.topic_ids[topic],
            "replicas": (BROKER_ID, 2) if leader != BROKER_ID else (BROKER_ID,),
            "adding": (),
            "removing": (),
            "leader": leader,
            "leader_epoch": epoch,
            "isr": (leader,),
            "controller_epoch": 1,
            "version": self._versions,
            "is_new": epoch == 0,
        }
        return PartitionState(**(fields | more))

    def lead(self, topic: str, leader: int = BROKER_ID, epoch: int = 0, **more: Any) -> None:
        """Every partition of the topic gets this leader."""
        indexes = self.cluster.image.topics[topic].partitions
        self.apply([self.state(topic, index, leader, epoch, **more) for index in indexes])

    def apply(
        self, states: list[PartitionState], deleted: list[TopicPartition] | None = None
    ) -> None:
        for state in states:
            self.cluster.image.topics[state.topic].partitions[state.partition] = state
        for topic, _ in deleted or []:
            self.cluster.image.topics.pop(topic, None)
        self.replicas.apply_states(states, deleted or [])
        self.groups.on_delta(ImageDelta(partitions=states, deleted=deleted or []))

    async def ready(self) -> None:
        """Wait until every partition led is loaded."""
        async with asyncio.timeout(10):
            while any(runtime.loading for runtime in self.groups.runtimes()):
                await asyncio.sleep(0.001)

    async def with_offsets_topic(self) -> "GroupBroker":
        await self.cluster.topics.auto_create(OFFSETS_TOPIC)
        await self.ready()
        return self


def context(
    api_key: int, version: int, listener: str = LISTENER, client_id: str = "client"
) -> RequestContext:
    return RequestContext(
        api_key=api_key,
        api_version=version,
        correlation_id=1,
        client_id=client_id,
        listener=listener,
        peer_host="127.0.0.1",
    )
