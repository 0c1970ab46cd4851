"""Settings of the console tools, from options, files and properties, on a real broker."""

from pathlib import Path

import pytest

from tests.brokerd.cli.tool import At, consume, produce
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka


def test_what_the_command_line_says_outright_goes_before_a_file(
    at: At, made: str, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=127.0.0.1:1\ncompression.type=none\n")
    produce(at, made, "x\n", "--compression-codec", "lz4", "--producer.config", str(file)).ok()
    read = ("--from-beginning", "--max-messages", "1", "--consumer.config", str(file))
    assert consume(at, made, *read).lines == ["x"]


def test_a_setting_that_nobody_knows_is_named_and_passed_over(at: At, made: str) -> None:
    told = ("no.such=1", "max.poll.records=1", "error_cb=1", "max.request.size=2000000")
    properties = [word for each in told for word in ("--producer-property", each)]
    said = produce(at, made, "x\n", *properties)
    named = "[error_cb, max.poll.records, no.such]"
    assert said.code == 0
    assert said.err == f"WARN These configurations '{named}' were supplied but are not used yet.\n"
    assert consume(at, made, "--from-beginning", "--max-messages", "1").lines == ["x"]


@pytest.mark.kafka
def test_settings_that_cannot_be_are_refused_in_kafkas_words(at: At, made: str) -> None:
    of_producers = "acks=2 linger.ms=x max.request.size=-1 retries=99999999999 transactional.id="
    for told in [*of_producers.split(), "compression.lz4.level=99", "enable.idempotence=x"]:
        line = ("console-producer", *at, "--topic", made, "--producer-property", told)
        ours, theirs = brokerd(*line), kafka(*line)
        assert (ours.out, ours.code) == (theirs.out, theirs.code), told
        assert f"ConfigException: {ours.err}" in theirs.err
    for told in ("auto.offset.reset=smallest", "isolation.level=none", "fetch.min.bytes=-1",
                 "group.protocol=other", "max.poll.records=0"):  # fmt: skip
        line = ("console-consumer", *at, "--topic", made, "--consumer-property", told)
        ours, theirs = brokerd(*line), kafka(*line)
        assert (ours.out, ours.code) == (theirs.out, theirs.code), told
        assert f"ConfigException: {ours.err}" in theirs.err


@pytest.mark.kafka
def test_a_consumer_that_may_not_begin_ends_as_kafkas(at: At, made: str) -> None:
    for arguments, words in (
        (("--group", ""), "InvalidGroupIdException: The configured groupId is invalid."),
        (("--consumer-property", "auto.offset.reset=none"), "NoOffsetForPartitionException"),
    ):
        line = ("console-consumer", *at, "--topic", made, "--timeout-ms", "20000", *arguments)
        for said in (brokerd(*line), kafka(*line)):
            assert (said.out, said.code, words in said.err) == ("", 0, True), said.err
