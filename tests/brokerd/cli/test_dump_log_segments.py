"""dump-log on real files, and beside Apache Kafka's own tool."""

import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import CONTROL, TRANSACTIONAL, Record, encode_batch, write_crc
from tests.brokerd.log.support import NOW_MS, batch, headers, open_log
from tests.support.brokerd_tools import brokerd
from tests.support.kafka_tools import kafka
from tests.support.warm import ROOT, Said

CONFIG = LogConfig(segment_bytes=40_000, index_interval_bytes=1000)
SUFFIXES = (".log", ".index", ".timeindex", ".snapshot")
FIRST = f"{0:020}"
BASE_OFFSET, COUNT = 0, 57  # positions in a batch


@pytest.fixture
def log(tmp_path: Path) -> UnifiedLog:
    """Several segments: every codec, producers, headers, null keys and values."""
    log = open_log(tmp_path / "t-0", CONFIG)
    sequence = 0
    for number in range(120):
        producer = (-1, -1, -1)
        if number % 3 == 1:
            producer = (4000, 2, sequence)
            sequence += 2
        at_ms = NOW_MS + number * 10 - (70 if number % 11 == 5 else 0)
        plain = batch(
            2, size=number * 17 % 900, codec=number % 5, timestamp_ms=at_ms, producer=producer
        )
        bare = [
            Record(0, at_ms, None, b"caf\xc3\xa9"),
            Record(0, at_ms, b"k", None, (("h", b"1"),)),
        ]
        for result in log.append([plain, memoryview(encode_batch(bare))], number // 50, NOW_MS):
            assert result.error is None
    log.close()
    return log


def files(directory: Path, *suffixes: str) -> str:
    wanted = suffixes or SUFFIXES
    return ",".join(sorted(str(path) for path in directory.iterdir() if path.suffix in wanted))


def test_a_line_for_each_batch_with_its_position(log: UnifiedLog, tmp_path: Path) -> None:
    said = brokerd("dump-log", "--files", files(tmp_path / "t-0", ".log")).ok()
    stored = list(headers(log))
    lines = [line for line in said.lines if line.startswith("baseOffset: ")]
    assert [int(line.split()[1]) for line in lines] == [each.base_offset for each in stored]
    assert all(line.endswith("isvalid: true") for line in lines)
    assert said.lines[1] == "Log starting offset: 0"


@pytest.mark.kafka
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--deep-iteration",),
        ("--print-data-log",),
        ("--print-data-log", "--skip-record-metadata"),
        ("--verify-index-only",),
        ("--index-sanity-check",),
        (
            "--value-decoder-class",
            "org.apache.kafka.tools.api.StringDecoder",
            "--key-decoder-class",
            "org.apache.kafka.tools.api.StringDecoder",
            "--max-bytes",
            "9000",
        ),
    ],
)
def test_all_files_are_shown_as_kafka_shows_them(
    log: UnifiedLog, tmp_path: Path, options: tuple[str, ...]
) -> None:
    arguments = ("dump-log", *options, "--files", files(tmp_path / "t-0"))
    theirs, ours = kafka(*arguments).ok(), brokerd(*arguments).ok()
    assert ours.out == theirs.out


@pytest.mark.kafka
def test_bytes_are_in_hexadecimal_where_kafka_shows_an_array(
    log: UnifiedLog, tmp_path: Path
) -> None:
    data = files(tmp_path / "t-0", ".log")
    decoder = "org.apache.kafka.tools.api.DefaultDecoder"
    arguments = ("dump-log", "--value-decoder-class", decoder, "--files", data)
    theirs, ours = kafka(*arguments).ok(), brokerd(*arguments).ok()
    said = [re.sub(r"payload: (\[B@)?[0-9a-f]*", "payload: X", each.out) for each in (theirs, ours)]
    assert said[0] == said[1]
    payloads = re.findall(r"valueSize: (\d+) .* payload: (.*)", ours.out)
    assert all(len(bytes.fromhex(shown)) == int(size) for size, shown in payloads)
    assert payloads


def test_decoders_that_are_not_here_are_refused(log: UnifiedLog, tmp_path: Path) -> None:
    data = files(tmp_path / "t-0", ".log")
    said = brokerd("dump-log", "--key-decoder-class", "my.Decoder", "--files", data)
    assert (said.code, said.out, len(said.err.splitlines())) == (1, "", 1), said.err
    assert "my.Decoder is not a decoder that is built in; these are: StringDecoder" in said.err


