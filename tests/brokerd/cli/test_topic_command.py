"""topics on a real broker, and beside Apache Kafka's own tool."""

from pathlib import Path

import pytest

from tests.brokerd.cli.conftest import CHROOT
from tests.brokerd.cli.tool import differences
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.zookeeper import ZooKeeper

At = tuple[str, str]
NO_ID, UNKNOWN_ID = "A" * 22, "A" * 20 + "BA"


def test_a_topic_is_created_described_grown_and_deleted(at: At, topic: str) -> None:
    create = ("topics", *at, "--create", "--topic", topic)
    said = brokerd(*create, "--partitions", "2", "--config", "retention.ms=5000").ok()
    assert said.lines == [f"Created topic {topic}."]
    first, *partitions = brokerd("topics", *at, "--describe", "--topic", topic).ok().lines
    assert first.startswith(f"Topic: {topic}\tTopicId: ")
    assert "\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: " in first
    assert "retention.ms=5000" in first
    assert partitions == [
        f"\tTopic: {topic}\tPartition: {index}\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: N/A"
        "\tLastKnownElr: N/A"
        for index in range(2)
    ]
    assert not brokerd("topics", *at, "--alter", "--topic", topic, "--partitions", "4").ok().out
    assert len(brokerd("topics", *at, "--describe", "--topic", topic).ok().lines) == 5
    assert topic in brokerd("topics", *at, "--list").ok().lines
    assert not brokerd("topics", *at, "--delete", "--topic", topic).ok().out
    assert topic not in brokerd("topics", *at, "--list").ok().lines


def test_a_topic_that_exists_is_an_error_unless_told_otherwise(at: At, topic: str) -> None:
    create = ("topics", *at, "--create", "--topic", topic)
    brokerd(*create).ok()
    again = brokerd(*create)
    assert again.code == 1
    assert again.lines == [f"Error while executing topic command : Topic '{topic}' already exists."]
    assert not brokerd(*create, "--if-not-exists").ok().out


@pytest.mark.kafka
def test_a_topic_is_described_by_its_id(at: At, topic: str) -> None:
    brokerd("topics", *at, "--create", "--topic", topic).ok()
    by_name = brokerd("topics", *at, "--describe", "--topic", topic).ok().out
    topic_id = by_name.split("TopicId: ")[1].split("\t")[0]
    by_id = ("--describe", "--topic-id", topic_id)
    assert brokerd("topics", *at, *by_id).ok().out == by_name
    assert differences("topics", at, (by_id, (*by_id, "--topic", "nowhere"))) == {}


@pytest.mark.parametrize("action", ["--describe", "--delete", "--alter"])
def test_a_topic_that_is_missing_is_an_error_unless_told_otherwise(
    at: At, topic: str, action: str
) -> None:
    more = ("--partitions", "9") if action == "--alter" else ()
    said = brokerd("topics", *at, action, "--topic", topic, *more)
    assert said.code == 1
    assert said.lines == [
        f"Error while executing topic command : Topic '{topic}' does not exist as expected"
    ]
    assert not brokerd("topics", *at, action, "--topic", topic, *more, "--if-exists").ok().out


def test_what_the_broker_refuses_is_one_line(at: At, topic: str) -> None:
    brokerd("topics", *at, "--create", "--topic", topic, "--partitions", "3").ok()
    for arguments, words in (
        (("--alter", "--topic", topic, "--partitions", "2"), "3"),
        (("--create", "--topic", f"{topic}-x", "--replication-factor", "5"), "5"),
        (("--create", "--topic", f"{topic}-x", "--config", "retention.ms=long"), "retention.ms"),
        (("--create", "--topic", "no/name"), "no/name"),
        (("--create", "--topic", f"{topic}-x", "--config", "retention.ms"), "key=val"),
        (("--create", "--topic", f"{topic}-x", "--partitions", "0"), "greater than 0"),
        (("--create", "--topic", f"{topic}-x", "--replica-assignment", "1:1"), "duplicate"),
        (("--list", "--topic", "("), "invalid regex"),
        (("--describe", "--topic-id", "AAAA"), "AAAA is not the id of a topic"),
    ):
        said = brokerd("topics", *at, *arguments)
        assert (said.code, said.err) == (1, "")
        assert said.lines[-1].startswith("Error while executing topic command : ")
        assert words in said.lines[-1]


