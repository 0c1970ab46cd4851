"""Replicas of one partition: real logs, no socket between them."""

from pathlib import Path
from typing import Any

from brokerd.config.log_config import LogConfig
from brokerd.replication.partition import Partition
from brokerd.replication.state import PartitionState
from tests.brokerd.log.support import TOPIC_ID, open_log


def state(version: int, leader: int, **changes: Any) -> PartitionState:
    """A state of t-0 on brokers 1 and 2, both in sync unless `changes` says otherwise."""
    fields: dict[str, Any] = {
        "topic": "t", "partition": 0, "topic_id": TOPIC_ID, "replicas": (1, 2), "leader": leader,
        "leader_epoch": version, "isr": (1, 2), "controller_epoch": 1, "version": version,
    }  # fmt: skip
    return PartitionState(**{**fields, **changes})


def replica(directory: Path, broker_id: int, config: LogConfig | None = None) -> Partition:
    return Partition("t", 0, broker_id, open_log(directory / str(broker_id), config))
