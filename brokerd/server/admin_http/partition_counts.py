"""Counts of partitions by state, and sums by topic, from one pass over the partitions."""

from brokerd.cluster.metadata_image import TopicInfo
from brokerd.replication.partition import TRAFFIC, Partition
from brokerd.replication.partition_state import NO_LEADER, PartitionState
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.prometheus_text import label_text


class PartitionCounts:
    """`traffic` and `sizes` are by topic, `total` is the traffic of all, in the order of TRAFFIC;
    the counts are those of kafka.server.ReplicaManager."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self.everything = replicas.all()
        self.total = list(replicas.gone)
        self.traffic: dict[str, list[int]] = {}
        self.sizes: dict[str, int] = {}
        self.labels: dict[str, str] = {}
        """The labels of each topic, as they stand in the page."""
        self._gone = {topic: list(sums) for topic, sums in replicas.gone_by_topic.items()}
        self.offline = len(replicas.offline)
        self.partitions = self.leaders = self.reassigning = 0
        self.under_replicated = self.under_min_isr = self.at_min_isr = 0

    def take(self, partition: Partition) -> None:
        topic = partition.topic
        sums = self.traffic.get(topic)
        if sums is None:
            sums = self.traffic[topic] = self._gone.get(topic) or [0] * len(TRAFFIC)
            self.sizes[topic] = 0
            self.labels[topic] = label_text({"topic": topic})
        for place, value in enumerate(partition.traffic()):
            sums[place] += value
            self.total[place] += value
        self.sizes[topic] += partition.log.size_bytes
        self.partitions += 1
        if not partition.is_leader or partition.state is None:
            return
        self.leaders += 1
        in_sync = len(partition.state.isr)
        self.under_replicated += is_under_replicated(partition.state)
        self.under_min_isr += in_sync < partition.min_isr
        self.at_min_isr += in_sync == partition.min_isr
        self.reassigning += bool(partition.state.adding or partition.state.removing)


def is_under_replicated(state: PartitionState) -> bool:
    """Whether a replica that should be in sync is not; those being added do not count."""
    return len(set(state.replicas) - set(state.adding) - set(state.isr)) > 0


class ClusterCounts:
    """Counts of all partitions of the cluster, for the metrics of the controller."""

    def __init__(self) -> None:
        self.topics = self.partitions = self.offline = self.not_preferred = 0

    def take(self, topic: TopicInfo) -> None:
        self.topics += 1
        self.partitions += len(topic.partitions)
        for state in topic.partitions.values():
            if state.leader == NO_LEADER:
                self.offline += 1
            self.not_preferred += state.leader != state.replicas[0]
