"""The list of clusters: its columns, and the rows of a user."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.live import snapshot_cache
from console.ui.table import Column, Table
from monitoring.clusters import kafka_cluster_id
from monitoring.models import Cluster


def table_of(principal: Principal, params: Mapping[str, str]) -> Table:
    """The clusters that the user may see; see `_rows`."""
    columns = [
        Column(
            "cluster", _("Cluster"), lambda row: row["cluster"].name.casefold(),
            exported=lambda row: row["cluster"].name,
        ),
        Column("slug", _("Short name"), lambda row: row["cluster"].slug, is_only_in_csv=True),
        Column("samples", _("Samples"), lambda row: row["status"].state),
        Column("brokers", _("Brokers"), lambda row: _total(row, "brokers"), numeric=True),
        Column("brokers-up", "", lambda row: _total(row, "brokers_up"), is_only_in_csv=True),
        Column("topics", _("Topics"), lambda row: _total(row, "topics"), numeric=True),
        Column("lag", _("Lag"), lambda row: _total(row, "lag"), numeric=True),
        Column("bootstrap", _("Bootstrap servers"), lambda row: row["cluster"].bootstrap_servers),
        Column("role", _("Your role"), lambda row: row["role"]),
        Column("edit", _("Edit"), is_title_hidden=True),
    ]  # fmt: skip
    table = Table(params, columns, "cluster", id="clusters")
    return table.show(_rows(principal), _searched_text)


def _rows(principal: Principal) -> list[dict[str, Any]]:
    """The clusters that the user may see, with status, totals and role.

    `same_cluster`: the names of other entries for the same Kafka cluster.
    """
    rows = []
    for cluster in Cluster.objects.all():
        rights = principal.rights(cluster)
        if rights.may("cluster.view"):
            snapshot = snapshot_cache.snapshot(cluster.slug, rights)
            same_cluster = [
                other.name
                for other in kafka_cluster_id.others(cluster)
                if principal.may("cluster.view", other)
            ]
            rows.append(
                {
                    "cluster": cluster,
                    "status": snapshot_cache.sample_status(cluster.slug, rights),
                    "totals": snapshot.totals if snapshot else None,
                    "role": rights.role,
                    "same_cluster": ", ".join(same_cluster),
                }
            )
    return rows


def _total(row: Mapping[str, Any], name: str) -> Any:
    """A total of the newest snapshot; None without one."""
    return getattr(row["totals"], name) if row["totals"] else None


def _searched_text(row: Mapping[str, Any]) -> str:
    cluster = row["cluster"]
    return f"{cluster.name} {cluster.slug} {cluster.bootstrap_servers}"
