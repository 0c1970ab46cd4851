"""Settings under Kafka's names: defaults, units, listeners, and every mistake at once."""

import pytest

from brokerd.config.broker_config import ConfigError, known_keys, parse
from brokerd.config.log_config import LogConfig
from brokerd.config.value_parsers import read_properties

BASE = "broker.id=1\nzookeeper.connect=127.0.0.1:2181/aerie\nlog.dirs=/a, /b\n"


def problems(text: str, **overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text, overrides)
    return "\n".join(caught.value.problems)


def test_defaults_are_kafkas() -> None:
    config = parse(BASE)
    assert config.log_dirs == ("/a", "/b")
    assert config.log_defaults.retention_ms == 604_800_000
    assert config.log_defaults.segment_bytes == 1 << 30
    assert config.log_defaults.max_message_bytes == 1_048_588
    assert config.offsets_topic_num_partitions == 50
    assert [str(listener) for listener in config.listeners] == ["PLAINTEXT://127.0.0.1:9092"]
    assert config.warnings == ()


def test_every_mistake_is_reported_at_once() -> None:
    text = "broker.id=x\nlog.dirs=\nnum.partitions=0\nlog.retention.hours=soon\n"
    text += "auto.create.topics.enable=maybe\nlog.cleanup.policy=shred\nlisteners=nonsense\n"
    said = problems(text)
    for key in (
        "broker.id", "log.dirs", "num.partitions", "log.retention.hours", "zookeeper.connect",
        "auto.create.topics.enable", "log.cleanup.policy", "listeners",
    ):  # fmt: skip
        assert f"{key}:" in said


def test_a_coarser_name_is_named_where_its_value_is_wrong() -> None:
    said = problems(BASE + "log.roll.hours=0\n")
    assert "log.roll.hours: as log.roll.ms, 0 is out of range" in said
    assert "log.roll.ms:" not in said


def test_acls_in_zookeeper_need_credentials() -> None:
    said = problems(BASE + "zookeeper.set.acl=true\n")
    assert said == "zookeeper.set.acl: it needs brokerd.zookeeper.jaas.file"
    config = parse(BASE + "zookeeper.set.acl=true\nbrokerd.zookeeper.jaas.file=/etc/zk.jaas\n")
    assert (config.zookeeper_set_acl, config.warnings) == (True, ())


def test_unknown_keys_warn_and_are_not_kept() -> None:
    config = parse(BASE + "num.network.threads=3\nnum.networks=3\n")
    assert config.warnings == (
        "the setting num.network.threads of Kafka has no effect here",
        "unknown setting num.networks is ignored",
    )
    assert not {"num.network.threads", "num.networks"} & config.raw.keys()


def test_overrides_win_over_the_file() -> None:
    config = parse(BASE + "num.partitions=3\n", {"num.partitions": "7"})
    assert config.num_partitions == 7
    assert config.raw["num.partitions"] == "7"


@pytest.mark.parametrize(
    ("lines", "expected_ms"),
    [
        ("log.retention.hours=2", 7_200_000),
        ("log.retention.hours=2\nlog.retention.minutes=5", 300_000),
        ("log.retention.hours=2\nlog.retention.minutes=5\nlog.retention.ms=9", 9),
        ("log.retention.hours=-1", -1),
    ],
)
def test_the_finest_unit_of_retention_wins(lines: str, expected_ms: int) -> None:
    assert parse(BASE + lines).log_defaults.retention_ms == expected_ms


def test_log_dir_serves_where_log_dirs_is_missing() -> None:
    text = "broker.id=1\nzookeeper.connect=z\nlog.dir=/only\n"
    assert parse(text).log_dirs == ("/only",)


LISTENERS = """
listeners=INSIDE://127.0.0.1:9092,OUTSIDE://0.0.0.0:9093
listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT
inter.broker.listener.name=INSIDE
"""


def test_named_listeners_are_told_as_advertised() -> None:
    told = "advertised.listeners=INSIDE://10.0.0.1:9092,OUTSIDE://example.org:19093\n"
    config = parse(BASE + LISTENERS + told)
    assert str(config.advertised_listeners["OUTSIDE"]) == "OUTSIDE://example.org:19093"
    assert config.inter_broker_listener_name == "INSIDE"
    assert str(config.advertised_listeners["INSIDE"]) == "INSIDE://10.0.0.1:9092"
    assert config.listeners[1].host == "0.0.0.0"


def test_a_wildcard_needs_an_advertised_address() -> None:
    assert "advertised.listeners" in problems(BASE + LISTENERS)
    assert "cannot be advertised to clients" in problems(BASE + "listeners=PLAINTEXT://:9092\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("listeners=FOO://127.0.0.1:1", "listener.security.protocol.map"),
        ("listeners=SASL_SSL://127.0.0.1:1", "served are PLAINTEXT, SSL"),
        ("listeners=PLAINTEXT://a:99999", "not NAME://host:port"),
        ("listeners=PLAINTEXT://a:1,PLAINTEXT://a:2", "twice"),
        ("inter.broker.listener.name=OTHER", "not an advertised listener"),
        ("advertised.listeners=OTHER://a:1", "listener.security.protocol.map"),
        ("listener.security.protocol.map=PLAINTEXT", "not NAME:PROTOCOL"),
        ("listeners=", "names no listener"),
        ("brokerd.admin.port=9092", "also the port of a listener"),
    ],
)
def test_bad_listeners_are_explained(line: str, said: str) -> None:
    assert said in problems(BASE + line)


