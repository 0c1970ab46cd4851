"""What this broker knows of the cluster (Kafka's MetadataCache): brokers, topics, partitions,
configs, controller. BrokerLifecycle alone changes it, in place and on the event loop.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from brokerd.cluster.topic_names import collision_key, collision_keys
from brokerd.cluster.zookeeper.zk_data import RegisteredBroker
from brokerd.replication.partition_state import PartitionState
from brokerd.topic_partition import TopicPartition

NO_CONTROLLER = -1
SETTLED = -1


@dataclass(slots=True, kw_only=True)
class TopicInfo:
    """A topic with the states of its partitions and its own (dynamic) config. `zxid` is that of its
    creation: an earlier entry is not about it. `announced` is the entry of the feed with its newest
    partitions, SETTLED once their leaders need not be waited for."""

    name: str
    topic_id: UUID
    partitions: dict[int, PartitionState] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)
    zxid: int = -1
    announced: int = SETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDelta:
    """What one change touched. `partitions` are states newly applied, `deleted` the partitions to
    stop and delete. `topics_configs` are the topics whose config may differ (new ones included);
    `broker_configs`: the config of some broker, or the default of all, differs."""

    partitions: list[PartitionState] = field(default_factory=list)
    deleted: list[TopicPartition] = field(default_factory=list)
    topics_configs: set[str] = field(default_factory=set)
    brokers_changed: bool = False
    broker_configs: bool = False

    @property
    def is_empty(self) -> bool:
        return self == ImageDelta()


class MetadataImage:
    def __init__(self) -> None:
        self.brokers: dict[int, RegisteredBroker] = {}
        self.topics: dict[str, TopicInfo] = {}
        self.topic_ids: dict[UUID, str] = {}
        self.taken: dict[str, str] = {}  # the topics by `topic_names.collision_key`
        self.names_by_id: dict[bytes, str] = {}  # topic names by id, as in requests
        self.broker_configs: dict[str, dict[str, str]] = {}
        self.controller_id = NO_CONTROLLER
        self.controller_epoch = 0
        self.cluster_id = ""
        self.offline: Mapping[int, frozenset[TopicPartition]] = {}

    def all_partitions(self) -> Iterator[TopicPartition]:
        """The name and index of every partition; the image may change meanwhile."""
        for info in tuple(self.topics.values()):
            for index in tuple(info.partitions):
                yield info.name, index

    def partition(self, topic: str, index: int) -> PartitionState | None:
        info = self.topics.get(topic)
        return info.partitions.get(index) if info else None

    def is_offline(self, topic: str, index: int, broker_id: int) -> bool:
        """Whether a replica is not served: its broker is not live, or reported it as offline."""
        if broker_id not in self.brokers:
            return True
        return bool(self.offline) and (topic, index) in self.offline.get(broker_id, ())

    def endpoint(self, broker_id: int, listener: str) -> tuple[str, int] | None:
        """Host and port of a live broker on the named listener, or None."""
        broker = self.brokers.get(broker_id)
        return broker.endpoints.get(listener) if broker else None

    def replace_brokers(self, brokers: dict[int, RegisteredBroker]) -> ImageDelta:
        changed = brokers != self.brokers
        self.brokers = brokers
        return ImageDelta(brokers_changed=changed)

    def replace_offline(self, offline: Mapping[int, frozenset[TopicPartition]]) -> ImageDelta:
        changed = offline != self.offline
        self.offline = offline
        return ImageDelta(brokers_changed=changed)

    def replace_controller(self, controller_id: int, controller_epoch: int) -> ImageDelta:
        """Replaces the controller (NO_CONTROLLER: none)."""
        changed = controller_id != self.controller_id
        self.controller_id = controller_id
        self.controller_epoch = max(controller_epoch, self.controller_epoch)
        return ImageDelta(brokers_changed=changed)

    def apply_states(
        self,
        states: Sequence[PartitionState],
        configs: Mapping[str, dict[str, str]],
        zxid: int,
        number: int = SETTLED,
    ) -> ImageDelta:
        """Apply the states of a change entry with this zxid and number. A state counts if its topic
        id is known and its version is higher. A state with an unknown topic id counts only if it is
        of a new partition and created after the known topic of that name: that topic was deleted
        and created again. `configs` holds the config of each topic that may be new."""
        applied: list[PartitionState] = []
        deleted: list[TopicPartition] = []
        touched: set[str] = set()
        for state in states:
            info = self.topics.get(state.topic)
            if info is None or info.topic_id != state.topic_id:
                if not state.is_new or (info is not None and info.zxid > zxid):
                    continue
                deleted += self._remove(state.topic)
                info = TopicInfo(
                    name=state.topic,
                    topic_id=state.topic_id,
                    config=configs.get(state.topic, {}),
                    zxid=zxid,
                )
                self._add(info)
                touched.add(state.topic)
            if _take(info, state):
                applied.append(state)
                if state.is_new:
                    info.announced = number
        return ImageDelta(partitions=applied, deleted=deleted, topics_configs=touched)

    def take_topics(self, topics: Iterable[TopicInfo]) -> ImageDelta:
        """Replaces topics by what was just read from ZooKeeper."""
        applied: list[PartitionState] = []
        deleted: list[TopicPartition] = []
        touched: set[str] = set()
        for read in topics:
            info = self.topics.get(read.name)
            if info is None or info.topic_id != read.topic_id:
                deleted += self._remove(read.name)
                self._add(read)
                applied += read.partitions.values()
                touched.add(read.name)
                continue
            applied += [state for state in read.partitions.values() if _take(info, state)]
            if info.config != read.config:
                info.config = read.config
                touched.add(read.name)
        return ImageDelta(partitions=applied, deleted=deleted, topics_configs=touched)

    def remove_topics(self, topics: Iterable[tuple[str, UUID]]) -> ImageDelta:
        """Removes topics; one that is unknown or has another id is skipped."""
        deleted: list[TopicPartition] = []
        for name, topic_id in topics:
            info = self.topics.get(name)
            if info is not None and info.topic_id == topic_id:
                deleted += self._remove(name)
        return ImageDelta(deleted=deleted)

    def replace_config(self, topic: str, config: dict[str, str]) -> ImageDelta:
        """Replaces a topic's config; that of an unknown topic comes with its states."""
        info = self.topics.get(topic)
        if info is None or info.config == config:
            return ImageDelta()
        info.config = config
        return ImageDelta(topics_configs={topic})

    def replace_broker_configs(self, configs: Mapping[str, dict[str, str]]) -> ImageDelta:
        """Replaces the dynamic configs of brokers by name: an id or `<default>`. The delta has
        unchanged configs, too: a file that they name may have changed."""
        self.broker_configs = dict(configs)
        return ImageDelta(broker_configs=True)

    def _add(self, info: TopicInfo) -> None:
        self.topics[info.name] = info
        self.topic_ids[info.topic_id] = info.name
        self.names_by_id[info.topic_id.bytes] = info.name
        self.taken[collision_key(info.name)] = info.name

    def _remove(self, name: str) -> list[TopicPartition]:
        info = self.topics.pop(name, None)
        if info is None:
            return []
        self.topic_ids.pop(info.topic_id, None)
        self.names_by_id.pop(info.topic_id.bytes, None)
        if len(self.taken) > len(self.topics):
            del self.taken[collision_key(name)]
        else:  # some collide, although brokers refuse that
            self.taken = collision_keys(self.topics)
        return [(name, index) for index in info.partitions]


def _take(info: TopicInfo, state: PartitionState) -> bool:
    known = info.partitions.get(state.partition)
    if known is not None and state.version <= known.version:
        return False
    info.partitions[state.partition] = state
    return True