@pytest.mark.kafka
def test_what_does_not_match_is_named_as_kafka_names_it(log: UnifiedLog, tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    index, time_index = directory / f"{FIRST}.index", directory / f"{FIRST}.timeindex"
    shift(index, 8 * 2, ">i", 1)
    shift(index, 8 * 5, ">i", 1)
    shift(time_index, 12 * 1, ">q", 1)
    shift(time_index, 12 * 3, ">q", -1000)
    shift(time_index, 12 * 4 + 8, ">i", 1)
    arguments = ("dump-log", "--files", f"{index},{time_index}")
    theirs, ours = kafka(*arguments), brokerd(*arguments)
    assert ours.out == theirs.out
    assert sorted(ours.err.splitlines()) == sorted(theirs.err.splitlines())
    assert "Mismatches in :" in ours.err


def shift(path: Path, position: int, layout: str, by: int) -> None:
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, position, struct.unpack_from(layout, data, position)[0] + by)
    path.write_bytes(data)


@pytest.mark.kafka
def test_markers_and_gaps_are_shown_as_kafka_shows_them(tmp_path: Path) -> None:
    marker = Record(0, NOW_MS, struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 7))
    abort = Record(0, NOW_MS, struct.pack(">hh", 0, 0), struct.pack(">hi", 0, 8))
    flags = {"attributes": CONTROL | TRANSACTIONAL, "producer_id": 9, "producer_epoch": 1}
    path = tmp_path / f"{FIRST}.log"
    path.write_bytes(
        encode_batch([marker], **flags)
        + encode_batch([abort], base_offset=5, **flags)
        + encode_batch([marker], base_offset=9, **flags)
    )
    txn_index = tmp_path / f"{FIRST}.txnindex"
    txn_index.write_bytes(struct.pack(">hqqqq", 0, 9, 1, 5, 3))
    arguments = ("dump-log", "--print-data-log", "--files", f"{path},{txn_index}")
    theirs, ours = kafka(*arguments), brokerd(*arguments)
    assert (ours.out, ours.code) == (theirs.out, 0)
    assert sorted(ours.err.splitlines()) == sorted(theirs.err.splitlines())
    assert "  5 is followed by 9" in ours.err
    assert "endTxnMarker: COMMIT coordinatorEpoch: 7" in ours.out


def damaged(tmp_path: Path, change: bytes, position: int, codec: int = 0) -> Said:
    """What is said of three batches of which the second was changed, with a CRC that fits."""
    batches = [
        encode_batch([Record(0, NOW_MS, b"k", b"v" * 50)] * 2, base_offset=2 * number, codec=codec)
        for number in range(3)
    ]
    batches[1][position : position + len(change)] = change
    write_crc(batches[1])
    path = tmp_path / f"{FIRST}.log"
    path.write_bytes(b"".join(batches))
    return brokerd("dump-log", "--print-data-log", "--files", path)


@pytest.mark.parametrize(
    ("change", "position", "codec"),
    [
        (struct.pack(">i", 2_000_000_000), COUNT, 0),
        (struct.pack(">i", 1), COUNT, 0),
        (b"\x07", 22, 0),  # no such codec
        (b"\xff" * 8, 61, 0),
        (b"\xff" * 8, 61, 1),
        (b"\xff" * 8, 61, 4),
    ],
)
def test_a_batch_that_lies_is_named_and_counted_and_the_rest_is_shown(
    tmp_path: Path, change: bytes, position: int, codec: int
) -> None:
    said = damaged(tmp_path, change, position, codec)
    assert said.code == 1
    assert "the batch of offsets 2 to 3 at position" in said.err
    assert said.out.count("baseOffset: ") == 3
    assert "| offset: 4 " in said.out
    assert "| offset: 5 " in said.out


def test_a_torn_tail_is_counted_as_invalid_bytes(log: UnifiedLog, tmp_path: Path) -> None:
    path = tmp_path / "t-0" / f"{FIRST}.log"
    with path.open("ab") as file:
        file.write(bytes(batch(size=300))[:100])
    said = brokerd("dump-log", "--files", path).ok()
    assert said.lines[-1] == f"Found 100 invalid bytes at the end of {FIRST}.log"


def test_room_set_aside_and_old_formats_are_named(log: UnifiedLog, tmp_path: Path) -> None:
    path = tmp_path / "t-0" / f"{FIRST}.log"
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(500))
    assert "Found 500 invalid bytes" in brokerd("dump-log", "--files", path).ok().out
    old = bytearray(batch(size=300))
    old[16] = 1
    path.write_bytes(whole + old)
    said = brokerd("dump-log", "--files", path)
    assert said.code == 1
    assert "Found message format 1 in" in said.err


