"""How evenly the replicas of each topic lie on the brokers, by the formulas of EFAK. Pure.

EFAK is another console for Kafka. R = brokers with a replica of the topic, B = the cluster's
brokers.

spread        = R / B
skew          = brokers with more than ⌈replicas / R⌉ replicas / R
leader skew   = brokers that lead more than ⌈partitions / R⌉ partitions / R
"""

from dataclasses import dataclass

import numpy as np

from monitoring.read_model.numpy_columns import Floats
from monitoring.read_model.partition_columns import PartitionColumns


@dataclass(frozen=True, slots=True)
class Placement:
    """Per topic; NaN = no replica is known."""

    spread: Floats
    skew: Floats
    leader_skew: Floats

    @classmethod
    def of(cls, partitions: PartitionColumns, brokers: int) -> "Placement":
        n = len(partitions.topic_names.all)
        replicas, rows = partitions.replicas()
        topic, count = _per_broker(partitions.topic[rows], replicas)
        is_led = partitions.leader >= 0
        led_topic, led = _per_broker(partitions.topic[is_led], partitions.leader[is_led])
        holders = np.bincount(topic, minlength=n).astype(float)
        holders[holders == 0] = np.nan
        share = np.ceil(np.bincount(topic, weights=count, minlength=n) / holders)
        led_share = np.ceil(np.bincount(partitions.topic, minlength=n) / holders)
        return cls(
            spread=np.minimum(1.0, holders / brokers) if brokers else holders * np.nan,
            skew=np.bincount(topic[count > share[topic]], minlength=n) / holders,
            leader_skew=np.bincount(led_topic[led > led_share[led_topic]], minlength=n) / holders,
        )


def _per_broker(topic: np.ndarray, broker: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(topic, count) for each topic and broker that occur together."""
    ids, index = np.unique(broker, return_inverse=True)
    width = max(1, len(ids))
    keys, count = np.unique(topic * width + index, return_counts=True)
    return keys // width, count
