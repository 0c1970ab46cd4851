"""Quotas as `configs` reads and shows them, in the words of Kafka's tool."""

from types import SimpleNamespace as Some

import pytest

from brokerd.cli.config_command_quotas import entity, entity_filter, quota_alterations, quota_line
from brokerd.cli.config_entities import Entities
from brokerd.cli.options import CliError

USER = Entities(("users",), ("ada",))
BOTH = Entities(("users", "clients"), ("ada", ""))


def shown(quotas: dict[str, float], **names: str | None) -> str:
    parts = [Some(entity_type=kind.replace("_", "-"), entity_name=name)
             for kind, name in names.items()]  # fmt: skip
    values = [Some(key=key, value=value) for key, value in quotas.items()]
    return quota_line(Some(entity=parts, values=values))


def test_a_line_names_the_entity_and_its_quotas_as_java_writes_them() -> None:
    assert shown({"producer_byte_rate": 12345678.0}, user=None) == (
        "Quota configs for the default user-principal are producer_byte_rate=1.2345678E7"
    )
    quotas = {"producer_byte_rate": 1024.0, "consumer_byte_rate": 2048.0}
    assert shown(quotas, client_id="x y", user="ada") == (
        "Quota configs for user-principal 'ada', client-id 'x y' are consumer_byte_rate=2048.0,"
        " producer_byte_rate=1024.0"
    )
    assert shown({"connection_creation_rate": 5.0}, ip="::1") == (
        "Quota configs for ip '::1' are connection_creation_rate=5.0"
    )


def test_a_type_without_a_name_means_all_of_it() -> None:
    every = entity_filter(Entities(("users", "clients"), ("",)))
    assert [(each["entity_type"], each["match_type"]) for each in every] == [
        ("user", 1),
        ("client-id", 2),
    ]
    assert entity_filter(USER) == [{"entity_type": "user", "match_type": 0, "match": "ada"}]
    with pytest.raises(CliError, match="More entity names specified than entity types"):
        entity_filter(Entities(("users",), ("a", "b")))
    assert entity(BOTH) == [
        {"entity_type": "user", "entity_name": "ada"},
        {"entity_type": "client-id", "entity_name": None},
    ]


def test_quotas_are_numbers() -> None:
    assert quota_alterations({"producer_byte_rate": "12.5"}, ["request_percentage"]) == [
        {"key": "producer_byte_rate", "value": 12.5, "remove": False},
        {"key": "request_percentage", "value": 0.0, "remove": True},
    ]
    with pytest.raises(CliError, match="Cannot parse quota configuration value for a: fast"):
        quota_alterations({"a": "fast"}, [])
