"""Quotas of users, clients and addresses in `configs`: parts of requests and lines of output, as in
Kafka's ConfigCommand. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from brokerd.cli.config_entities import QUOTA_TYPES, Entities
from brokerd.cli.options import CliError
from brokerd.config.value_parsers import java_double

EXACT, DEFAULT, ANY = 0, 1, 2
_SHOWN_TYPES = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


def entity_filter(entities: Entities) -> list[dict[str, Any]]:
    """The filter for exactly these entities. Raises CliError for a name without a type."""
    if len(entities.names) > len(entities.types):
        raise CliError("More entity names specified than entity types")
    found = []
    for number, kind in enumerate(entities.types):
        name = entities.names[number] if number < len(entities.names) else None
        match = ANY if name is None else EXACT if name else DEFAULT
        found.append({"entity_type": QUOTA_TYPES[kind], "match_type": match, "match": name or None})
    return found


def entity(entities: Entities) -> list[dict[str, str | None]]:
    """The entity whose quotas are to change, as requests have it."""
    return [
        {"entity_type": QUOTA_TYPES[kind], "entity_name": name or None}
        for kind, name in zip(entities.types, entities.names, strict=False)
    ]


def quota_alterations(added: Mapping[str, str], dropped: Iterable[str]) -> list[dict[str, Any]]:
    """The changes as AlterClientQuotas takes them. Raises CliError for what is no number."""
    rows = []
    for key, text in added.items():
        try:
            rows.append({"key": key, "value": float(text), "remove": False})
        except ValueError:
            raise CliError(f"Cannot parse quota configuration value for {key}: {text}") from None
    return rows + [{"key": key, "value": 0.0, "remove": True} for key in dropped]


def quota_line(entry: Any) -> str:
    names = {part.entity_type: part.entity_name for part in entry.entity}
    who = ", ".join(
        f"the default {type_name}" if names[kind] is None else f"{type_name} '{names[kind]}'"
        for kind, type_name in _SHOWN_TYPES.items()
        if kind in names
    )
    values = {each.key: each.value for each in entry.values}
    values_text = ", ".join(f"{key}={java_double(values[key])}" for key in sorted(values))
    return f"Quota configs for {who} are {values_text}"
