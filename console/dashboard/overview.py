"""The context of a cluster's overview, for the page and its live fragment."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.alerts.visible_alerts import firing_alerts
from console.brokers.broker_warnings import (
    DISK_WARN_PERCENT,
    BrokerWarning,
    disk_tone,
    warnings_by_broker,
)
from console.dashboard.alerts_and_warnings import PROBLEMS_MAX, problems
from console.dashboard.recent_changes import audit_url, changes
from console.groups import lag_state_texts
from console.groups.group_page import time_until_drained
from console.live import snapshot_cache
from console.search.resource_actions import MESSAGES, RESET_OFFSETS, RETENTION
from console.search.searched_cluster import SearchedCluster
from console.ui import numbers
from console.ui.tones import TONES
from monitoring.models import Cluster
from monitoring.read_model.row_types import BrokerRow, TopicRow, Totals
from monitoring.read_model.snapshot import Snapshot

ROWS_SHOWN = 8
BROKERS_SHOWN = 12
CHANGES_SHOWN = 8


def context(
    cluster: Cluster, rights: Rights, _name: str = "", _query: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The figures of the newest tick that was sampled; None without one."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    if snapshot is None:
        return None
    points = snapshot_cache.recent_totals(cluster.slug, rights)
    history = {
        name: _sparkline(points, name)
        for name in ("messages_rate", "bytes_in_rate", "bytes_out_rate", "lag")
    }
    alerts = firing_alerts(cluster, rights, snapshot) if rights.may("alert.view") else None
    warnings = warnings_by_broker(snapshot.brokers)
    found = problems(cluster.slug, snapshot, alerts or [], warnings)
    return {
        "alerts": alerts,
        "totals": snapshot.totals,
        "at_ms": snapshot.at_ms,
        "brokers": [(row, warnings[row.id]) for row in _worst_first(snapshot.brokers, warnings)],
        "disk_warn_percent": DISK_WARN_PERCENT,
        "controller": snapshot.tick.controller_id,
        "problems": found[:PROBLEMS_MAX],
        "more_problems": max(0, len(found) - PROBLEMS_MAX),
        "changes": changes(cluster, rights, snapshot, CHANGES_SHOWN),
        "audit_today": audit_url(cluster.slug, timezone.now().date())
        if rights.may("audit.view")
        else "",
        "group_lag_states": [
            (lag_state_texts.names()[lag_state].lower(), count)
            for lag_state, count in snapshot.group_lag_states.items()
        ],
        **_rows(snapshot, SearchedCluster(cluster, rights, snapshot, is_current=True)),
        "idle_topics": snapshot.topics_idle_longest(ROWS_SHOWN),
        "disk_total": numbers.size(snapshot.totals.disk_total_bytes),
        "fullest": _fullest_broker(snapshot.brokers),
        "history": history,
        "changed": {name: _change_text(values) for name, values in history.items()},
    }


def _rows(snapshot: Snapshot, searched: SearchedCluster) -> dict[str, Any]:
    """Groups and topics, each with the usual next action; None if the user may not do it."""
    return {
        "worst_groups": [
            (
                group,
                lag_state_texts.of_group(group),
                time_until_drained(group),
                RESET_OFFSETS.link(searched, group.name),
            )
            for group in snapshot.groups_most_behind(ROWS_SHOWN)
        ],
        # Also topics without traffic, so that the table's height does not change.
        "busiest_topics": [
            (topic, MESSAGES.link(searched, topic.name))
            for topic in snapshot.busiest_topics(ROWS_SHOWN)
        ],
        "largest_topics": [
            (topic, share, RETENTION.link(searched, topic.name))
            for topic, share in _largest_topics(snapshot)
        ],
    }


def _largest_topics(snapshot: Snapshot) -> list[tuple[TopicRow, float | None]]:
    """The largest topics with their shares of the bytes of all topics in the scope."""
    total = snapshot.totals.disk_bytes.value_if_complete
    rows = snapshot.largest_topics(ROWS_SHOWN)
    return [
        (row, (row.disk_bytes.value_if_complete or 0) / total if total else None) for row in rows
    ]


def _worst_first(
    brokers: list[BrokerRow], warnings: Mapping[int, list[BrokerWarning]]
) -> list[BrokerRow]:
    """The brokers in the overview: all if they are few, else those with problems first."""
    if len(brokers) <= BROKERS_SHOWN:
        return brokers
    return sorted(brokers, key=lambda row: (row.up, not warnings[row.id], row.id))[:BROKERS_SHOWN]


def _fullest_broker(brokers: list[BrokerRow]) -> dict[str, Any] | None:
    """The broker whose disks are the fullest; None if no disk is known."""
    known = [
        (each.disk_used_percent, each.id) for each in brokers if each.disk_used_percent is not None
    ]
    if not known:
        return None
    used, broker = max(known)
    tone = TONES.get(disk_tone(used), "")
    return {"id": broker, "used": numbers.percent(used / 100), "tone": tone}


def _sparkline(points: list[Totals | None], name: str) -> list[float | None]:
    """The values of a sparkline; None if the sample failed or the sum is incomplete."""
    return [None if point is None else getattr(point, name).value_if_complete for point in points]


def _change_text(values: list[float | None]) -> str:
    """The newest value compared with the oldest one of the sparkline; "" if one is unknown."""
    if len(values) < 2 or not values[0] or values[-1] is None:
        return ""
    percent = round((values[-1] / values[0] - 1) * 100)
    sign = "+" if percent > 0 else "−" if percent else "±"
    return _("%(change)s %% since the line's start") % {"change": f"{sign}{abs(percent)}"}
