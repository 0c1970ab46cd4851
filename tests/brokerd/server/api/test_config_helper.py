"""Settings as DescribeConfigs tells them: values, sources, synonyms, types, secrets."""

from typing import Any

import pytest

from brokerd.config.broker_config import parse
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig
from brokerd.config.log_config import TOPIC_KEYS, WITHOUT_EFFECT
from brokerd.server.api.config_helper import broker_entries, default_entries, topic_entries

PEM_TEXTS = {
    "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.truststore.certificates",
}  # fmt: skip
FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"


def settings(file: str = "", **places: dict[str, str]) -> DynamicBrokerConfig:
    return DynamicBrokerConfig(static=parse(FILE + file), **places)


def one(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (entry,) = (each for each in entries if each["name"] == name)
    return entry


def synonyms(entry: dict[str, Any]) -> list[tuple[str, str | None, int]]:
    return [(each["name"], each["value"], each["source"]) for each in entry["synonyms"]]


def test_a_brokers_setting_lists_every_place_it_comes_from() -> None:
    given = settings("log.retention.ms=4\nlog.retention.hours=9", own={"log.retention.ms": "6"},
                     defaults={"log.retention.ms": "5"})  # fmt: skip
    entry = one(broker_entries(given, None), "log.retention.ms")
    assert (entry["value"], entry["config_source"], entry["read_only"]) == ("6", 2, False)
    assert synonyms(entry) == [
        ("log.retention.ms", "6", 2),
        ("log.retention.ms", "5", 3),
        ("log.retention.ms", "4", 4),
        ("log.retention.hours", "9", 4),
        ("log.retention.hours", "168", 5),
    ]


def test_what_nobody_set_has_no_value_although_a_coarser_name_has_one() -> None:
    entries = broker_entries(settings("log.retention.hours=9"), None)
    entry = one(entries, "log.retention.ms")
    assert (entry["value"], entry["config_source"], entry["synonyms"]) == (None, 5, [])
    assert one(entries, "log.retention.hours")["value"] == "9"


def test_a_topic_has_the_brokers_dynamic_setting_below_its_own() -> None:
    given = settings(own={"log.segment.bytes": " 0100000 "})
    own = topic_entries({"segment.bytes": "200000"}, given, ["segment.bytes"])[0]
    assert (own["value"], own["config_source"]) == ("200000", 1)
    assert [source for _, _, source in synonyms(own)] == [1, 2, 5]
    taken = topic_entries({}, given, ["segment.bytes"])[0]
    assert (taken["value"], taken["config_source"]) == ("100000", 2)


def test_values_are_written_as_java_writes_them() -> None:
    config = {"preallocate": "TRUE", "cleanup.policy": " compact , delete ", "retention.ms": " 07 "}
    told = {each["name"]: each["value"] for each in topic_entries(config, settings(), None)}
    assert told["preallocate"] == "true"
    assert told["cleanup.policy"] == "compact,delete"
    assert told["retention.ms"] == "7"
    entries = broker_entries(settings(own={"log.cleaner.min.cleanable.ratio": ".25"}), None)
    assert one(entries, "log.cleaner.min.cleanable.ratio")["value"] == "0.25"
    rate = one(entries, "log.cleaner.io.max.bytes.per.second")
    assert rate["value"] == "1.7976931348623157E308"


@pytest.mark.parametrize("name", ["plug.in.setting", "listener.name.a.ssl.key.password"])
def test_secrets_and_what_has_no_type_are_told_without_value(name: str) -> None:
    entry = one(broker_entries(settings(own={name: "secret"}), None), name)
    assert (entry["value"], entry["is_sensitive"]) == (None, True)
    assert synonyms(entry) == [(name, None, 2)]
    assert "secret" not in str(entry)


def test_the_default_of_all_brokers_tells_what_was_set_there_alone() -> None:
    given = settings(own={"max.connections": "5"}, defaults={"max.connections": "6"})
    (entry,) = default_entries(given, None)
    assert (entry["value"], entry["config_source"]) == ("6", 3)
    assert synonyms(entry) == [("max.connections", "6", 3)]
    assert default_entries(given, ["log.dirs"]) == []


def test_every_setting_has_words_and_a_type() -> None:
    for entry in broker_entries(settings(), None):
        assert entry["documentation"], entry["name"]
        assert entry["config_type"], entry["name"]
        is_secret = "password" in entry["name"] or entry["name"] in PEM_TEXTS
        assert entry["is_sensitive"] == is_secret, entry["name"]
    told = topic_entries({}, settings(), None)
    assert {each["name"] for each in told} == TOPIC_KEYS.keys() | WITHOUT_EFFECT.keys()
    assert all(each["documentation"] for each in told)


def test_a_setting_without_effect_has_its_default_until_somebody_sets_it() -> None:
    assert one(topic_entries({}, settings(), None), "local.retention.ms")["value"] == "-2"
    given = settings(defaults={"log.local.retention.ms": "5"})
    entry = one(topic_entries({"local.retention.ms": "6"}, given, None), "local.retention.ms")
    assert synonyms(entry) == [
        ("local.retention.ms", "6", 1),
        ("log.local.retention.ms", "5", 3),
        ("log.local.retention.ms", "-2", 5),
    ]


def test_tools_find_the_version_of_the_protocol_and_the_id_of_the_node() -> None:
    entries = broker_entries(settings(), ["inter.broker.protocol.version", "node.id"])
    assert [(each["name"], each["value"]) for each in entries] == [
        ("inter.broker.protocol.version", "3.9-IV0"),
        ("node.id", "1"),
    ]
