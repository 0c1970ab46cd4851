"""Whose settings `configs` is asked for, in the words of Kafka's tool."""

import pytest

from brokerd.cli.config_entities import DEFAULTS, NAMED, read_entities
from brokerd.cli.options import CliError, Options


def options(types: list[str] | None = None, names: list[str] | None = None, **short: str | bool):
    values = {flag.replace("-", "_"): None for flag, _ in (*NAMED, *DEFAULTS)}
    return Options(entity_types=types, entity_names=names, **{**values, **short})


@pytest.mark.parametrize(
    ("given", "types", "names"),
    [
        (options(["topics"], ["t"]), ("topics",), ("t",)),
        (options(["users", "clients"], ["ada", ""]), ("users", "clients"), ("ada", "")),
        (options(["clients", "users"], [""]), ("clients", "users"), ("",)),
        (options(user="ada", client_defaults=True), ("users", "clients"), ("ada", "")),
        (options(broker_logger="1"), ("broker-loggers",), ("1",)),
        (options(broker_defaults=True), ("brokers",), ("",)),
        (options(ip="::1"), ("ips",), ("::1",)),
    ],
)
def test_types_and_names_are_read_in_order(given, types, names) -> None:
    entities = read_entities(given)
    assert (entities.types, entities.names) == (types, names)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (options(), "At least one entity type must be specified"),
        (options(["moons"]), "Invalid entity type moons, the entity type must be one of topics,"),
        (options(["users", "users"]), "Duplicate entity type(s) specified: users"),
        (options(["users"], user="x"), "Duplicate entity type(s) specified: users"),
        (options(["users", "topics"]), "Only 'users' and 'clients' entity types may be specified"),
        (options(names=[""], topic="t"), "--entity-{type,name,default} should not be used"),
        (options(broker="one"), "The entity name for brokers must be a valid integer broker id"),
        (options(["broker-loggers"], ["x"]), "The entity name for broker-loggers must be a valid"),
    ],
)
def test_what_cannot_be_meant_is_said(given, said: str) -> None:
    with pytest.raises(CliError) as refused:
        read_entities(given)
    assert str(refused.value).startswith(said)


def test_a_change_needs_a_name_and_loggers_a_broker() -> None:
    for given in (options(["users"]), options(["brokers"])):
        with pytest.raises(CliError, match="an entity-name or default entity must be specified"):
            read_entities(given).check_alterable()
    for given in (options(["topics"]), options(["topics"], [""])):
        with pytest.raises(CliError, match="an entity name must be specified with --alter of top"):
            read_entities(given).check_alterable()
    with pytest.raises(CliError, match="must be specified with --describe of broker-loggers"):
        read_entities(options(["broker-loggers"])).check_describable()
    read_entities(options(user_defaults=True)).check_alterable()
    read_entities(options(["topics"])).check_describable()
