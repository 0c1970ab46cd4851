"""The rows of brokers from the columns of a tick. Pure."""

from typing import Any

import numpy as np

from monitoring.read_model.row_types import BrokerRow, LogDirRow
from monitoring.read_model.tick_columns import CPU_SAMPLES_MIN, TickColumns


def broker_rows(columns: TickColumns, is_shown: np.ndarray) -> list[BrokerRow]:
    """One row per broker, by id; leaders and replicas are counted of the shown partitions."""
    partitions = columns.partitions
    leader_counts = _count_by_id(partitions.leader[is_shown])
    replicas, rows = partitions.replicas()
    replica_counts = _count_by_id(replicas[is_shown[rows]])
    return [
        _row(
            columns,
            broker,
            leader_counts.get(broker["id"], 0),
            replica_counts.get(broker["id"], 0),
        )
        for broker in sorted(columns.tick.brokers, key=lambda broker: broker["id"])
    ]


def _row(columns: TickColumns, broker: dict[str, Any], leaders: int, replicas: int) -> BrokerRow:
    growth = columns.broker_growth[broker["id"]]
    return BrokerRow(
        id=broker["id"],
        host=broker.get("host") or "",
        port=broker.get("port"),
        rack=broker.get("rack"),
        up=bool(broker.get("up")),
        is_controller=broker["id"] == columns.tick.controller_id,
        source=broker.get("source") or "none",
        leaders=leaders,
        replicas=replicas,
        bytes_in_rate=growth["bytes_in"],
        bytes_out_rate=growth["bytes_out"],
        messages_rate=growth["messages_in"],
        connections=broker.get("connections"),
        rss_bytes=broker.get("rss_bytes"),
        cpu_cores=growth["cpu_seconds"],
        disk_total_bytes=broker.get("disk_total_bytes"),
        disk_free_bytes=broker.get("disk_free_bytes"),
        log_dirs=tuple(LogDirRow(**each) for each in broker.get("log_dirs") or []),
        size_bytes=broker.get("size_bytes"),
        down_since_ms=broker.get("down_since_ms"),
        cpu_cores_recent=_mean(columns.broker_cpu[broker["id"]]),
    )


def _mean(samples: tuple[float, ...]) -> float | None:
    return sum(samples) / len(samples) if len(samples) >= CPU_SAMPLES_MIN else None


def _count_by_id(ids: np.ndarray) -> dict[int, int]:
    unique, counts = np.unique(ids[ids >= 0], return_counts=True)
    return dict(zip(unique.tolist(), counts.tolist(), strict=True))
