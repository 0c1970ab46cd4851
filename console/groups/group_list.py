"""The live list of a cluster's consumer groups (templates/groups/table.html)."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.groups import lag_state_texts
from console.live import snapshot_cache
from console.ui.table import Column, Table
from monitoring.models import Cluster


def columns() -> list[Column]:
    return [
        Column("name", _("Group"), lambda row: row.name),
        Column(
            "state", _("State"), lambda row: row.lag_state, exported=lambda row: row.lag_state.key
        ),
        Column("members", _("Members"), lambda row: row.members, numeric=True),
        Column("topics", _("Topics"), lambda row: row.topics, numeric=True),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("lag", _("Lag"), lambda row: row.lag, numeric=True),
        Column(
            "not-committed",
            _("Partitions without a commit"),
            exported=lambda row: row.not_committed,
            is_only_in_csv=True,
        ),
        Column(
            "unread",
            _("Records without a commit"),
            exported=lambda row: row.uncommitted_records,
            is_only_in_csv=True,
        ),
        Column("trend", _("Change"), lambda row: row.lag_rate, numeric=True),
        Column("produced", _("Produced"), lambda row: row.produced_rate, numeric=True),
        Column("consumed", _("Consumed"), lambda row: row.consumed_rate, numeric=True),
        Column("coordinator", _("Coordinator"), lambda row: row.coordinator, numeric=True),
    ]


def context(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """All groups, sorted by lag, highest first."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    table = Table(query, columns(), "-lag", id="groups")
    names = lag_state_texts.names()
    table.show(
        snapshot.groups if snapshot else [],
        lambda row: f"{row.name} {row.state} {names[row.lag_state]}",
    )
    table.map_rows(lambda row: (row, lag_state_texts.of_group(row)))
    return {"table": table, "at_ms": snapshot.at_ms if snapshot else None}
