"""Passes changes of the metadata image to the parts of a broker: settings, partitions, groups.

Changes come one after another. To create a log takes half a millisecond, so many are created in
turns; until then the clients of a new partition get an error and read the metadata again.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import ImageDelta
from brokerd.config.log_config import LogConfig
from brokerd.event_loop_turns import in_turns
from brokerd.garbage_collection import keep_uncollected
from brokerd.replication.partition import Partition
from brokerd.replication.partition_state import PartitionState
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.event_ring import EventRing
from brokerd.server.api.metadata_topic_cache import MetadataTopicCache
from brokerd.server.broker_config_handler import BrokerConfigHandler, endpoints
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.topic_config_handler import TopicConfigHandler

logger = logging.getLogger(__name__)

FROZEN_FROM = 200


@dataclass(frozen=True, slots=True)
class MetadataPublisher:
    cluster: BrokerLifecycle
    settings: BrokerConfigHandler
    topic_configs: TopicConfigHandler
    replicas: ReplicaManager
    groups: GroupCoordinatorService
    metadata: MetadataTopicCache
    events: EventRing
    is_ready: Callable[[], bool]

    async def publish(self, delta: ImageDelta) -> None:
        """Returns when all parts have applied the change."""
        image, settings = self.cluster.image, self.settings
        self.metadata.changed(delta)
        if delta.broker_configs:
            has_changed = await settings.take_over(image.broker_configs)
            self.cluster.registration.advertise(endpoints(settings.config))
            if has_changed:
                here = {each.topic for each in self.replicas.all()}
                await in_turns(self._new_configs(here), self._reconfigure)
        changed = {state.topic for state in delta.partitions}
        known = image.topics
        configs = {
            name: self.topic_configs.sound_topic_config(known[name])
            for name in changed
            if name in known
        }
        self.topic_configs.forget_topics({topic for topic, _ in delta.deleted})
        await in_turns(delta.deleted, lambda key: self.replicas.apply_states((), [key]))
        kept = [
            name
            for name in delta.topics_configs & known.keys()
            if any(self.replicas.get(name, index) for index in known[name].partitions)
        ]
        await in_turns(delta.partitions, lambda state: self._apply(state, configs))
        if len(delta.partitions) > FROZEN_FROM:
            keep_uncollected()
        await in_turns(self._new_configs(kept), self._reconfigure)
        self.groups.on_delta(delta)
        self.cluster.report_offline(self.replicas.offline)

    def _new_configs(self, names: Iterable[str]) -> Iterator[tuple[Partition, LogConfig]]:
        """The partitions of these topics on this broker, with their settings."""
        for name in names:
            topic = self.cluster.image.topics.get(name)
            config = self.topic_configs.topic_config(topic) if topic else None
            if topic is None or config is None:
                continue
            for index in tuple(topic.partitions):
                partition = self.replicas.get(name, index)
                if partition is not None:
                    yield partition, config

    def _reconfigure(self, each: tuple[Partition, LogConfig]) -> None:
        self.replicas.reconfigure(*each)

    def _apply(self, state: PartitionState, configs: dict[str, LogConfig]) -> None:
        if self.is_ready():
            self._add_leader_event(state)
        try:
            self.replicas.apply_states([state], (), configs)
        except Exception:
            # An error of one partition must not keep the others from being updated.
            logger.exception("%s-%d could not be taken up", state.topic, state.partition)

    def _add_leader_event(self, state: PartitionState) -> None:
        """An event if this broker gains or loses the partition's leadership."""
        partition = self.replicas.get(state.topic, state.partition)
        was_leader = partition is not None and partition.is_leader
        if was_leader != (state.leader == self.replicas.local_id):
            detail = {
                "topic": state.topic,
                "partition": state.partition,
                "leader": state.leader,
                "leader_epoch": state.leader_epoch,
            }
            self.events.add("leader", detail)
