"""Settings of the console tools, from options, files and properties, on a real broker."""

import subprocess
import sys
from pathlib import Path

from tests.brokerd.cli.tool import At, consume, produce
from tests.support.brokerd import BrokerdCluster
from tests.support.brokerd_tools import brokerd
from tests.support.waiting import wait_until
from tests.support.warm import ROOT
from tests.support.zookeeper import ZooKeeper


def test_what_the_command_line_says_outright_goes_before_a_file(
    at: At, made: str, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=127.0.0.1:1\ncompression.type=none\n")
    produce(at, made, "x\n", "--compression-codec", "lz4", "--producer.config", str(file)).ok()
    read = ("--from-beginning", "--max-messages", "1", "--consumer.config", str(file))
    assert consume(at, made, *read).lines == ["x"]


def test_a_property_goes_before_a_file_and_an_option_before_both(
    at: At, made: str, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("acks=2\nretries=x\nlinger.ms=x\ncompression.type=x\n")
    options = ("--producer.config", str(file), "--producer-property", "acks=1",
               "--producer-property", "linger.ms=y", "--timeout", "10")  # fmt: skip
    said = produce(at, made, "x\n", *options)
    assert (said.code, "Invalid value for configuration property" in said.err) == (1, True)
    produce(at, made, "x\n", *options, "--message-send-max-retries", "1").ok()
    file.write_text("isolation.level=x\n")
    read = ("--from-beginning", "--max-messages", "1", "--consumer.config", str(file))
    said = consume(at, made, *read)
    assert (said.code, 'Invalid value "x" for configuration' in said.err) == (1, True)
    assert consume(at, made, *read, "--isolation-level", "read_committed").lines == ["x"]


def test_internal_topics_are_read_where_they_are_not_excluded(
    at: At, made: str, group: str
) -> None:
    produce(at, made, "x\n").ok()
    consume(at, made, "--group", group, "--from-beginning", "--max-messages", "1")
    line = ("console-consumer", *at, "--include", "__consumer_.*", "--from-beginning",
            "--max-messages", "1", "--timeout-ms", "20000",
            "--formatter", "org.apache.kafka.tools.consumer.NoOpMessageFormatter",
            "--consumer-property", "exclude.internal.topics=false")  # fmt: skip
    assert brokerd(*line).err == "Processed a total of 1 messages\n"


def test_a_setting_that_nobody_knows_is_named_and_passed_over(at: At, made: str) -> None:
    told = ("no.such=1", "buffer.memory=1", "fetch.min.bytes=1", "max.request.size=2000000")
    properties = [word for each in told for word in ("--producer-property", each)]
    said = produce(at, made, "x\n", *properties)
    named = "[buffer.memory, no.such]"
    assert said.code == 0
    assert said.err == f"WARN These configurations '{named}' were supplied but are not used yet.\n"
    assert consume(at, made, "--from-beginning", "--max-messages", "1").lines == ["x"]


def test_a_consumer_that_may_not_begin_ends(at: At, made: str) -> None:
    reset = ("--consumer-property", "auto.offset.reset=none")
    said = consume(at, made, "--timeout-ms", "20000", *reset)
    assert (said.out, said.code, "Undefined offset with no reset" in said.err) == ("", 0, True)


def test_a_topic_that_is_missing_is_made_where_brokers_may(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    """By one that reads it, as Kafka's does; not by a pattern, nor where the setting forbids it."""
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/made-by-reading")) as cluster:
        at = "--bootstrap-server", cluster.brokers[0].address
        command = [sys.executable, "-m", "brokerd", "console-consumer", *at, "--topic", "wanted",
                   "--from-beginning", "--max-messages", "1"]  # fmt: skip
        forbidden = ("--consumer-property", "allow.auto.create.topics=false")
        for line in (("--topic", "not-made", *forbidden), ("--include", "nor-this")):
            brokerd("console-consumer", *at, *line, "--timeout-ms", "500")
        reader = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        try:
            list_topics = ("topics", *at, "--list", "--exclude-internal")
            wait_until(lambda: brokerd(*list_topics).lines == ["wanted"], "it is made")
            produce(at, "wanted", "one\n").ok()
            assert reader.communicate(timeout=30)[0] == b"one\n"
        finally:
            reader.kill()
