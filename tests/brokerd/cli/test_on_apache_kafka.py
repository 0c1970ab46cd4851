"""The tools on Apache Kafka itself: its broker and the files that it writes."""

import json
import re
from pathlib import Path

import pytest
from confluent_kafka import Producer

from brokerd.coordinator.group.partition_for_group import partition_for
from tests.support.brokerd_tools import brokerd
from tests.support.kafka import ApacheKafka
from tests.support.kafka_tools import kafka
from tests.support.warm import Said

TOPIC, GROUP = "numbers", "readers"
At = tuple[str, str]

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def at(shared_kafka: ApacheKafka) -> At:
    """A broker of Kafka with a topic in every codec and a group that stands at 7."""
    at = ("--bootstrap-server", shared_kafka.address)
    brokerd("topics", *at, "--create", "--topic", TOPIC, "--partitions", "2",
            "--replication-factor", "1").ok()  # fmt: skip
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        settings = {"bootstrap.servers": shared_kafka.address, "compression.type": codec}
        producer = Producer(settings | {"enable.idempotence": codec == "lz4"})
        for number in range(20):
            producer.produce(TOPIC, "v" * number, str(number), headers=[("codec", codec)])
        assert producer.flush(30) == 0
    reset(at, "7").ok()
    return at


def reset(at: At, offset: str) -> Said:
    return brokerd("consumer-groups", *at, "--reset-offsets", "--group", GROUP, "--topic", TOPIC,
                   "--to-offset", offset, "--execute")  # fmt: skip


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("topics", ("--list",)),
        ("topics", ("--describe", "--topic", TOPIC)),
        ("configs", ("--describe", "--topic", TOPIC, "--all")),
        ("configs", ("--describe", "--broker", "1")),
        ("consumer-groups", ("--list", "--state", "--type")),
        ("consumer-groups", ("--describe", "--group", GROUP)),
        ("consumer-groups", ("--describe", "--group", GROUP, "--state")),
        ("get-offsets", ("--topic", f"{TOPIC}.*")),
        ("get-offsets", ("--time", "max-timestamp", "--topic", TOPIC)),
    ],
)
def test_the_same_is_told_of_a_broker_of_kafka(
    at: At, command: str, arguments: tuple[str, ...]
) -> None:
    theirs, ours = kafka(command, *at, *arguments), brokerd(command, *at, *arguments)
    told, wanted = (sorted(re.findall(r"[^\s,]+", said.out)) for said in (ours, theirs))
    assert told == wanted
    assert (ours.code, ours.err) == (theirs.code, theirs.err)


@pytest.mark.parametrize("options", [(), ("--print-data-log",), ("--index-sanity-check",)])
def test_kafkas_live_files_are_shown_as_kafka_shows_them(
    at: At, shared_kafka: ApacheKafka, options: tuple[str, ...]
) -> None:
    folder = next(shared_kafka.logs.glob(f"{TOPIC}-0"))
    files = ",".join(sorted(str(each) for each in folder.glob("*.log")) +
                     sorted(str(each) for each in folder.glob("*.index")))  # fmt: skip
    arguments = ("dump-log", *options, "--files", files)
    theirs, ours = kafka(*arguments), brokerd(*arguments)
    assert (ours.out, ours.err, ours.code) == (theirs.out, theirs.err, theirs.code)


def test_offsets_and_groups_in_kafkas_files(at: At, shared_kafka: ApacheKafka) -> None:
    reset(at, "9").ok()
    logs = shared_kafka.logs.glob("__consumer_offsets-*/*.log")
    written = [str(each) for each in logs if each.stat().st_size]
    arguments = ("dump-log", "--offsets-decoder", "--files", ",".join(sorted(written)))
    theirs, ours = kafka(*arguments), brokerd(*arguments)
    assert ours.out == theirs.out
    assert '"offset":9' in ours.out


def test_records_are_deleted_and_what_cannot_be_is_named(at: At, tmp_path: Path) -> None:
    before = brokerd("get-offsets", *at, "--topic", TOPIC, "--time", "earliest").ok()
    assert before.lines == [f"{TOPIC}:0:0", f"{TOPIC}:1:0"]
    entries = [(TOPIC, 0, 3), (TOPIC, 1, 99999)]
    listed = [{"topic": name, "partition": index, "offset": offset}
              for name, index, offset in entries]  # fmt: skip
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"partitions": listed, "version": 1}))
    ours = brokerd("delete-records", *at, "--offset-json-file", file).ok()
    assert ours.lines[:3] == [
        "Executing records delete operation",
        "Records delete operation completed:",
        f"partition: {TOPIC}-0\tlow_watermark: 3",
    ]
    assert ours.lines[3].startswith(f"partition: {TOPIC}-1\terror: The requested offset is not")
    after = brokerd("get-offsets", *at, "--topic", TOPIC, "--time", "earliest").ok()
    assert after.lines == [f"{TOPIC}:0:3", f"{TOPIC}:1:0"]


def test_credentials_are_set_shown_and_deleted(at: At) -> None:
    alter = ("configs", *at, "--alter", "--entity-type", "users", "--entity-name", "ada")
    show = ("configs", *at, "--describe", "--entity-type", "users")
    added = "SCRAM-SHA-256=[iterations=8192,password=x],SCRAM-SHA-512=[password=y]"
    said = brokerd(*alter, "--add-config", added).ok()
    assert said.lines == ["Completed updating config for user ada."]
    told = brokerd(*show).ok().lines
    assert told == [
        "SCRAM credential configs for user-principal 'ada' are SCRAM-SHA-256=iterations=8192,"
        " SCRAM-SHA-512=iterations=4096"
    ]
    assert kafka(*show).ok().lines == told
    brokerd(*alter, "--delete-config", "SCRAM-SHA-256,SCRAM-SHA-512").ok()
    assert brokerd(*show).ok().lines == kafka(*show).ok().lines == []


def test_a_topic_that_is_missing_is_told_at_once(at: At, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text('{"partitions": [{"topic": "nowhere", "partition": 0, "offset": 1}]}')
    said = brokerd("delete-records", *at, "--offset-json-file", file).ok()
    (line,) = said.lines[2:]
    assert line == "partition: nowhere-0\terror: This server does not host this topic-partition."


def test_transactions_are_shown_as_kafka_shows_them(at: At) -> None:
    names = ["first", "größer"]
    for name in names:
        producer = Producer({"bootstrap.servers": at[1], "transactional.id": name})
        producer.init_transactions(60)
        for end in (producer.commit_transaction, producer.abort_transaction):
            producer.begin_transaction()
            for partition in (1, 0):
                producer.produce(TOPIC, name, partition=partition)
            end(60)
    ends = brokerd("get-offsets", *at, "--topic", "__transaction_state").ok().lines
    counts = {int(each.split(":")[1]): each.split(":")[2] for each in ends}
    shown = ""
    formatter = "org.apache.kafka.tools.consumer.TransactionLogMessageFormatter"
    for home in {partition_for(name, len(counts)) for name in names}:
        read = ("console-consumer", *at, "--topic", "__transaction_state", "--partition",
                str(home), "--offset", "earliest", "--max-messages", counts[home],
                "--formatter", formatter)  # fmt: skip
        ours, theirs = brokerd(*read), kafka(*read)
        assert (ours.out, ours.err, ours.code) == (theirs.out, theirs.err, theirs.code)
        shown += ours.out
    for name in names:
        assert f'"transactionalId":"{name}"' in shown
