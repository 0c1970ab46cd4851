"""The entities of quotas (users, client ids, addresses) as texts. Pure."""

from collections.abc import Iterable, Mapping

from monitoring.gateway.wire.quotas import Entity

USER, CLIENT_ID, IP = "user", "client-id", "ip"
TYPES = (USER, CLIENT_ID, IP)
DEFAULT = "<default>"  # as Kafka's tools write it
# Quotas of users and client ids, and of addresses.
CLIENT_QUOTAS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
)
ADDRESS_QUOTAS = ("connection_creation_rate",)


def entity_of(names: Mapping[str, str]) -> Entity:
    """The entity with these names by type; an empty name leaves the type out."""
    return tuple(
        (kind, None if names[kind] == DEFAULT else names[kind])
        for kind in sorted(TYPES)
        if names.get(kind)
    )


def names_of(entity: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The names by type: the inverse of `entity_of`."""
    return {kind: DEFAULT if name is None else name for kind, name in entity}


def title_of(entity: Iterable[tuple[str, str | None]]) -> str:
    """Such as "user ann, client-id <default>"."""
    return ", ".join(f"{kind} {name}" for kind, name in sorted(names_of(entity).items()))


def quotas_for(entity: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
    """The names of the quotas that Kafka has for this kind of entity."""
    return ADDRESS_QUOTAS if any(kind == IP for kind, _name in entity) else CLIENT_QUOTAS
