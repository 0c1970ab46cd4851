"""The live tables of topics, of a topic's partitions, and of the groups that read a topic."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.groups import states
from console.live import snapshot_cache
from console.topics import topic_list
from console.ui.table import Column, Table
from monitoring.lag.flow import Flow
from monitoring.models import Cluster

PARTITIONS_PAGE_SIZE = 200


def topics(
    cluster: Cluster, rights: Rights, resource: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """All topics; internal ones (`__…`) only if `internal` is 1."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    rows = snapshot.topics if snapshot else []
    internal = query.get("internal") == "1"
    if not internal:
        rows = [row for row in rows if not row.is_internal]
    chosen = query.get("show", "")
    if chosen in topic_list.FILTERS:
        rows = list(filter(topic_list.FILTERS[chosen], rows))
    may_select = rights.may("topic.configure") and not cluster.read_only
    every = topic_list.columns()
    shown = topic_list.shown(query.get("columns", ""))
    columns = [
        *([Column("select", "")] if may_select else []),
        *(column for column in every if column.key in shown),
    ]
    table = Table(query, columns, "name", id="topics").show(rows, lambda row: row.name)
    names = states.names()
    table.map_rows(lambda row: (row, _state(row.flow, names)))
    return {
        "table": table,
        "shown": shown,
        "choices": [
            (column.title, column.key in shown, table.url(columns=text, page=None))
            for column, text in topic_list.toggles(every, shown)
        ],
        "filters": [
            (title, key == chosen, table.url(show=key or None, page=None))
            for key, title in topic_list.filter_titles()
        ],
        "filtered": chosen in topic_list.FILTERS,
        "at_ms": snapshot.at_ms if snapshot else None,
        "internal": internal,
        "internal_url": table.url(internal=None if internal else "1", page=None),
        "may_select": may_select,
        "may_purge": rights.may("topic.purge"),
        "may_create": rights.may("topic.create") and not cluster.read_only,
    }


def _state(flow: Flow | None, names: Mapping[Flow, str]) -> tuple[str, str] | None:
    """(name, key) of the worst state of the groups that read a topic."""
    return None if flow is None else (names[flow], flow.key)


def partitions(
    cluster: Cluster, rights: Rights, topic: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The partitions of a topic and their sums; None if the topic is not in the sample."""
    if (base := _of_topic(cluster, rights, topic)) is None:
        return None
    columns = [
        Column("partition", _("Partition"), lambda row: row.partition, numeric=True),
        Column("leader", _("Leader"), lambda row: row.leader, numeric=True),
        Column("replicas", _("Replicas")),
        Column(
            "isr",
            _("In sync"),
            lambda row: len(row.isr) - len(row.replicas),
            exported=lambda row: len(row.isr),
        ),
        Column("start", _("Log start offset"), lambda row: row.log_start_offset, numeric=True),
        Column("end", _("End offset"), lambda row: row.log_end_offset, numeric=True),
        Column("offsets", _("Offsets"), lambda row: row.offsets, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("open", ""),
    ]
    table = Table(query, columns, "partition", id="partitions", page_size=PARTITIONS_PAGE_SIZE)
    table.show(base["snapshot"].partitions(topic), lambda row: str(row.partition))
    return base | {"table": table, "may_read": rights.may("record.read", topic)}


def readers(
    cluster: Cluster, rights: Rights, topic: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The groups that read a topic; None if the topic is not in the sample."""
    if (base := _of_topic(cluster, rights, topic)) is None:
        return None
    columns = [
        Column("group", _("Group"), lambda row: row.group),
        Column("state", _("State"), lambda row: row.state),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("members", _("Members"), lambda row: row.members, numeric=True),
        Column("lag", _("Lag"), lambda row: row.lag, numeric=True),
    ]
    table = Table(query, columns, "-lag", id="readers")
    return base | {"table": table.show(base["snapshot"].readers(topic), lambda row: row.group)}


def _of_topic(cluster: Cluster, rights: Rights, topic: str) -> dict[str, Any] | None:
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    row = snapshot.topic(topic) if snapshot and rights.may("topic.view", topic) else None
    if snapshot is None or row is None:
        return None
    return {"topic": topic, "row": row, "snapshot": snapshot, "at_ms": snapshot.at_ms}
