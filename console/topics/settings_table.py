"""The table of a topic's settings: value, where it comes from, whether it was changed."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.table import Column, Table


def build(params: Mapping[str, str], entries: Iterable[Any]) -> dict[str, Any]:
    """`entries` are the gateway's ConfigEntry: name, value, source, is_default, is_sensitive."""
    rows = list(entries)
    columns = [
        Column("name", _("Setting"), lambda row: row.name),
        Column("value", _("Value")),
        Column("source", _("Comes from"), lambda row: row.source),
    ]
    table = Table.of(params, columns, "name", id="settings", page_size=200)
    table.show(rows, lambda row: f"{row.name} {row.value}")
    return {"table": table, "overridden": sum(not row.is_default for row in rows)}
