"""console-producer, console-consumer, get-offsets and log-dirs on a real broker."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brokerd.coordinator.group.partition_for_group import partition_for
from tests.brokerd.cli.tool import At, consume, produce
from tests.support.brokerd import Brokerd
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.warm import ROOT, Said

TEXT = "a:h1,b:h2\tk1:v1\nNULL\tNULL:ohne\na:NULL\tk3:NULL\n"
PARSE = (
    "--property", "parse.key=true", "--property", "key.separator=:", "--property",
    "parse.headers=true", "--property", "null.marker=NULL",
)  # fmt: skip
PRINT = (
    "--property", "print.key=true", "--property", "print.offset=true", "--property",
    "print.partition=true", "--property", "print.headers=true", "--property",
    "key.separator=|", "--property", "null.literal=-", "--from-beginning",
)  # fmt: skip


def delete_records(at: At, tmp_path: Path, topic: str, offset: int) -> Said:
    file = tmp_path / "offsets.json"
    entry = {"topic": topic, "partition": 0, "offset": offset}
    file.write_text(json.dumps({"partitions": [entry], "version": 1}))
    return brokerd("delete-records", *at, "--offset-json-file", file)


def test_lines_go_in_and_come_out(at: At, made: str, broker: Brokerd) -> None:
    produce(at, made, "one\ntwo\ndrei äöü\n").ok()
    files = ",".join(str(broker.logs / f"{made}-{index}" / f"{0:020}.log") for index in (0, 1))
    batches = brokerd("dump-log", "--files", files).ok().out
    assert "producerEpoch: 0" in batches  # idempotent, as Kafka's producer is
    assert "producerId: -1" not in batches
    said = consume(at, made, "--from-beginning", "--max-messages", "3")
    assert said.code == 0
    assert sorted(said.lines) == ["drei äöü", "one", "two"]
    assert said.err == "Processed a total of 3 messages\n"


def test_keys_headers_and_nulls(at: At, made: str) -> None:
    produce(at, made, TEXT, *PARSE).ok()
    said = consume(at, made, *PRINT, "--max-messages", "3")
    shown = sorted(line.split("|", 2)[2] for line in said.lines)
    assert shown == ["NO_HEADERS|-|ohne", "a:-|k3|-", "a:h1,b:h2|k1|v1"]


def test_a_line_without_its_separator_is_refused_after_those_before_it(at: At, made: str) -> None:
    said = produce(at, made, "a:1\nb\n", *PARSE[:4])
    assert said.code == 1
    assert said.err == "No key separator found on line number 2: 'b'\n"
    said = consume(at, made, "--from-beginning", "--max-messages", "1")
    assert said.lines == ["1"]


def test_a_partition_is_read_from_an_offset(at: At, made: str) -> None:
    produce(at, made, "".join(f"same:{number}\n" for number in range(5)), *PARSE[:4]).ok()
    offsets = brokerd("get-offsets", *at, "--topic", made).ok()
    (partition,) = [line.split(":")[1] for line in offsets.lines if line.endswith(":5")]
    said = consume(at, made, "--partition", partition, "--offset", "3", "--max-messages", "2")
    assert said.lines == ["3", "4"]
    said = consume(at, made, "--partition", partition, "--offset", "earliest",
                   "--max-messages", "1")  # fmt: skip
    assert said.lines == ["0"]


def test_a_group_goes_on_where_it_stopped(at: At, made: str, group: str) -> None:
    produce(at, made, "".join(f"k:{number}\n" for number in range(4)), *PARSE[:4]).ok()
    member = ("--group", group, "--from-beginning", "--max-messages", "2")
    assert consume(at, made, *member).lines == ["0", "1"]
    assert consume(at, made, *member).lines == ["2", "3"]


@pytest.mark.kafka
def test_patterns_are_read_as_kafkas_reads_them(at: At, made: str) -> None:
    produce(at, made, "one\n").ok()
    number = made.partition("-")[2]
    for arguments, words in (
        (("--include", f"(x|topic)-{number}", "--max-messages", "1"), ""),
        (("--include", rf"topi\w-{number}", "--max-messages", "1"), ""),
        (("--include", f"x,{made}", "--timeout-ms", "2000"), "TimeoutException"),
        (("--include", "["), " "),
        (("--include", "*"), " "),
    ):
        line = ("console-consumer", *at, "--from-beginning", *arguments)
        ours, theirs = brokerd(*line), kafka(*line)
        assert (ours.out, ours.code) == (theirs.out, theirs.code), arguments
        assert words in ours.err, ours.err
        assert words in theirs.err, theirs.err


def test_a_topic_that_comes_to_match_is_read_too(at: At, made: str, group: str) -> None:
    line = ("--include", f"{made}(-new)?", "--from-beginning", "--max-messages", "2", "--group",
            group, "--consumer-property", "metadata.max.age.ms=200")  # fmt: skip
    command = [sys.executable, "-m", "brokerd", "console-consumer", *at, *line]
    produce(at, made, "one\n").ok()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"one\n"
    brokerd("topics", *at, "--create", "--topic", f"{made}-new").ok()
    produce(at, f"{made}-new", "two\n").ok()
    assert process.communicate(timeout=60)[0] == b"two\n"


def test_it_ends_where_nothing_comes(at: At, made: str) -> None:
    said = consume(at, made, "--timeout-ms", "2000")
    assert said.code == 0
    assert "TimeoutException" in said.err
    assert said.err.endswith("Processed a total of 0 messages\n")


def test_a_signal_ends_it_with_the_count(at: At, made: str) -> None:
    produce(at, made, "one\n").ok()
    command = [sys.executable, "-m", "brokerd", "console-consumer", *at, "--topic", made,
               "--from-beginning"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"one\n"
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == b"Processed a total of 1 messages\n"


@contextmanager
def flipped(path: Path, at: int) -> Iterator[None]:
    """A byte of a file is another one for a while."""
    data = path.read_bytes()
    with path.open("r+b") as file:
        for byte in (data[at] ^ 1, data[at]):
            file.seek(at)
            file.write(bytes([byte]))
            file.flush()
            if byte != data[at]:
                yield


@pytest.mark.kafka
def test_a_batch_that_cannot_be_read_ends_it_as_kafkas(at: At, topic: str, broker: Brokerd) -> None:
    brokerd("topics", *at, "--create", "--topic", topic, "--partitions", "1").ok()
    for line in ("one\n", "two\n", "three\n"):
        produce(at, topic, line).ok()
    path = broker.logs / f"{topic}-0" / f"{0:020}.log"
    read = ("--partition", "0", "--offset", "earliest", "--timeout-ms", "10000")
    with flipped(path, path.read_bytes().index(b"two")):
        for options in ((), ("--skip-message-on-error",)):
            ours = consume(at, topic, *read, *options)
            theirs = kafka("console-consumer", *at, "--topic", topic, *read, *options)
            assert (ours.lines, ours.code) == (theirs.lines, theirs.code) == (["one"], 0)
            for said in (ours, theirs):
                assert "Error processing message, terminating consumer process: " in said.err
                assert f"Record batch for partition {topic}-0 at offset 1 is invalid" in said.err
                assert "Processed a total of 1 messages" in said.err
    assert consume(at, topic, *read, "--max-messages", "3").lines == ["one", "two", "three"]


@pytest.mark.kafka
def test_what_comes_before_a_batch_whose_crc_is_wrong_is_shown_however_much_is_behind_it(
    at: At, topic: str, broker: Brokerd
) -> None:
    brokerd("topics", *at, "--create", "--topic", topic, "--partitions", "1").ok()
    lines = [f"record {number:02}" for number in range(30)]
    one_by_one = ("--producer-property", "linger.ms=0", "--sync")
    produce(at, topic, "".join(f"{line}\n" for line in lines), *one_by_one).ok()
    path = broker.logs / f"{topic}-0" / f"{0:020}.log"
    read = ("--topic", topic, "--partition", "0", "--offset", "earliest", "--timeout-ms", "10000")
    with flipped(path, path.read_bytes().index(b"record 04")):
        for tool in (brokerd, kafka):
            said = tool("console-consumer", *at, *read)
            assert (said.lines, said.code) == (lines[:4], 0)
            assert f"Record batch for partition {topic}-0 at offset 4 is invalid" in said.err
        unchecked = consume(at, *read[1:], "--consumer-property", "check.crcs=false")
        assert len(unchecked.lines) == 30
    assert consume(at, *read[1:]).lines == lines


def test_a_topic_that_is_missing_is_told(at: At) -> None:
    said = produce(at, "nowhere", "x\n", "--max-block-ms", "3000", "--timeout", "10")
    assert said.code == 1
    assert "ERROR Error when sending message to topic nowhere with key: null, value: 1 bytes" in (
        said.err
    )


def test_wrong_lines_are_refused(at: At) -> None:
    for command, arguments, words in (
        ("console-producer", ("--topic", "t"), 'Missing required argument "[bootstrap-server]"'),
        ("console-producer", at, 'Missing required argument "[topic]"'),
        ("console-producer", (*at, "--topic", "t", "--property", "null.marker=:", "--property",
                              "key.separator=:"), "may not be equal"),
        ("console-producer", (*at, "--topic", "t", "--producer-property", "linger.ms=x"),
         "Invalid value for configuration property"),
        ("console-producer", (*at, "--topic", "t", "--producer-property", "acks=1",
                              "--producer-property", "enable.idempotence=true"), "idempotence"),
        ("console-consumer", at, "Exactly one of --include/--topic is required."),
        ("console-consumer", (*at, "--topic", "t", "--offset", "3"), "The partition is required"),
        ("console-consumer", (*at, "--topic", "t", "--partition", "0", "--offset", "x"),
         "The provided offset value 'x' is incorrect"),
        ("console-consumer", (*at, "--topic", "t", "--key-deserializer", "Mine"), "not built in"),
        ("console-consumer", (*at, "--topic", "t", "--formatter", "Mine"), "not built in"),
        ("console-consumer", (*at, "--topic", "t", "--group", "a", "--consumer-property",
                              "group.id=b"), "Detected group ids: 'a', 'b'"),
        ("console-consumer", (*at, "--topic", "t", "--partition", "0", "--consumer-property",
                              "group.id=b"), "Options group and partition cannot be"),
        ("console-consumer", (*at, "--topic", "t", "--from-beginning", "--consumer-property",
                              "auto.offset.reset=latest"), "Can't simultaneously specify"),
        ("get-offsets", (*at, "--time", "noon"), "Malformed time argument noon"),
        ("get-offsets", (*at, "--topic", "nowhere"), "Could not match any topic-partitions"),
        ("log-dirs", at, 'Missing required argument "[describe]"'),
        ("log-dirs", (*at, "--describe", "--broker-list", "7"), "The given brokers do not exist"),
    ):  # fmt: skip
        said = brokerd(command, *arguments)
        assert said.code == 1, arguments
        assert words in said.err, said.err


def test_offsets_by_time_and_by_pattern(at: At, made: str) -> None:
    produce(at, made, "".join(f"k:{number}\n" for number in range(3)), *PARSE[:4]).ok()
    ends = brokerd("get-offsets", *at, "--topic", made).ok().lines
    assert sorted(line.split(":")[2] for line in ends) == ["0", "3"]
    starts = brokerd("get-offsets", *at, "--topic", made, "--time", "-2").ok().lines
    assert starts == [f"{made}:0:0", f"{made}:1:0"]
    later = brokerd("get-offsets", *at, "--topic", made, "--time", "99999999999999").ok()
    assert later.lines == []
    one = brokerd("get-offsets", *at, "--topic-partitions", f"{made}:1-,nowhere:0").ok().lines
    assert one == [line for line in ends if line.startswith(f"{made}:1:")]


def test_log_directories_are_told(at: At, made: str, broker: Brokerd) -> None:
    *head, document = brokerd("log-dirs", *at, "--describe", "--topic-list", made).ok().lines
    assert head == [
        "Querying brokers for log directories information",
        "Received log directory information from brokers 1",
    ]
    (told,) = json.loads(document)["brokers"]
    (directory,) = told["logDirs"]
    assert directory["logDir"] == str(broker.logs)
    names = sorted(each["partition"] for each in directory["partitions"])
    assert names == [f"{made}-0", f"{made}-1"]


def test_a_wrong_file_of_offsets_is_one_line(at: At, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    for text, words in (
        ("{", "The input string is not a valid JSON"),
        ("{}", "Missing partitions field"),
        ('{"partitions": [], "version": 2}', "Not supported version field value 2"),
        ('{"partitions": [{"topic": "t"}]}', "An entry of partitions is not as in --help"),
        ('{"partitions": [{"topic": "t", "partition": 0, "offset": 1},'
         ' {"topic": "t", "partition": 0, "offset": 2}]}', "duplicate topic partitions: t-0"),
    ):  # fmt: skip
        file.write_text(text)
        said = brokerd("delete-records", *at, "--offset-json-file", file)
        assert said.code == 1
        assert words in said.err
    file.write_text('{"partitions": [{"topic": "t", "partition": 0, "offset": 1}]}')
    properties = tmp_path / "client.properties"
    properties.write_text("default.api.timeout.ms=500")
    away = ("--bootstrap-server", "127.0.0.1:1", "--command-config", properties)
    said = brokerd("delete-records", *away, "--offset-json-file", file)
    assert (said.code, "No broker could be asked" in said.err) == (1, True)


def test_the_scripts_of_kafka_are_there_by_name(at: At, made: str) -> None:
    for script in (ROOT / "bin").glob("kafka-*.sh"):
        done = subprocess.run([script], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert f"usage: brokerd {script.stem.removeprefix('kafka-')} " in done.stderr
    done = subprocess.run(
        [ROOT / "bin" / "kafka-topics.sh", *at, "--list"],
        capture_output=True, text=True, timeout=60, cwd="/",
    )  # fmt: skip
    assert made in done.stdout.splitlines()


@pytest.mark.kafka
def test_the_lines_are_those_of_kafkas_tools(at: At, made: str) -> None:
    theirs = kafka("console-producer", *at, "--topic", made, *PARSE, stdin=TEXT.encode())
    ours = produce(at, made, TEXT, *PARSE)
    assert (ours.out, ours.code) == (theirs.out, theirs.code)
    read = ("console-consumer", *at, "--topic", made, *PRINT, "--max-messages", "6")
    assert sorted(brokerd(*read).lines) == sorted(kafka(*read).lines)
    assert brokerd(*read).err == kafka(*read).err
    for arguments in (
        ("--topic", made),
        ("--topic", made, "--time", "earliest"),
        ("--topic", made, "--time", "max-timestamp"),
        ("--topic", made, "--time", "latest-tiered"),
        ("--topic-partitions", f"{made}:0"),
        ("--topic", "nowhere"),
        ("--time", "noon"),
    ):
        ours, theirs = (tool("get-offsets", *at, *arguments) for tool in (brokerd, kafka))
        assert (ours.out, ours.err, ours.code) == (theirs.out, theirs.err, theirs.code), arguments
    described = ("--describe", "--topic-list", made)
    ours = brokerd("log-dirs", *at, *described)
    theirs = kafka("run", "org.apache.kafka.tools.LogDirsCommand", *at, *described)
    assert (ours.lines[:2], ours.code) == (theirs.lines[:2], theirs.code)
    # members come out of hash maps there
    assert sorted(re.split("[{},]", ours.lines[2])) == sorted(re.split("[{},]", theirs.lines[2]))


def test_records_before_an_offset_are_deleted(at: At, topic: str, tmp_path: Path) -> None:
    brokerd("topics", *at, "--create", "--topic", topic, "--partitions", "1").ok()
    produce(at, topic, "one\ntwo\nthree\n").ok()
    said = delete_records(at, tmp_path, topic, 2).ok()
    assert said.lines[2] == f"partition: {topic}-0\tlow_watermark: 2"
    assert consume(at, topic, "--from-beginning", "--max-messages", "1").lines == ["three"]
    beyond = delete_records(at, tmp_path, topic, 99).ok()
    assert "The requested offset is not within the range of offsets" in beyond.out


@pytest.mark.kafka
def test_formatters_write_what_kafkas_write(at: At, made: str, group: str) -> None:
    produce(at, made, "one\n").ok()
    member = ("--group", group, "--from-beginning", "--max-messages", "1")
    assert consume(at, made, *member, "--enable-systest-events").lines == [
        "one", "shutdown_complete"
    ]  # fmt: skip
    brokerd("consumer-groups", *at, "--delete", "--group", group).ok()
    ends = brokerd("get-offsets", *at, "--topic", "__consumer_offsets").ok().lines
    home = partition_for(group, len(ends))
    (count,) = (each.split(":")[2] for each in ends if each.split(":")[1] == str(home))
    stored = ("--topic", "__consumer_offsets", "--partition", str(home), "--offset", "earliest")
    package, older = "org.apache.kafka.tools.consumer.", "kafka.coordinator.group."
    for name in (
        f"{package}OffsetsMessageFormatter",
        f"{package}GroupMetadataMessageFormatter",
    ):
        read = ("console-consumer", *at, *stored, "--max-messages", count, "--formatter", name)
        ours, theirs = brokerd(*read), kafka(*read)
        assert (ours.out, ours.err, ours.code) == (theirs.out, theirs.err, theirs.code)
        assert group in ours.out
    older = f"{older}GroupMetadataManager$OffsetsMessageFormatter"
    read = ("console-consumer", *at, *stored, "--max-messages", count, "--formatter")
    assert brokerd(*read, older).out == brokerd(*read, f"{package}OffsetsMessageFormatter").out
    plain = ("console-consumer", *at, "--topic", made, "--from-beginning", "--max-messages", "1",
             "--enable-systest-events", "--formatter")  # fmt: skip
    for name in (f"{package}LoggingMessageFormatter", f"{package}NoOpMessageFormatter"):
        ours, theirs = brokerd(*plain, name), kafka(*plain, name)
        assert (ours.out, ours.err, ours.code) == (theirs.out, theirs.err, theirs.code)
