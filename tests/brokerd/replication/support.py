"""Two or more replicas of one partition: real logs, no socket between them."""

from pathlib import Path
from typing import Any

from brokerd.config.log_config import LogConfig
from brokerd.replication.partition import Partition
from brokerd.replication.partition_state import PartitionState
from tests.brokerd.log.support import NOW_MS, TOPIC_ID, open_log


def state(version: int, leader: int, **changes: Any) -> PartitionState:
    """A state of t-0 on brokers 1 and 2, both in sync unless `changes` says otherwise."""
    fields: dict[str, Any] = {
        "topic": "t", "partition": 0, "topic_id": TOPIC_ID, "replicas": (1, 2), "leader": leader,
        "leader_epoch": version, "isr": (1, 2), "controller_epoch": 1, "version": version,
    }  # fmt: skip
    return PartitionState(**{**fields, **changes})


def replica(directory: Path, broker_id: int, config: LogConfig | None = None) -> Partition:
    return Partition("t", 0, broker_id, open_log(directory / str(broker_id), config))


def apply_all(new: PartitionState, *replicas: Partition) -> None:
    for each in replicas:
        each.apply(new, NOW_MS)


def fetch(follower: Partition, leader: Partition, now_ms: int = NOW_MS) -> None:
    """One round of replication: the fetch that asks, and its answer appended."""
    offset = follower.log.log_end_offset
    leader.record_fetch(follower.local_id, offset, now_ms)
    found = leader.log.read(offset, 1 << 20, up_to=leader.log.log_end_offset, min_one_batch=True)
    data = b""
    if found is not None:
        data = found.read()
        found.release()
    follower.append_fetched(
        memoryview(bytearray(data)), leader.leader_epoch, leader.high_watermark, now_ms
    )


def reconcile(follower: Partition, leader: Partition) -> int:
    """Cut the follower's log to where it agrees with the leader's; returns how often it asked."""
    asked = 0
    while follower.log.epochs.latest >= 0:
        asked += 1
        epoch = follower.log.epochs.latest
        if follower.truncate_after(epoch, leader.end_offset_for_epoch(epoch)).final:
            break
    return asked