def test_a_wrong_line_is_refused_before_anything_is_asked() -> None:
    nobody = ("--bootstrap-server", "127.0.0.1:1")
    for arguments, words in (
        (("--list",), 'Missing required argument "[bootstrap-server]"'),
        ((*nobody,), "Command must include exactly one action"),
        ((*nobody, "--list", "--describe"), "--describe, --create, --alter, --delete"),
        ((*nobody, "--create"), 'Missing required argument "[topic]"'),
        ((*nobody, "--list", "--partitions", "1"), '"[partitions]" can\'t be used with option'),
        ((*nobody, "--alter", "--topic", "t"), 'Missing required argument "[partitions]"'),
        ((*nobody, "--alter", "--topic", "t", "--config", "a=b"), "Option combination"),
        ((*nobody, "--describe", "--if-exists"), "--topic or --topic-id is required"),
        ((*nobody, "--delete", "--topic-id", NO_ID), 'Missing required argument "[topic]"'),
        (("--bootstrap-server", "here", "--list"), "here is not host:port"),
    ):
        said = brokerd("topics", *arguments)
        assert said.code == 1
        assert words in said.err


def test_a_cluster_that_is_away_is_one_line_after_a_while(tmp_path: Path) -> None:
    file = tmp_path / "admin.properties"
    file.write_text("default.api.timeout.ms=1000\n")
    nobody = ("--bootstrap-server", "127.0.0.1:1", "--command-config", file)
    said = brokerd("topics", *nobody, "--list")
    assert (said.code, said.err) == (1, "")
    assert said.lines == [
        "Error while executing topic command : No broker could be asked: 127.0.0.1:1:"
        " Connection refused"
    ]


def test_the_older_form_finds_the_brokers_in_zookeeper(
    at: At, zookeeper: ZooKeeper, topic: str
) -> None:
    older = ("topics", "--zookeeper", zookeeper.connect(CHROOT))
    brokerd(*older, "--create", "--topic", topic, "--partitions", "1").ok()
    said = brokerd(*older, "--alter", "--topic", topic, "--config", "retention.ms=7").ok()
    assert said.lines == [f"Updated config for topic {topic}."]
    assert "retention.ms=7" in brokerd("topics", *at, "--describe", "--topic", topic).ok().out
    drop = ("--alter", "--topic", topic, "--delete-config", "retention.ms", "--partitions", "2")
    said = brokerd(*older, *drop).ok()
    assert said.lines == [f"Updated config for topic {topic}."]
    assert "retention.ms" not in brokerd("topics", *at, "--describe", "--topic", topic).ok().out


def test_a_zookeeper_without_brokers_is_one_line(zookeeper: ZooKeeper) -> None:
    said = brokerd("topics", "--zookeeper", zookeeper.connect("/empty"), "--list")
    assert said.code == 1
    assert ("names no brokers" in said.out, said.err) == (True, "")


@pytest.mark.kafka
def test_the_lines_are_those_of_kafkas_tool(at: At, topic: str) -> None:
    create = ("topics", *at, "--create", "--topic")
    settings = ("--config", "retention.ms=5000", "--config", "cleanup.policy=compact,delete",
                "--config", "segment.bytes=1000000")  # fmt: skip
    theirs = kafka(*create, f"{topic}.their_s", "--partitions", "2", *settings)
    ours = brokerd(*create, f"{topic}.our_s", "--partitions", "2", *settings).ok()
    assert ours.out == theirs.out.replace("their_s", "our_s")
    lines = (
        ("--list",),
        ("--list", "--topic", f"{topic}.*", "--exclude-internal"),
        ("--describe", "--topic", f"{topic}.our_s"),
        ("--describe", "--topics-with-overrides", "--topic", f"{topic}.*"),
        ("--describe", "--at-min-isr-partitions", "--topic", f"{topic}.our_s"),
        ("--describe", "--under-replicated-partitions"),
        ("--describe", "--topic", "nowhere"),
        ("--delete", "--topic", "nowhere"),
        ("--delete", "--topic", "nowhere", "--if-exists"),
        ("--alter", "--topic", f"{topic}.our_s", "--partitions", "1"),
        ("--create", "--topic", "a b"),
        ("--create", "--topic", f"{topic}.our_s"),
        ("--describe", "--topic-id", NO_ID, "--topic", f"{topic}.our_s"),
        ("--describe", "--topic-id", UNKNOWN_ID),
        ("--describe", "--topic-id", UNKNOWN_ID, "--if-exists"),
        ("--describe", "--topic", f"{topic}.our_s", "--partition-size-limit-per-response", "1"),
        ("--create", "--topic", f"{topic}x", "--config", "nosuch=1"),
        ("--create", "--topic", f"{topic}.x", "--partitions", "0"),
        ("--create", "--topic", f"{topic}.x", "--config", "retention.ms"),
    )
    assert differences("topics", at, lines, words=True) == {}
