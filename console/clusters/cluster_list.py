"""The list of clusters: its columns, and the rows of a user."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.clusters import services
from console.ui.table import Column, Table


def table_of(principal: Principal, params: Mapping[str, str]) -> Table:
    """The clusters that the user may see; rows as in `services.visible_rows`."""
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
    return table.show(services.visible_rows(principal), _searched_text)


def _total(row: Mapping[str, Any], name: str) -> Any:
    """A total of the newest snapshot; None without one."""
    return getattr(row["totals"], name) if row["totals"] else None


def _searched_text(row: Mapping[str, Any]) -> str:
    cluster = row["cluster"]
    return f"{cluster.name} {cluster.slug} {cluster.bootstrap_servers}"
