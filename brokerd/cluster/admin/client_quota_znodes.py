"""Quotas of users, clients and addresses as Kafka keeps them in ZooKeeper (KIP-13, 257, 546, 612).

    /config/users/<user>                       {"producer_byte_rate":"1048576", …}
    /config/clients/<client id>
    /config/users/<user>/clients/<client id>
    /config/ips/<address>                      {"connection_creation_rate":"5"}

`<default>` stands for everybody else. Beside its quotas a user's node may hold credentials, which
are neither returned nor changed here. Pure: what is returned and written. Nothing throttles.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import isfinite
from typing import Final, NamedTuple

from brokerd.cluster.admin.config_admin import sanitized, unsanitized
from brokerd.config.dynamic_broker_config import DEFAULT_NAME
from brokerd.errors import ErrorCode, KafkaError

USER, CLIENT_ID, IP = "user", "client-id", "ip"
EXACT, DEFAULT, ANY = 0, 1, 2
_EPSILON = 1e-6
_LONG, _INT, _DOUBLE = "LONG", "INT", "DOUBLE"
_CLIENT_QUOTAS: Final[Mapping[str, str]] = {
    "producer_byte_rate": _LONG,
    "consumer_byte_rate": _LONG,
    "request_percentage": _DOUBLE,
    "controller_mutation_rate": _DOUBLE,
}
_IP_QUOTAS: Final[Mapping[str, str]] = {"connection_creation_rate": _INT}

Entity = Mapping[str, str | None]
"""Names by entity type; None is the default of that type."""


class QuotaChange(NamedTuple):
    """One quota of an entity; a value of None removes it."""

    key: str
    value: float | None


class Component(NamedTuple):
    """One entity type of a filter: EXACT `name`, the DEFAULT, or ANY name."""

    kind: str
    match: int
    name: str | None


def entity_path(entity: Entity) -> str:
    """Where below /config an entity's quotas lie. Raises KafkaError(INVALID_REQUEST)."""
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in entity.items():
        if kind not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    parts = {kind: DEFAULT_NAME if name is None else sanitized(name)
             for kind, name in entity.items()}  # fmt: skip
    if IP in parts:
        if len(parts) > 1:
            raise _invalid("A quota is for an ip, or for a user or client-id, not for both")
        return f"ips/{parts[IP]}"
    if USER not in parts:
        return f"clients/{parts[CLIENT_ID]}"
    of_client = f"/clients/{parts[CLIENT_ID]}" if CLIENT_ID in parts else ""
    return f"users/{parts[USER]}{of_client}"


def changed_quotas(
    held: Mapping[str, str], path: str, changes: Iterable[QuotaChange]
) -> dict[str, str]:
    """The config after all changes. Raises KafkaError(INVALID_REQUEST)."""
    known = _IP_QUOTAS if path.startswith("ips/") else _CLIENT_QUOTAS
    wanted = dict(held)
    for change in changes:
        kind = known.get(change.key)
        if change.value is None:
            if kind is not None:
                wanted.pop(change.key, None)
            continue
        if kind is None:
            raise _invalid(f"Invalid configuration key {change.key}")
        wanted[change.key] = _text(change.key, kind, change.value)
    return wanted


def _text(key: str, kind: str, value: float) -> str:
    if kind == _DOUBLE and isfinite(value):
        return repr(value)
    most = 2**31 - 1 if kind == _INT else 2**63 - 1
    whole = int(value + _EPSILON) if abs(value) <= most else 0
    if kind == _DOUBLE or not abs(whole - value) <= _EPSILON:
        raise _invalid(f"Configuration {key} must be a {kind} value")
    return str(whole)


def check_filter(components: Iterable[Component]) -> None:
    """Raises KafkaError for a filter that makes no sense."""
    seen: set[str] = set()
    for each in components:
        if each.kind in seen:
            raise _invalid(f"Duplicate filter component entity type: {each.kind}")
        if not each.kind:
            raise _invalid("Unexpected empty filter component entity type")
        if each.kind not in (USER, CLIENT_ID, IP):
            message = f"Custom entity type '{each.kind}' not supported"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        if each.match not in (EXACT, DEFAULT, ANY) or (each.match == EXACT and each.name is None):
            raise _invalid(f"Unexpected match type {each.match} or missing name of {each.kind}")
        seen.add(each.kind)
    if IP in seen and len(seen) > 1:
        raise _invalid("Invalid entity filter component combination: ip with user or client-id")


def found_quotas(
    configs: Mapping[str, Mapping[str, str]], components: Iterable[Component], *, strict: bool
) -> list[tuple[Entity, dict[str, float]]]:
    """The entities that the filter wants with their quotas, of configs by path. `strict`: those
    alone that have no other entity type than the filter names."""
    wanted = {each.kind: each for each in components}
    found = []
    for path, config in configs.items():
        entity = _entity_at(path)
        quotas = _quotas_in(config, _IP_QUOTAS if IP in entity else _CLIENT_QUOTAS)
        if quotas and _is_wanted(entity, wanted, strict):
            found.append((entity, quotas))
    return found


def _entity_at(path: str) -> Entity:
    kinds = {"users": USER, "clients": CLIENT_ID, "ips": IP}
    parts = path.split("/")
    return {
        kinds[kind]: None if name == DEFAULT_NAME else unsanitized(name)
        for kind, name in zip(parts[::2], parts[1::2], strict=True)
    }


def _quotas_in(config: Mapping[str, str], known: Mapping[str, str]) -> dict[str, float]:
    quotas = {}
    for key in known.keys() & config.keys():
        with suppress(ValueError):  # a quota that is no number limits nothing
            quotas[key] = float(config[key])
    return dict(sorted(quotas.items()))


def _is_wanted(entity: Entity, wanted: Mapping[str, Component], strict: bool) -> bool:
    """Whether the entity has every type of the filter (`strict`: no other), with matching names."""
    if not wanted.keys() <= entity.keys() or (strict and wanted.keys() != entity.keys()):
        return False
    return all(
        each.match == ANY or entity[kind] == (each.name if each.match == EXACT else None)
        for kind, each in wanted.items()
    )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
