"""The partitions of a broker that leads what a test says."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.metric_counters import BrokerMetrics
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.topic_partition import TopicPartition


def led(
    get: Callable[[str, int], Any],
    metrics: BrokerMetrics | None = None,
    image: MetadataImage | None = None,
    offline: dict[TopicPartition, str] | None = None,
) -> LedPartitions:
    """Those that `get(topic, index)` finds; where it is None the cluster has none, or `image`."""
    replicas: Any = SimpleNamespace(get=get, offline=offline or {})
    return LedPartitions(image or MetadataImage(), replicas, metrics or BrokerMetrics())
