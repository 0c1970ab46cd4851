"""The table of the settings of a topic or broker: value, meaning, source and default. Pure.

By default, settings that differ from their defaults come first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext as _

from console.ui.setting_texts import TOPIC_SOURCE, meaning, source_text
from console.ui.table import Column, Table

_RANKS = {TOPIC_SOURCE: 0, "DYNAMIC_BROKER_CONFIG": 1}


class Entry(Protocol):
    """A setting; implemented by monitoring.gateway.config_value.ConfigValue."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str | None: ...
    @property
    def source(self) -> str: ...
    @property
    def is_default(self) -> bool: ...
    @property
    def is_sensitive(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def default(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting as a row of the table."""

    name: str
    value: str | None
    meaning: str  # a duration, a size or "no limit"; else empty
    source: str
    is_default: bool
    is_sensitive: bool
    is_read_only: bool
    default: str | None  # Kafka's default
    rank: int  # sort key of the source: the topic's own settings come first


def build(params: Mapping[str, str], entries: Iterable[Entry]) -> dict[str, Any]:
    """The template's context: the table, and how many settings differ from their defaults."""
    rows = [
        SettingRow(
            entry.name,
            entry.value,
            meaning(entry.name, entry.value),
            source_text(entry.source),
            entry.is_default,
            entry.is_sensitive,
            entry.is_read_only,
            entry.default,
            _RANKS.get(entry.source, len(_RANKS)),
        )
        for entry in entries
    ]
    columns = [
        Column("name", _("Setting"), lambda row: row.name),
        Column("value", _("Value")),
        Column("meaning", _("Meaning")),
        Column("default", _("Default")),
        Column("source", _("Source"), lambda row: (row.is_default, row.rank, row.name)),
    ]
    table = Table(params, columns, "source", id="settings", page_size=200)
    table.show(rows, lambda row: f"{row.name} {row.value}")
    return {"table": table, "overridden": sum(not row.is_default for row in rows)}
