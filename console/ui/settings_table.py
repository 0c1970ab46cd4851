"""The table of the settings of a topic or broker: value, meaning, source and default. Pure.

By default, settings that differ from their defaults come first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext as _

from console.ui import numbers, times
from console.ui.table import Column, Table

TOPIC_SOURCE = "DYNAMIC_TOPIC_CONFIG"  # Kafka's name: the value is set for the topic itself
_RANKS = {TOPIC_SOURCE: 0, "DYNAMIC_BROKER_CONFIG": 1}
_NO_LIMIT = {"-1", str(2**63 - 1), str(2**31 - 1)}


class Entry(Protocol):
    """A setting; implemented by monitoring.gateway.topic_admin.ConfigValue."""

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


def source_text(source: str) -> str:
    """Where a value comes from, for Kafka's name of its source."""
    return {
        "DEFAULT_CONFIG": _("default"),
        TOPIC_SOURCE: _("this topic"),
        "STATIC_BROKER_CONFIG": _("the broker's file"),
        "DYNAMIC_BROKER_CONFIG": _("this broker"),
        "DYNAMIC_DEFAULT_BROKER_CONFIG": _("all brokers"),
    }.get(source, source)


def meaning(name: str, value: str | None) -> str:
    """Milliseconds or bytes in a readable unit; "≈" if a duration was rounded."""
    unit = name.rpartition(".")[2]
    if value is None or unit not in ("ms", "bytes", "messages"):
        return ""
    if value in _NO_LIMIT:
        return _("no limit")
    if not value.isdigit() or unit == "messages":
        return ""
    if unit == "bytes":
        return numbers.size(int(value))
    seconds = int(value) / 1000
    is_rounded = seconds % times.duration_step_s(seconds) != 0
    return f"≈ {times.duration(seconds)}" if is_rounded else times.duration(seconds)
