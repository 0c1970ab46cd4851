"""Quotas of users, clients and addresses: which are meant, which may change, and their lines, as
Kafka's ConfigCommand has them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brokerd.cli.config_entities import CLIENTS, IPS, QUOTA_TYPES, USERS, Entities
from brokerd.cli.java_hash_order import hash_map_order
from brokerd.cli.options import CliError
from brokerd.cli.scram import MECHANISMS
from brokerd.config.values import java_double

EXACT, DEFAULT, ANY = 0, 1, 2
CLIENT_QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage",
                 "controller_mutation_rate")  # fmt: skip
IP_QUOTAS = ("connection_creation_rate",)
_WORDS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


def components(entities: Entities) -> list[dict[str, Any]]:
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
    """The one entity that is to change."""
    return [
        {"entity_type": QUOTA_TYPES[kind], "entity_name": name or None}
        for kind, name in zip(entities.types, entities.names, strict=False)
    ]


def check_names(entities: Entities, added: Iterable[str], dropped: Iterable[str]) -> None:
    """Raises CliError for a setting that these entities have not, or not with the others."""
    if entities.kind == IPS:
        unknown = [key for key in (*added, *dropped) if key not in IP_QUOTAS]
        if unknown:
            raise _unexpected("connection quota", "added", IPS, unknown)
        return
    is_user = entities.types == (USERS,)
    allowed = (*CLIENT_QUOTAS, *MECHANISMS) if is_user else CLIENT_QUOTAS
    what, kind = ("quota and SCRAM credential", USERS) if is_user else ("quota", CLIENTS)
    for keys, done in ((added, "added"), (dropped, "deleted")):
        unknown = [key for key in keys if key not in allowed]
        if unknown:
            raise _unexpected(what, done, kind, unknown)
    kinds = {key in MECHANISMS for key in (*added, *dropped)}
    if True in kinds and not entities.name:
        raise CliError(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM"
            " Credentials using --bootstrap-server."
        )
    if len(kinds) > 1:
        raise CliError(
            "Cannot alter both quota and SCRAM credential configs simultaneously for"
            f" '{USERS}' using --bootstrap-server."
        )


def _unexpected(what: str, done: str, kind: str, unknown: Sequence[str]) -> CliError:
    return CliError(
        f"Only {what} configs can be {done} for '{kind}' using --bootstrap-server. Unexpected"
        f" config names: {', '.join(unknown)}"
    )


def operations(added: Mapping[str, str], dropped: Iterable[str]) -> list[dict[str, Any]]:
    """The changes as AlterClientQuotas takes them. Raises CliError for what is no number."""
    rows = []
    for key, text in added.items():
        try:
            rows.append({"key": key, "value": float(text), "remove": False})
        except ValueError:
            raise CliError(f"Cannot parse quota configuration value for {key}: {text}") from None
    return rows + [{"key": key, "value": 0.0, "remove": True} for key in dropped]


def quota_line(entry: Any) -> str:
    """One entity and its quotas, an entry of DescribeClientQuotas."""
    names = {part.entity_type: part.entity_name for part in entry.entity}
    who = ", ".join(
        f"the default {words}" if names[kind] is None else f"{words} '{names[kind]}'"
        for kind, words in _WORDS.items()
        if kind in names
    )
    values = {each.key: each.value for each in entry.values}
    values_text = ", ".join(f"{key}={java_double(values[key])}" for key in _in_order(values))
    return f"Quota configs for {who} are {values_text}"


def _in_order(values: Mapping[str, float]) -> list[str]:
    return hash_map_order(values, sized=True)
