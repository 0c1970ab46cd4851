"""The metrics of kafka.server:type=ReplicaManager: partitions of this broker by state. One pass
counts them and sums traffic and sizes by topic, for `broker_topic_metrics`.
"""

from collections.abc import Iterator

from brokerd.replication.partition import TRAFFIC, Partition
from brokerd.replication.replica_manager import ReplicaManager
from brokerd.server.admin_http.metrics.prometheus_text import label_text, singles


class PartitionCounts:
    """`traffic` and `sizes` are by topic, `total` is that of all, in the order of TRAFFIC."""

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
        if partition.is_leader:
            self.leaders += 1
            self.under_replicated += partition.is_under_replicated
            self.under_min_isr += partition.is_under_min_isr
            self.at_min_isr += partition.is_at_min_isr
            self.reassigning += partition.is_reassigning


def replica_manager_lines(counts: PartitionCounts) -> Iterator[str]:
    yield from singles(
        "kafka_server_replicamanager_",
        ("partitioncount", "Partitions on this broker.", counts.partitions),
        ("leadercount", "Partitions led here.", counts.leaders),
        ("underreplicatedpartitions", "Led here, not all replicas in sync.",
         counts.under_replicated),
        ("underminisrpartitioncount", "Led here, fewer in sync than min.insync.replicas.",
         counts.under_min_isr),
        ("atminisrpartitioncount", "Led here, just min.insync.replicas in sync.",
         counts.at_min_isr),
        ("reassigningpartitions", "Led here, being reassigned.", counts.reassigning),
        ("offlinereplicacount", "Replicas here whose log cannot be used.", counts.offline),
    )  # fmt: skip
