"""Parses --add-config, and makes the lines of --describe, as Kafka's ConfigCommand. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from brokerd.cli.options import CliError
from brokerd.config.value_parsers import ConfigSource

_OUTSIDE_BRACKETS = r"(?=[^\]]*(?:\[|$))"
_BETWEEN = re.compile("," + _OUTSIDE_BRACKETS)
_EQUALS = re.compile(r"\s*=\s*" + _OUTSIDE_BRACKETS)


def parse_added_configs(text: str) -> dict[str, str]:
    """`a=b,c=[d,e]` as pairs; brackets keep commas together. Raises CliError."""
    pairs = [_EQUALS.split(each) for each in _BETWEEN.split(text.rstrip(","))]
    if any(len(pair) != 2 for pair in pairs):
        raise CliError(
            "requirement failed: Invalid entity config: all configs to be added must be in the"
            ' format "key=val".'
        )
    return {key.strip(): re.sub(r"[\[\]]", "", value).strip() for key, value in pairs}


def check_are_set(names: Iterable[str], current: Collection[str], what: str = "config(s)") -> None:
    """Raises CliError if one of `names` is not in `current`: settings that are set, or loggers."""
    unknown = [name for name in names if name not in current]
    if unknown:
        raise CliError(f"Invalid {what}: {','.join(unknown)}")


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
