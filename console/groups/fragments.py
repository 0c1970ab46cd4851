"""The context of a consumer group's page, for the page and its live fragment."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from console.accounts.rights import Rights
from console.live import snapshot_cache
from monitoring.lag.formula import member_totals
from monitoring.models import Cluster
from monitoring.read_model.partial_sum import PartialSum

ROWS_MAX = 500


def context(
    cluster: Cluster, rights: Rights, name: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The context of the group's page; None if there is no sample or no such group."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    group = snapshot.group(name) if snapshot else None
    if snapshot is None or group is None:
        return None
    members = member_totals(snapshot.rows_of_group(name))
    topics = snapshot.topics_of_group(name, ROWS_MAX)
    return {
        "group": group,
        "at_ms": snapshot.at_ms,
        "told_at_ms": group.told_at_ms or snapshot.at_ms,
        "members": _first(members),
        "members_left_out": _left_out(len(members)),
        "topics": topics,
        "topics_left_out": _left_out(group.topics),
        "existing_topics": {row.topic for row in topics if snapshot.has_topic(row.topic)},
        "rows": snapshot.lags(group=name, count_max=ROWS_MAX),
        "rows_left_out": _left_out(group.partitions),
    }


def _first(totals: pa.Table) -> list[dict[str, Any]]:
    """The first rows, each with its lag as a PartialSum."""
    rows: list[dict[str, Any]] = totals.slice(0, ROWS_MAX).to_pylist()
    return [row | {"lag": _sum(row)} for row in rows]


def _left_out(count: int) -> int:
    return max(0, count - ROWS_MAX)


def _sum(totals: dict[str, Any]) -> PartialSum:
    """The lag of some partitions as a PartialSum; partitions without a commit are not part of
    it."""
    return PartialSum(
        totals["lag"],
        totals["end_unknown"],
        totals["partitions"] - totals["not_committed"],
        ahead=totals["ahead"],
        ahead_by=totals["ahead_by"],
    )
