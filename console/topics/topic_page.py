"""The live parts of a topic's pages: its partitions, and the groups that read it."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.groups import lag_state_texts
from console.live import snapshot_cache
from console.ui.table import Column, Table
from monitoring.models import Cluster

PARTITIONS_PAGE_SIZE = 200


def partitions(
    cluster: Cluster, rights: Rights, topic: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The partitions of a topic and their sums; None if the topic is not in the sample."""
    if (base := _topic_in_sample(cluster, rights, topic)) is None:
        return None
    columns = [
        Column("partition", _("Partition"), lambda row: row.partition, numeric=True),
        Column("leader", _("Leader"), lambda row: row.leader, numeric=True),
        Column("replicas", _("Replicas"), exported=lambda row: " ".join(map(str, row.replicas))),
        Column(
            "isr",
            _("In sync"),
            lambda row: len(row.isr) - len(row.replicas),
            exported=lambda row: " ".join(map(str, row.isr)),
        ),
        Column("start", _("Log start offset"), lambda row: row.log_start_offset, numeric=True),
        Column("end", _("End offset"), lambda row: row.log_end_offset, numeric=True),
        Column("offsets", _("Offsets"), lambda row: row.offset_count, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("last-record", _("Last record"), lambda row: row.last_record.at_ms, numeric=True),
        Column("open", _("Open"), is_title_hidden=True),
    ]
    table = Table(query, columns, "partition", id="partitions", page_size=PARTITIONS_PAGE_SIZE)
    table.show(base["snapshot"].partitions(topic), lambda row: str(row.partition))
    return base | {"table": table, "may_read": rights.may("record.read", topic)}


def readers(
    cluster: Cluster, rights: Rights, topic: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The groups that read a topic; None if the topic is not in the sample."""
    if (base := _topic_in_sample(cluster, rights, topic)) is None:
        return None
    columns = [
        Column("group", _("Group"), lambda row: row.group),
        Column(
            "read-state",
            _("State"),
            lambda row: row.lag_state,
            exported=lambda row: row.lag_state.key,
        ),
        Column("state", _("Group state"), lambda row: row.state),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("members", _("Members"), lambda row: row.members, numeric=True),
        Column("lag", _("Lag"), lambda row: row.lag, numeric=True),
    ]
    table = Table(query, columns, "-lag", id="readers")
    table.show(base["snapshot"].readers(topic), lambda row: row.group)
    return base | {
        "table": table.map_rows(lambda row: (row, lag_state_texts.of_group_on_topic(row)))
    }


def _topic_in_sample(cluster: Cluster, rights: Rights, topic: str) -> dict[str, Any] | None:
    """What both contexts share; None if the topic is not in the sample."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    row = snapshot.topic(topic) if snapshot and rights.may("topic.view", topic) else None
    if snapshot is None or row is None:
        return None
    return {"topic": topic, "row": row, "snapshot": snapshot, "at_ms": snapshot.at_ms}
