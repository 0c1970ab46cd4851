"""The lines of `configs --describe`, as Kafka's ConfigCommand. Pure."""

from collections.abc import Sequence
from typing import Any

from brokerd.config.value_parsers import ConfigSource

def heading(kind: str, name: str, *, everything: bool) -> str:
    """The line above the settings of a topic or broker; '' is the default of all brokers."""
    if not name:
        return f"Default configs for {kind}s in the cluster are:"
    return f"{'All' if everything else 'Dynamic'} configs for {kind} {name} are:"


def config_line(entry: Any) -> str:
    synonyms = ", ".join(
        f"{ConfigSource(each.source).name}:{each.name}={_value_text(each.value)}"
        for each in entry.synonyms
    )
    sensitive = "true" if entry.is_sensitive else "false"
    return (
        f"  {entry.name}={_value_text(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"
    )


def entries_to_show(entries: Sequence[Any], source: int, *, everything: bool) -> list[Any]:
    """The settings that --describe shows, sorted by name: all, or those of one source."""
    shown = [each for each in entries if everything or each.config_source == source]
    return sorted(shown, key=lambda each: str(each.name))


def _value_text(value: str | None) -> str:
    return "null" if value is None else value
