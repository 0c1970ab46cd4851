"""The field in which users choose another topic, partition, group or broker for the charts."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.error_texts import group_not_found, topic_not_found
from console.accounts.request_types import ClusterRequest
from console.charts import make_chart
from console.charts.chart_query import ChartQuery, InvalidQuery
from console.live import snapshot_cache
from monitoring.read_model.snapshot import Snapshot

SUGGESTED_MAX = 100


@dataclass(frozen=True, slots=True)
class OtherResourceField:
    """The field: what is chosen, why it cannot be shown (empty = it can), and suggestions."""

    label: str
    name: str
    error: str
    suggested: list[str]


def field(request: ClusterRequest, query: ChartQuery) -> OtherResourceField | None:
    """The field beside the charts of the query's subject; None for charts of a cluster."""
    if query.kind == "cluster":
        return None
    labels = {
        "topic": _("Another topic"),
        "group": _("Another group"),
        "broker": _("Another broker"),
    }
    label = labels[query.kind] if query.partition is None else _("Another partition")
    snapshot = snapshot_cache.snapshot(request.cluster.slug, request.rights)
    name = request.GET.get("with", "").strip()
    suggested = [n for n in _names(snapshot, query) if n != query.subject_name]
    return OtherResourceField(label, name, _error(request, snapshot, query, name), suggested)


def _names(snapshot: Snapshot | None, query: ChartQuery) -> list[str]:
    if snapshot is None:
        return []
    if query.kind == "broker":
        return [str(row.id) for row in snapshot.brokers]
    if query.kind == "group":
        return [row.name for row in snapshot.groups_most_behind(SUGGESTED_MAX)]
    if query.partition is None:
        return [row.name for row in snapshot.busiest_topics(SUGGESTED_MAX)]
    rows = snapshot.partitions(query.topic)[:SUGGESTED_MAX]
    return [f"{query.topic}/{row.partition}" for row in rows]


def _error(request: ClusterRequest, snapshot: Snapshot | None, query: ChartQuery, name: str) -> str:
    """Why the subject with this name cannot be shown; empty if it can, or if nothing is chosen."""
    if not name:
        return ""
    try:
        other = query.for_subject(name)
    except InvalidQuery:
        if query.kind == "broker":
            return _("Enter the id of a broker.")
        return _("Enter a topic and a partition, as in orders/3.")
    is_there = make_chart.may_see(request.rights, other)
    if is_there and snapshot is not None:
        is_there = _is_in(snapshot, other)
    if is_there:
        return ""
    if query.kind == "broker":
        return _("This cluster has no broker %(id)d.") % {"id": other.broker}
    if query.kind == "group":
        return group_not_found(other.group)
    if other.partition is not None and make_chart.may_see(request.rights, other):
        return _("This topic has no partition %(n)d.") % {"n": other.partition}
    return topic_not_found(other.topic)


def _is_in(snapshot: Snapshot, query: ChartQuery) -> bool:
    if query.kind == "broker":
        return any(row.id == query.broker for row in snapshot.brokers)
    if query.kind == "group":
        return snapshot.group(query.group) is not None
    if query.partition is None:
        return snapshot.has_topic(query.topic)
    return any(row.partition == query.partition for row in snapshot.partitions(query.topic))
