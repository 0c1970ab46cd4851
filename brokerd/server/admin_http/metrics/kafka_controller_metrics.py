"""The metrics of kafka.controller:type=KafkaController: what is counted over the cluster
is 0 on all brokers but the controller.
"""

from collections.abc import Iterator

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import TopicInfo
from brokerd.replication.partition_state import NO_LEADER
from brokerd.server.admin_http.metrics.prometheus_text import singles


class ClusterCounts:
    """Counts of all partitions of the cluster."""

    def __init__(self) -> None:
        self.topics = self.partitions = self.offline = self.not_preferred = 0

    def take(self, topic: TopicInfo) -> None:
        self.topics += 1
        self.partitions += len(topic.partitions)
        for state in topic.partitions.values():
            if state.leader == NO_LEADER:
                self.offline += 1
            self.not_preferred += state.leader != state.replicas[0]


def kafka_controller_lines(lifecycle: BrokerLifecycle, counts: ClusterCounts) -> Iterator[str]:
    rest = " 0 where this broker is not the controller."
    yield from singles(
        "kafka_controller_kafkacontroller_",
        ("activecontrollercount", "1 on the controller.", int(lifecycle.is_controller)),
        ("activebrokercount", "Brokers that are there, as this one knows.",
         len(lifecycle.image.brokers)),
        ("globaltopiccount", "Topics of the cluster." + rest, counts.topics),
        ("globalpartitioncount", "Partitions of the cluster." + rest, counts.partitions),
        ("offlinepartitionscount", "Partitions without a leader." + rest, counts.offline),
        ("preferredreplicaimbalancecount", "Partitions not led by their first replica." + rest,
         counts.not_preferred),
    )  # fmt: skip
