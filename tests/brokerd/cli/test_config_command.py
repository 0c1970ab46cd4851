"""configs on a real broker, and beside Apache Kafka's own tool."""

from pathlib import Path

import pytest

from tests.brokerd.cli.conftest import CHROOT
from tests.brokerd.cli.tool import differences
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.zookeeper import ZooKeeper

At = tuple[str, str]


@pytest.fixture
def made(at: At, topic: str) -> str:
    brokerd("topics", *at, "--create", "--topic", topic).ok()
    return topic


def test_settings_of_a_topic_are_changed_shown_and_dropped(at: At, made: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", made)
    added = "retention.ms=5000,cleanup.policy=[compact,delete]"
    said = brokerd("configs", *at, "--alter", *entity, "--add-config", added).ok()
    assert said.lines == [f"Completed updating config for topic {made}."]
    head, policy, retention = brokerd("configs", *at, "--describe", *entity).ok().lines
    assert head == f"Dynamic configs for topic {made} are:"
    assert policy.startswith("  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_")
    assert "retention.ms=5000" in retention
    drop = ("--delete-config", "retention.ms,cleanup.policy")
    brokerd("configs", *at, "--alter", "--topic", made, *drop).ok()
    said = brokerd("configs", *at, "--describe", "--topic", made).ok()
    assert said.lines == [f"Dynamic configs for topic {made} are:"]
    assert "  retention.ms=" in brokerd("configs", *at, "--describe", "--topic", made, "--all").out


def test_settings_come_from_a_file_as_well(at: At, made: str, tmp_path: Path) -> None:
    file = tmp_path / "topic.properties"
    file.write_text("# a comment\nretention.ms = 7000\n")
    brokerd("configs", *at, "--alter", "--topic", made, "--add-config-file", file).ok()
    assert "retention.ms=7000" in brokerd("configs", *at, "--describe", "--topic", made).ok().out


def test_the_default_of_all_brokers_is_changed_shown_and_dropped(at: At) -> None:
    every = ("--entity-type", "brokers", "--entity-default")
    added = ("--add-config", "log.cleaner.threads=2")
    said = brokerd("configs", *at, "--alter", *every, *added).ok()
    assert said.lines == ["Completed updating default config for brokers in the cluster."]
    assert brokerd("configs", *at, "--describe", "--broker-defaults").ok().lines == [
        "Default configs for brokers in the cluster are:",
        "  log.cleaner.threads=2 sensitive=false"
        " synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:log.cleaner.threads=2}",
    ]
    dropped = ("--delete-config", "log.cleaner.threads")
    brokerd("configs", *at, "--alter", "--broker-defaults", *dropped).ok()
    assert len(brokerd("configs", *at, "--describe", *every).ok().lines) == 1


def test_quotas_are_set_shown_and_dropped(at: At) -> None:
    both = ("--entity-type", "users", "--entity-name", "eve",
            "--entity-type", "clients", "--entity-default")  # fmt: skip
    added = ("--add-config", "producer_byte_rate=1024,request_percentage=12.5")
    said = brokerd("configs", *at, "--alter", *both, *added).ok()
    assert said.lines == ["Completed updating config for user eve."]
    short = ("--user", "eve", "--client-defaults")
    assert brokerd("configs", *at, "--describe", *short).ok().lines == [
        "Quota configs for user-principal 'eve', the default client-id are"
        " producer_byte_rate=1024.0, request_percentage=12.5"
    ]
    dropped = ("--delete-config", "producer_byte_rate,request_percentage")
    brokerd("configs", *at, "--alter", *both, *dropped).ok()
    assert brokerd("configs", *at, "--describe", *both).ok().lines == []


def test_credentials_are_refused_with_what_to_do_instead(at: At) -> None:
    """By the broker, which has no SASL yet; with brokers that have it `configs` sets them."""
    entity = ("--entity-type", "users", "--entity-name", "alice")
    added = ("--add-config", "SCRAM-SHA-256=[password=x]")
    for change, words in (
        (added, "keeps no SCRAM credentials, since none of its listeners has SASL yet"),
        (("--delete-config", "SCRAM-SHA-256"), "user credential that does not exist"),
    ):
        said = brokerd("configs", *at, "--alter", *entity, *change)
        assert (said.code, said.out, len(said.err.splitlines())) == (1, "", 1)
        assert said.err.startswith("Error while executing config command with args '")
        assert words in said.err
    for whose in (("--entity-type", "users"), entity):
        assert brokerd("configs", *at, "--describe", *whose).ok().lines == []


def test_levels_of_loggers_are_changed(at: At) -> None:
    logger = "brokerd.server.network.socket_server"
    added = ("--add-config", f"{logger}=ERROR")
    said = brokerd("configs", *at, "--alter", "--broker-logger", "1", *added).ok()
    assert said.lines == ["Completed updating config for broker-logger 1."]
    entity = ("--entity-type", "broker-loggers", "--entity-name", "1")
    told = brokerd("configs", *at, "--describe", *entity).ok()
    assert f"  {logger}=ERROR sensitive=false synonyms={{}}" in told.lines
    brokerd("configs", *at, "--alter", *entity, "--delete-config", logger).ok()


def test_the_older_form_finds_the_brokers_in_zookeeper(made: str, zookeeper: ZooKeeper) -> None:
    older = ("configs", "--zookeeper", zookeeper.connect(CHROOT))
    entity = ("--entity-type", "topics", "--entity-name", made)
    brokerd(*older, "--alter", *entity, "--add-config", "retention.ms=1").ok()
    assert "retention.ms=1 " in brokerd(*older, "--describe", *entity).ok().out


def test_settings_of_a_broker_that_does_not_run_are_changed_in_zookeeper(
    at: At, zookeeper: ZooKeeper
) -> None:
    older = ("configs", "--zookeeper", zookeeper.connect(CHROOT))
    stopped = ("--entity-type", "brokers", "--entity-name", "77")
    added = ("--add-config", "listeners=[PLAINTEXT://:1,X://:2],log.retention.ms=5000")
    said = brokerd(*older, "--alter", *stopped, *added).ok()
    assert said.lines == ["Completed updating config for broker 77."]
    brokerd(*older, "--alter", *stopped, "--add-config", "log.retention.ms=6000").ok()
    assert brokerd(*older, "--describe", *stopped).ok().lines == [
        "Dynamic configs for broker 77 are:",
        "  listeners=PLAINTEXT://:1,X://:2 sensitive=false"
        " synonyms={DYNAMIC_BROKER_CONFIG:listeners=PLAINTEXT://:1,X://:2}",
        "  log.retention.ms=6000 sensitive=false"
        " synonyms={DYNAMIC_BROKER_CONFIG:log.retention.ms=6000}",
    ]
    for change, words in (
        (("--add-config", "num.partitions=2"), "dynamically: num.partitions"),
        (("--add-config", "log.retention.ms=soon"), "Invalid value soon for configuration log.ret"),
        (("--delete-config", "no.such"), "Invalid config(s): no.such"),
    ):
        said = brokerd(*older, "--alter", *stopped, *change)
        assert (said.code, len(said.err.splitlines())) == (1, 1)
        assert words in said.err
    brokerd(*older, "--alter", *stopped, "--delete-config", "listeners,log.retention.ms").ok()
    assert len(brokerd(*older, "--describe", *stopped).ok().lines) == 1


def test_a_broker_that_runs_is_asked_itself(at: At, zookeeper: ZooKeeper) -> None:
    older = ("configs", "--zookeeper", zookeeper.connect(CHROOT))
    added = ("--add-config", "max.connections.per.ip=0")
    said = brokerd(*older, "--alter", "--broker", "1", *added)
    assert said.code == 1
    assert "must be at least 1 without max.connections.per.ip.overrides" in said.err
    assert len(brokerd(*older, "--describe", "--broker-defaults").ok().lines) == 1


def test_what_cannot_be_done_is_one_line(at: At, made: str) -> None:
    alter = ("--alter", "--topic", made)
    for arguments, words in (
        ((*alter, "--add-config", "retention.ms=long"), "retention.ms"),
        ((*alter, "--add-config", "retention.ms"), "key=val"),
        ((*alter, "--delete-config", "no.such"), "Invalid config(s): no.such"),
        ((*alter, "--delete-config", "retention.ms"), "Invalid config(s): retention.ms"),
        (alter, "At least one of --add-config"),
        (("--alter", "--topic", "nowhere", "--add-config", "retention.ms=1"), "nowhere"),
        (("--describe", "--entity-type", "moons"), "Invalid entity type moons"),
        (("--alter", "--broker", "1", "--add-config", "num.partitions=2"), "dynamically: num.par"),
        (("--alter", "--broker-logger", "1", "--add-config", "a=INFO"), "Invalid broker logger(s)"),
        (("--alter", "--user", "x", "--add-config", "producer_byte_rate=0.5"), "a LONG value"),
        (("--alter", "--user", "x", "--delete-config", "producer_byte_rate"), "Invalid config(s)"),
        (("--describe", "--broker", "one"), "must be a valid integer broker id"),
        (("--describe", "--broker", "7"), "Broker 7 is not live; the live brokers are: 1"),
        (("--describe", "--topic", "nowhere"), "nowhere"),
        (("--alter", "--broker", "7", "--add-config", "a=b"), "Broker 7 is not live"),
    ):
        said = brokerd("configs", *at, *arguments)
        assert said.code == 1, arguments
        assert words in said.err
        assert len(said.err.splitlines()) == 1


@pytest.mark.kafka
def test_the_lines_are_those_of_kafkas_tool(at: At, made: str) -> None:
    alter = ("--alter", "--entity-type", "topics", "--entity-name", made, "--add-config")
    lines = (
        (*alter, "retention.ms=5000,cleanup.policy=[compact,delete]"),
        ("--describe", "--entity-type", "topics", "--entity-name", made),
        ("--describe", "--entity-type", "topics"),
        ("--describe", "--entity-type", "brokers"),
        ("--describe", "--topic", made, "--all"),
        ("--describe", "--broker", "1", "--all"),
        ("--alter", "--broker-defaults", "--add-config", "log.cleaner.backoff.ms=20000"),
        ("--describe", "--broker-defaults"),
        (
            "--alter",
            "--user",
            "a b",
            "--client-defaults",
            "--add-config",
            "producer_byte_rate=12345678,consumer_byte_rate=2048",
        ),
        ("--describe", "--entity-type", "users", "--entity-type", "clients"),
        ("--describe", "--entity-type", "broker-loggers", "--entity-name", "1"),
        ("--alter", "--topic", made, "--delete-config", "no.such"),
        ("--alter", "--topic", made, "--add-config", "retention.ms"),
    )
    assert differences("configs", at, lines) == {}
    drop = ("--delete-config", "log.cleaner.backoff.ms")
    brokerd("configs", *at, "--alter", "--broker-defaults", *drop).ok()


@pytest.mark.kafka
def test_a_topic_that_is_missing_is_told_as_kafkas_tool_tells_it(at: At) -> None:
    missing = ("--entity-type", "topics", "--entity-name", "nowhere")
    for arguments in (("--describe", *missing), ("--alter", *missing, "--add-config", "a=b")):
        ours, theirs = (tool("configs", *at, *arguments) for tool in (brokerd, kafka))
        assert (ours.out, ours.code) == (theirs.out, theirs.code)
        assert ours.err.startswith(theirs.err.splitlines()[0])


@pytest.mark.kafka
def test_both_tools_change_the_settings_of_a_broker_that_does_not_run(
    at: At, zookeeper: ZooKeeper
) -> None:
    older = ("configs", "--zookeeper", zookeeper.connect(CHROOT))
    stopped = ("--entity-type", "brokers", "--entity-name", "78")
    brokerd(*older, "--alter", *stopped, "--add-config", "log.retention.ms=5000").ok()
    assert kafka(*older, "--alter", *stopped, "--add-config", "log.cleaner.threads=2").code == 0
    told = "Configs for brokers '78' are log.retention.ms=5000,log.cleaner.threads=2"
    assert told in kafka(*older, "--describe", *stopped).ok().lines
    ours = brokerd(*older, "--describe", *stopped).ok().lines
    assert [line.split()[0] for line in ours[1:]] == [
        "log.cleaner.threads=2",
        "log.retention.ms=5000",
    ]