def test_ports_that_the_system_chose_are_filled_in() -> None:
    config = parse(BASE + "listeners=PLAINTEXT://127.0.0.1:0\n").with_bound_ports(
        {"PLAINTEXT": 41234}
    )
    assert config.listeners[0].port == 41234
    assert config.advertised_listeners["PLAINTEXT"].port == 41234


def test_an_ipv6_listener_is_read_and_written_in_brackets() -> None:
    config = parse(BASE + "listeners=PLAINTEXT://[::1]:9092\n")
    assert config.listeners[0].host == "::1"
    assert str(config.listeners[0]) == "PLAINTEXT://[::1]:9092"


def test_contradictions_between_settings_are_found() -> None:
    text = BASE + "group.min.session.timeout.ms=9000\ngroup.max.session.timeout.ms=100\n"
    assert "above group.max.session.timeout.ms" in problems(text)


def test_known_keys_name_every_setting_with_its_default() -> None:
    keys = known_keys()
    assert keys["num.partitions"] == 1
    assert keys["broker.id"] is None
    assert keys["log.segment.bytes"] == LogConfig().segment_bytes


def test_properties_are_read_as_java_reads_them() -> None:
    text = "# a comment\n! another\n  a = 1 \nb: two\nc three\nd=x\\\n   y\n"
    text += "e=\\u00e9\\t!\nf\n=v\ng=1\ng=2"
    assert read_properties(text) == {
        "a": "1", "b": "two", "c": "three", "d": "xy", "e": "é\t!", "f": "", "": "v", "g": "2",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["１２", "1_000", "0x10", "1e3", "NaN"])
def test_a_number_is_written_as_java_reads_it(text: str) -> None:
    said = problems(BASE, **{"num.partitions": text})
    assert f"num.partitions: {text!r} is not a whole number" in said


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("zk", "zk"), ("zk1:2181, zk2:2182/a/b/", "zk1:2181,zk2:2182/a/b"), ("[::1]:1/", "[::1]:1"),
    ],
)  # fmt: skip
def test_zookeeper_is_named_by_hosts_and_a_path(text: str, read: str) -> None:
    assert parse(BASE, {"zookeeper.connect": text}).zookeeper_connect == read


@pytest.mark.parametrize(
    "text",
    ["", "foo:bar", "host:99999", "host:0", "/chroot", "a,,b", "a:1:2", "a b", "a//b", "a/../b"],
)
def test_a_zookeeper_that_cannot_be_is_reported_with_the_other_mistakes(text: str) -> None:
    said = problems(BASE, **{"zookeeper.connect": text, "num.partitions": "0"})
    assert "zookeeper.connect: " in said
    assert "num.partitions: " in said


def test_every_mistake_in_the_listeners_is_reported_at_once() -> None:
    said = problems(
        BASE + "listeners=FOO://a:1,PLAINTEXT://b:99999\nadvertised.listeners=QUX://h:1\n"
        "num.partitions=0\n"
    )
    for part in ("FOO has no entry", "99999", "advertised.listeners: QUX", "num.partitions"):
        assert part in said
    said = problems(BASE + "listeners=PLAINTEXT://0.0.0.0:1\ninter.broker.listener.name=ZED\n")
    assert "cannot be advertised to clients" in said
    assert "ZED is not an advertised listener" in said
    said = problems(
        BASE
        + "listeners=SASL_SSL://a:1\nadvertised.listeners=SSL://b:1\ninter.broker.listener.name=ZED\n"
    )
    assert "served are PLAINTEXT" in said
    assert "ZED is not an advertised listener" in said


def test_listeners_that_do_not_parse_are_the_only_mistake_told() -> None:
    said = problems(BASE + "listeners=FOO://a:1\nadvertised.listeners=BAR://b:1\n")
    assert "FOO has no entry" in said
    assert "inter.broker.listener.name" not in said
    assert "inter.broker.listener.name" not in problems(BASE + "listeners=INSIDE://a:1\n")


def test_brokers_reach_each_other_on_the_first_listener_that_is_told() -> None:
    text = LISTENERS.replace("inter.broker.listener.name=INSIDE", "")
    config = parse(BASE + text + "advertised.listeners=OUTSIDE://example.org:19093\n")
    assert config.inter_broker_listener_name == "OUTSIDE"


@pytest.mark.parametrize("text", ["0", "-1", "NaN", "Infinity", "fast", "1e999"])
def test_a_rate_is_a_number_above_zero(text: str) -> None:
    name = "log.cleaner.io.max.bytes.per.second"
    assert parse(BASE, {name: "1.5E6"}).log_cleaner_io_max_bytes_per_second == 1_500_000
    assert f"{name}: {text}" in problems(BASE, **{name: text}).replace("'", "")