def test_what_cannot_be_read_is_a_line_each(tmp_path: Path) -> None:
    (tmp_path / f"{FIRST}.snapshot").write_bytes(b"no snapshot")
    (tmp_path / f"{FIRST}.index").write_bytes(bytes(16))
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n0\n")
    named = [f"{FIRST}.log", f"{FIRST}.snapshot", f"{FIRST}.index", "leader-epoch-checkpoint",
             "name.log"]  # fmt: skip
    paths = ",".join(str(tmp_path / name) for name in named)
    said = brokerd("dump-log", "--files", paths)
    assert said.code == 1
    assert said.out.count("Dumping ") == len(named)
    for complaint in (
        f"{FIRST}.log cannot be read: No such file or directory",
        f"{FIRST}.snapshot is not a producer snapshot",
        f"{FIRST}.index cannot be read: No such file or directory",
        "Ignoring unknown file",
        "name.log cannot be read: its name does not begin with an offset",
    ):
        assert complaint in said.err, said.err


@pytest.mark.kafka
def test_what_is_not_a_file_of_a_log_ends_it_as_kafkas(log: UnifiedLog, tmp_path: Path) -> None:
    other = tmp_path / "t-0" / "partition.metadata"
    other.touch()
    for path in (tmp_path / "t-0", tmp_path / "leader-epoch-checkpoint", other):
        ours, theirs = (tool("dump-log", "--files", path) for tool in (brokerd, kafka))
        assert ours.out == theirs.out == f"Dumping {path}\n"
        assert ours.code == 1
        assert ours.err == f"Ignoring unknown file {path}\n"


@pytest.mark.parametrize("option", ["--offsets-decoder", "--transaction-log-decoder"])
def test_records_without_keys_are_not_those_of_an_internal_topic(
    tmp_path: Path, option: str
) -> None:
    path = tmp_path / f"{FIRST}.log"
    path.write_bytes(encode_batch([Record(0, NOW_MS, None, b"v")] * 2))
    said = brokerd("dump-log", option, "--files", path).ok()
    assert said.out.count(", skipping.") == 2


@pytest.mark.kafka
@pytest.mark.parametrize("data", [b"", b"\0", b"no snapshot", b"\0\7" + bytes(8)])
def test_a_snapshot_that_cannot_be_read_is_named_and_that_is_all(
    tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / f"{FIRST}.snapshot"
    path.write_bytes(data)
    ours, theirs = (tool("dump-log", "--files", path) for tool in (brokerd, kafka))
    assert (ours.out, ours.code) == (theirs.out, theirs.code) == (f"Dumping {path}\n", 0)
    assert bool(ours.err) == bool(theirs.err) is True


def test_a_wrong_line_is_refused_with_the_options() -> None:
    for arguments, said in (
        ((), "Print the contents of segments"),
        (("--deep-iteration",), 'Missing required argument "[files]"'),
        (("--files", "a", "--what"), "Unrecognized arguments: --what"),
    ):
        done = brokerd("dump-log", *arguments)
        assert done.code == 1
        assert said in done.err
        assert "--print-data-log" in done.err


def test_a_reader_that_has_seen_enough_ends_it_quietly(log: UnifiedLog, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "brokerd", "dump-log", "--deep-iteration", "--files"]
    line = shlex.join([*command, files(tmp_path / "t-0", ".log")])
    done = subprocess.run(
        f"{line} | head -1", shell=True, capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.startswith("Dumping ")
    assert not done.stderr


def transaction(
    name: str, state: int, partitions: dict[str, list[int]] | None, version: int = 0
) -> Record:
    """A record as a coordinator writes it into `__transaction_state`."""
    key = struct.pack(">hh", version, len(name)) + name.encode()
    value = struct.pack(">hqhib", 0, 4711, 3, 60_000, state)
    value += struct.pack(">i", -1 if partitions is None else len(partitions))
    for topic, indexes in (partitions or {}).items():
        value += struct.pack(">h", len(topic)) + topic.encode()
        value += struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
    return Record(0, NOW_MS, key, value + struct.pack(">qq", NOW_MS, NOW_MS - 5))


@pytest.mark.kafka
def test_transactions_are_shown_as_kafka_shows_them(tmp_path: Path) -> None:
    records = [
        transaction("t", 0, None),
        *(
            transaction(f"with {count}", state, {"a": list(range(count)), "other": [7, 5]})
            for state, count in enumerate((1, 2, 9, 10, 11, 12, 30, 50))
        ),
        transaction("many", 1, {f"topic-{number}": [number % 3, 11] for number in range(20)}),
        Record(0, NOW_MS, transaction("gone", 0, None).key, None),
        transaction("of a kind to come", 0, None, version=5),
    ]
    path = tmp_path / f"{FIRST}.log"
    path.write_bytes(encode_batch(records))
    arguments = ("dump-log", "--transaction-log-decoder", "--files", path)
    theirs, ours = kafka(*arguments), brokerd(*arguments)
    # partitions come out of a hash set there
    assert sorted(re.split(r"[\n,\[\]]", ours.out)) == sorted(re.split(r"[\n,\[\]]", theirs.out))
    assert (ours.err, ours.code) == (theirs.err, theirs.code)
    assert "state=PrepareEpochFence" in ours.out
