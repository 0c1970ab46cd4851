"""What the page of one consumer group shows, for the full page and its live fragment alike."""

from collections import defaultdict
from typing import Any

from console.accounts.rights import Rights
from console.live import snapshot_cache
from monitoring.lag.partition import LagNote
from monitoring.models import Cluster
from monitoring.views.partial_sum import PartialSum
from monitoring.views.rows import LagRow

ROWS_MAX = 500


def context(cluster: Cluster, held: Rights, argument: str) -> dict[str, Any] | None:
    """The group named by `argument`; None when there is no sample or no such group."""
    shown = snapshot_cache.snapshot(cluster.slug, held)
    group = shown.group(argument) if shown else None
    if shown is None or group is None:
        return None
    lags = shown.lags(group=argument)
    return {
        "group": group,
        "at_ms": shown.at_ms,
        "told_at_ms": group.told_at_ms or shown.at_ms,
        "members": _members(lags),
        "topics": _topics(lags),
        "topics_there": {topic.name for topic in shown.topics},
        "rows": lags[:ROWS_MAX],
        "rows_left_out": max(0, len(lags) - ROWS_MAX),
    }


def _members(lags: list[LagRow]) -> list[dict[str, Any]]:
    """Each member with what it owns, in the order of its client id."""
    owned: dict[str, list[LagRow]] = defaultdict(list)
    for row in lags:
        if row.member_id:
            owned[row.member_id].append(row)
    found: list[dict[str, Any]] = [
        {
            "member_id": member_id,
            "client_id": rows[0].client_id,
            "host": rows[0].member_host,
            "partitions": len(rows),
            "lag": _sum(rows),
        }
        for member_id, rows in owned.items()
    ]
    return sorted(found, key=lambda member: (member["client_id"] or "", member["host"] or ""))


def _topics(lags: list[LagRow]) -> list[dict[str, Any]]:
    """Each topic that the group reads, with its part of the lag."""
    read: dict[str, list[LagRow]] = defaultdict(list)
    for row in lags:
        read[row.topic].append(row)
    return [
        {"name": name, "partitions": len(rows), "lag": _sum(rows)} for name, rows in read.items()
    ]


def _sum(rows: list[LagRow]) -> PartialSum:
    """The lag of some partitions; one without a commit has none and is no part of it."""
    known = [max(0, row.lag) for row in rows if row.lag is not None]
    unknown = sum(row.lag_note == LagNote.END_UNKNOWN for row in rows)
    ahead = [-row.lag for row in rows if row.lag is not None and row.lag < 0]
    return PartialSum(
        sum(known) if known else None,
        unknown,
        len(known) + unknown,
        ahead=len(ahead),
        ahead_by=sum(ahead),
    )
