"""What the page of one consumer group shows, for the full page and its live fragment alike."""

from typing import Any

from console.accounts.rights import Rights
from console.live import store
from console.live.rows import LagRow
from monitoring.models import Cluster

ROWS_MAX = 500


def context(cluster: Cluster, held: Rights, argument: str) -> dict[str, Any] | None:
    """The group named by `argument`; None when there is no sample or no such group."""
    shown = store.snapshot(cluster.slug, held)
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
        "rows": lags[:ROWS_MAX],
        "rows_left_out": max(0, len(lags) - ROWS_MAX),
    }


def _members(lags: list[LagRow]) -> list[dict[str, Any]]:
    """Each member with what it owns, in the order of its client id."""
    found: dict[str, dict[str, Any]] = {}
    for row in lags:
        if row.member_id:
            member = found.setdefault(
                row.member_id,
                {
                    "member_id": row.member_id,
                    "client_id": row.client_id,
                    "host": row.member_host,
                    "partitions": 0,
                    "lag": None,
                },
            )
            member["partitions"] += 1
            if row.lag is not None:
                member["lag"] = (member["lag"] or 0) + max(0, row.lag)
    return sorted(found.values(), key=lambda member: (member["client_id"] or "", member["host"]))


def _topics(lags: list[LagRow]) -> list[dict[str, Any]]:
    """Each topic that the group reads, with its part of the lag."""
    found: dict[str, dict[str, Any]] = {}
    for row in lags:
        topic = found.setdefault(row.topic, {"name": row.topic, "partitions": 0, "lag": None})
        topic["partitions"] += 1
        if row.lag is not None:
            topic["lag"] = (topic["lag"] or 0) + max(0, row.lag)
    return list(found.values())
