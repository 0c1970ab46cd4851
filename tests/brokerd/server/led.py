"""The partitions of a broker that leads what a test says."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.metrics import BrokerMetrics
from brokerd.server.requests.led_partitions import LedPartitions


def led(get: Callable[[str, int], Any], metrics: BrokerMetrics | None = None) -> LedPartitions:
    """Those that `get(topic, index)` finds; where it is None the cluster has none."""
    replicas: Any = SimpleNamespace(get=get, offline={})
    return LedPartitions(MetadataImage(), replicas, metrics or BrokerMetrics())
