"""Settings that change while a broker runs: which value holds, which is read only."""

from brokerd.config.all_dynamic_configs import KAFKA_SETTINGS, UpdateMode, known_setting
from brokerd.config.broker_config import BrokerConfig, known_keys, parse
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig, is_read_only
from brokerd.config.log_config import TOPIC_KEYS, effective_values
from brokerd.config.setting_documentation import BROKER_DOCUMENTATION
from brokerd.config.value_parsers import ConfigType

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\nlog.retention.hours=2\n"
OWN, DEFAULT = "1", ""


def settings(**places: dict[str, str]) -> DynamicBrokerConfig:
    return DynamicBrokerConfig(static=parse(FILE), **places)


def in_force(**places: dict[str, str]) -> BrokerConfig:
    config, problems = settings(**places).effective()
    assert problems == []
    return config


def test_a_brokers_own_setting_goes_before_the_default_of_all_and_that_before_the_file() -> None:
    name = "log.retention.ms"
    assert in_force().log_defaults.retention_ms == 7_200_000
    assert in_force(defaults={name: "5"}).log_defaults.retention_ms == 5
    both = in_force(defaults={name: "5"}, own={name: "6"})
    assert both.log_defaults.retention_ms == 6
    assert effective_values(both.raw, {})["retention.ms"] == "6"
    assert effective_values(both.raw, {"retention.ms": "7"})["retention.ms"] == "7"


def test_a_limit_below_zero_is_none() -> None:
    config = in_force(own={"log.retention.bytes": "-5", "log.retention.ms": " -2 "})
    assert (config.log_defaults.retention_bytes, config.log_defaults.retention_ms) == (-1, -1)
    values = effective_values(config.raw, {})
    assert (values["retention.bytes"], values["retention.ms"]) == ("-1", "-1")


def test_what_somebody_wrote_wrongly_into_zookeeper_is_told_and_passed_over() -> None:
    own = {"log.retention.ms": "soon", "num.partitions": "9", "message.max.bytes": "7", "x": "y"}
    config, problems = settings(own=own).effective()
    assert problems == ["log.retention.ms: 'soon' is not a whole number"]
    assert (config.log_defaults.retention_ms, config.num_partitions) == (7_200_000, 1)
    assert config.log_defaults.max_message_bytes == 7


LISTENERS = """listeners=IN://127.0.0.1:9092,OUT://127.0.0.1:9093
listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT
inter.broker.listener.name=IN
"""


def test_the_limits_of_a_listener_are_its_own_or_those_of_all() -> None:
    static = parse(FILE + LISTENERS + "max.connections=9\nlistener.name.out.max.connections=8\n")
    assert static.listener_limits() == {"IN": (9, 2**31 - 1), "OUT": (8, 2**31 - 1)}
    settings = DynamicBrokerConfig(
        static=static,
        defaults={"listener.name.in.max.connections": "7"},
        own={"listener.name.out.max.connection.creation.rate": "3", "max.connections": "6"},
    )
    assert settings.effective()[0].listener_limits() == {"IN": (7, 2**31 - 1), "OUT": (8, 3)}


def test_the_catalogue_knows_every_setting_that_is_honoured_but_brokerds_own() -> None:
    own = {name for name in known_keys() if name.startswith("brokerd.")}
    assert known_keys().keys() - own <= KAFKA_SETTINGS.keys()
    assert all(is_read_only(name) for name in own)
    assert known_setting("listener.name.a.ssl.key.password") == (
        ConfigType.PASSWORD,
        UpdateMode.PER_BROKER,
    )
    assert known_setting("listener.name.a") is None


def test_every_setting_is_explained() -> None:
    of_topics = {each.name for key in TOPIC_KEYS.values() for each in key.broker_keys}
    assert known_keys().keys() <= of_topics | BROKER_DOCUMENTATION.keys()
    assert BROKER_DOCUMENTATION.keys() <= KAFKA_SETTINGS.keys() | known_keys().keys()
