"""The context of a consumer group's page, for the page and its live fragment."""

import math
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.groups import lag_state_texts
from console.groups.member_rows import members
from console.live import snapshot_cache
from console.ui import numbers, times
from console.ui.table_query import Column, TableQuery
from monitoring.lag.lag_state import LagState
from monitoring.models import Cluster, ClusterEvent
from monitoring.read_model.row_types import GroupRow, LagRow
from monitoring.read_model.snapshot import Snapshot

ROWS_MAX = 500
REBALANCES_SHOWN = 20
PARAMS = ("sort", "page", "rows", "only")
BEHIND = "behind"  # the value of `only`


def context(
    cluster: Cluster, rights: Rights, name: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The context of the group's page; None if there is no sample or no such group."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    group = snapshot.group(name) if snapshot else None
    if snapshot is None or group is None:
        return None
    first_members, count = members(snapshot.rows_of_group(name), ROWS_MAX)
    topics = snapshot.topics_of_group(name, ROWS_MAX)
    return {
        "group": group,
        "state": lag_state_texts.of_group(group),
        "state_counts": lag_state_texts.counts(group),
        "drained": time_until_drained(group),
        "at_ms": snapshot.at_ms,
        "reported_at_ms": group.reported_at_ms or snapshot.at_ms,
        "members": first_members,
        "rebalances": _last_rebalances(cluster, name),
        # Of topics outside of the scope not even the number of partitions is shown.
        "hides_topics": snapshot.hides_topics_of(name),
        "members_left_out": _left_out(count),
        "topics": topics,
        "topics_left_out": _left_out(group.topics),
        "existing_topics": {row.topic for row in topics if snapshot.has_topic(row.topic)},
        "table": partitions_table(snapshot, group, query),
        "only_behind": query.get("only") == BEHIND,
    }


def _last_rebalances(cluster: Cluster, group: str) -> list[ClusterEvent]:
    """The last rebalances of a group that the user may see, the newest first."""
    found = ClusterEvent.objects.filter(cluster=cluster, kind=ClusterEvent.Kind.REBALANCE)
    return list(found.filter(name=group)[:REBALANCES_SHOWN])


def partitions_table(snapshot: Snapshot, group: GroupRow, query: Mapping[str, str]) -> TableQuery:
    """The partitions, sorted and paged; by default the largest lag first."""
    sortable = "any text"  # marks a column as sortable; LagRows.sorted_by sorts, not the table
    columns = [
        Column("topic", _("Topic"), sortable, exported=attrgetter("topic")),
        Column("partition", _("Part."), sortable, numeric=True, exported=attrgetter("partition")),
        Column("state", _("State"), sortable, exported=attrgetter("lag_state.key")),
        Column("lag", _("Lag"), sortable, numeric=True, exported=attrgetter("lag")),
        Column("rate", _("Change"), sortable, numeric=True, exported=attrgetter("lag_rate")),
        Column("unread", _("Unread"), sortable, numeric=True,
               exported=attrgetter("uncommitted_records")),
        Column("committed", _("Committed"), sortable, numeric=True,
               exported=attrgetter("committed_offset")),
        Column("end", _("End"), sortable, numeric=True, exported=attrgetter("log_end_offset")),
        Column("owner", _("Owned by"), sortable, exported=attrgetter("client_id")),
    ]  # fmt: skip
    left_out = {"topic"} if group.topics == 1 else set()
    left_out |= set() if group.not_committed else {"unread"}
    shown = [column for column in columns if column.key not in left_out]
    table = TableQuery(query, shown, "-lag", id="live-group")
    rows = snapshot.lag_rows(group.name)
    rows = rows.behind() if query.get("only") == BEHIND else rows
    rows = rows.sorted_by(table.sort.removeprefix("-"), table.is_descending)
    return table.paginate(rows).map_rows(PartitionRow)


class PartitionRow:
    """A partition with its state, for the template."""

    def __init__(self, row: LagRow) -> None:
        self.row = row
        self.state = lag_state_texts.of_partition(row)


def time_until_drained(group: GroupRow) -> str:
    """The time until the lag is 0, as text; unknown for a group that has caught up."""
    seconds = group.drained_s
    if seconds is None or group.lag_state is LagState.CAUGHT_UP:
        return numbers.UNKNOWN
    return _("never") if math.isinf(seconds) else times.duration(seconds)


def _left_out(count: int) -> int:
    return max(0, count - ROWS_MAX)
