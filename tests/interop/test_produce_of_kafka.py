"""The same batches to Apache Kafka and to brokerd: the same answers, and the same is stored."""

import time
from typing import Any, NamedTuple

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.compression import Codec, compress
from brokerd.protocol.records import (
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    crc_matches,
    encode_batch,
    iter_batches,
    iter_records,
    read_header,
    write_crc,
)
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka

NOW_MS = int(time.time() * 1000)
TOPICS = {
    "plain": {},
    "compacted": {"cleanup.policy": "compact"},
    "appended": {"message.timestamp.type": "LogAppendTime"},
    "gzip": {"compression.type": "gzip", "compression.gzip.level": "9"},
    "lz4": {"compression.type": "lz4", "compression.lz4.level": "17"},
    "unpacked": {"compression.type": "uncompressed"},
    "both": {"compression.type": "zstd", "message.timestamp.type": "LogAppendTime"},
    "limited": {
        "message.timestamp.before.max.ms": "600000",
        "message.timestamp.after.max.ms": "600000",
    },
    "small": {"max.message.bytes": "200", "compression.type": "uncompressed"},
    "short": {"segment.bytes": "200"},
    "producers": {},
    "expiring": {"message.timestamp.type": "LogAppendTime", "compression.type": "snappy"},
}


def records(count: int = 2, at_ms: int = NOW_MS, key: bytes | None = b"k") -> list[Record]:
    return [Record(0, at_ms + i, key, b"v%d" % i) for i in range(count)]


def changed(batch: bytearray, *, keep_crc: bool = False, **header: int) -> bytes:
    """A batch with other fields in its header."""
    batch = bytearray(batch)
    HEADER.pack_into(batch, 0, *read_header(batch)._replace(**header))
    if not keep_crc:
        write_crc(batch)
    return bytes(batch)


def around(body: bytes, count: int, codec: int = 0) -> bytes:
    """A batch with a right header and CRC around any bytes."""
    batch = bytearray(encode_batch(records(1))[:HEADER_BYTES])
    batch += compress(codec, body)
    return changed(
        batch, length=len(batch) - 12, count=count, last_offset_delta=count - 1, attributes=codec
    )


GOOD = encode_batch(records())
BODY = bytes(GOOD[HEADER_BYTES:])
MISTIMED = [Record(0, NOW_MS + ms, b"k", b"v") for ms in (0, -700_000, 700_000)]
KEYLESS = [*records(1), *records(2, key=None)]


def by(producer_id: int, epoch: int, sequence: int, count: int = 2, at_ms: int = NOW_MS) -> bytes:
    return bytes(
        encode_batch(
            records(count, at_ms), producer_id=producer_id, producer_epoch=epoch,
            base_sequence=sequence,
        )
    )  # fmt: skip


class Case(NamedTuple):
    topic: str
    batch: bytes
    version: int = 9


def headers(topic: str) -> dict[str, Case]:
    """What lies in a header of an otherwise good batch."""
    fields: dict[str, dict[str, int]] = {
        "count 3": {"count": 3},
        "no records": {"count": 0, "last_offset_delta": -1},
        "fewer than there are": {"count": 1, "last_offset_delta": 0},
        "more than there are": {"count": 3, "last_offset_delta": 2},
        "control": {"attributes": CONTROL},
        "delete horizon": {"attributes": DELETE_HORIZON},
        "append time": {"attributes": LOG_APPEND_TIME},
        "transactional": {"attributes": TRANSACTIONAL},
        "largest time before the first": {"max_timestamp": NOW_MS - 100},
        "no largest time": {"max_timestamp": -1},
        "largest time far away": {"max_timestamp": NOW_MS + 10**12},
        "no time": {"base_timestamp": -1, "max_timestamp": -1},
        "no sequence": {"producer_id": 5, "producer_epoch": 0},
        "base offset": {"base_offset": 5},
    }
    return {f"{topic}: {name}": Case(topic, changed(GOOD, **each)) for name, each in fields.items()}


def inside(topic: str, codec: int) -> dict[str, Case]:
    """What lies inside a batch whose header is right."""
    bodies = {
        "garbage": (bytes(20), 2),
        "garbage of some sense": (b"\x14\x01\x02" * 20, 2),
        "something left over": (BODY + b"xx", 2),
        "too few": (BODY, 3),
        "too many": (BODY, 1),
    }
    return {
        f"{topic}: {name}, codec {codec}": Case(topic, around(body, count, codec))
        for name, (body, count) in bodies.items()
    }


CASES: dict[str, Case] = {
    "good": Case("plain", bytes(GOOD)),
    "nothing": Case("plain", b""),
    "a torn header": Case("plain", bytes(GOOD[:40])),
    "a torn body": Case("plain", bytes(GOOD[:-3])),
    "ten bytes": Case("plain", bytes(GOOD[:10])),
    "two batches": Case("plain", bytes(GOOD + GOOD)),
    "a length below a header": Case("plain", changed(GOOD, length=20)),
    "a length below anything": Case("plain", changed(GOOD, length=5)),
    "a negative length": Case("plain", changed(GOOD, length=-5)),
    **{f"magic {m}": Case("plain", changed(GOOD, magic=m)) for m in (-1, 0, 1, 3)},
    "a wrong crc": Case("plain", changed(GOOD, crc=5, keep_crc=True)),
    "zstd in Produce 6": Case("plain", bytes(encode_batch(records(), codec=4)), 6),
    "zstd in Produce 7": Case("plain", bytes(encode_batch(records(), codec=4)), 7),
    **headers("plain"),
    **{name: case for name, case in headers("gzip").items() if "append time" not in name},
    **{
        f"{topic}: codec {codec}": Case(topic, bytes(encode_batch(records(40), codec=codec)))
        for topic in ("plain", "appended", "gzip", "lz4", "unpacked", "both", "limited")
        for codec in Codec
    },
    "append time twice": Case("appended", changed(GOOD, attributes=LOG_APPEND_TIME)),
    **inside("compacted", 0),
    **inside("gzip", 0),
    **inside("unpacked", 2),
    **inside("compacted", 3),
    "no keys": Case("compacted", bytes(encode_batch(KEYLESS))),
    "no keys, packed": Case("compacted", bytes(encode_batch(KEYLESS, codec=1))),
    "no keys, Produce 7": Case("compacted", bytes(encode_batch(KEYLESS)), 7),
    "out of time": Case("limited", bytes(encode_batch(MISTIMED))),
    "out of time, packed": Case("limited", bytes(encode_batch(MISTIMED, codec=4))),
    "no time among limits": Case("limited", bytes(encode_batch(records(1, at_ms=-1)))),
    "a header out of time": Case("limited", changed(GOOD, max_timestamp=NOW_MS + 10**9)),
    "small": Case("small", bytes(GOOD)),
    "large": Case("small", bytes(encode_batch(records(50)))),
    "large when unpacked": Case("small", bytes(encode_batch(records(50), codec=1))),
    "longer than a segment": Case("short", bytes(encode_batch(records(50)))),
    **{
        f"{number}: epoch {epoch} sequence {sequence} of {producer}": Case(
            "producers", by(producer, epoch, sequence, count)
        )
        for number, (producer, epoch, sequence, count) in enumerate(
            [
                (1, 0, 0, 2), (1, 0, 0, 2), (1, 0, 2, 2), (1, 0, 9, 2), (1, 0, 0, 3), (1, 0, 1, 2),
                (1, 0, 4, 2), (1, 0, 6, 2), (1, 0, 8, 2), (1, 0, 10, 2), (1, 0, 0, 2),
                (1, 0, 2, 2), (1, 0, 10, 2), (1, 1, 5, 2), (1, 1, 0, 2), (1, 0, 12, 2),
                (1, 0, 10, 2), (1, 1, 2, 2), (1, 1, 0, 2), (2, 0, 7, 2), (2, 0, 9, 2), (3, 3, 7, 2),
                (4, 0, 2**31 - 2, 2), (4, 0, 0, 2), (4, 0, 2, 2), (4, 0, 2**31 - 2, 2),
                (5, 0, 2**31 - 1, 2), (5, 0, 1, 2), (5, 0, 2**31 - 1, 2), (6, 0, 2**31 - 2, 2),
                (6, 0, 1, 2),
            ]
        )
    },
    "an old producer": Case("producers", by(7, 0, 0, at_ms=1000)),
    "an old producer again": Case("producers", by(7, 0, 0, at_ms=1000)),
    "a producer, packed": Case("expiring", by(1, 0, 0)),
    "a producer, packed, again": Case("expiring", by(1, 0, 0)),
    "a producer, packed, out of order": Case("expiring", by(1, 0, 9)),
    "a producer, packed, next": Case("expiring", by(1, 0, 2)),
}  # fmt: skip


def topics(port: int) -> None:
    with Wire(port) as wire:
        wanted = [
            {"name": f"as-{name}", "num_partitions": 1, "replication_factor": 1,
             "configs": [{"name": key, "value": value} for key, value in config.items()]}
            for name, config in TOPICS.items()
        ]  # fmt: skip
        made = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": wanted, "timeout": 20_000})
        assert not any(topic.error_code for topic in made.topics)
        for name in TOPICS:
            while answer(wire, Case(name, bytes(GOOD)))["error"] in (3, 5, 6):
                time.sleep(0.05)


def answer(wire: Wire, case: Case) -> dict[str, Any]:
    """What Produce says, in numbers; words are compared where Kafka has some."""
    data = [{"index": 0, "records": case.batch}]
    fields = {"acks": -1, "timeout": 5000,
              "topic_data": [{"name": f"as-{case.topic}", "partition_data": data}]}  # fmt: skip
    told = wire.ask(ApiKey.PRODUCE, case.version, fields).responses[0].partition_responses[0]
    time_ms = told.log_append_time and int(told.log_append_time.timestamp() * 1000)
    if time_ms and time_ms >= NOW_MS + 1000:
        time_ms = "now"
    return {
        "error": int(told.error_code),
        "offset": told.base_offset,
        "append time": time_ms,
        "log start": told.log_start_offset,
        "records": [each.batch_index for each in getattr(told, "record_errors", ())],
    }


def stored(port: int, topic: str) -> list[tuple[Any, ...]]:
    """Of each batch what its header says, and its records; the time of an append is not told."""
    found: list[tuple[Any, ...]] = []
    offset = 0
    with Wire(port) as wire:
        while True:
            rows = [{"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 24,
                     "current_leader_epoch": -1}]  # fmt: skip
            fields = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 24,
                      "isolation_level": 0, "session_id": 0, "session_epoch": -1, "rack_id": "",
                      "forgotten_topics_data": [],
                      "topics": [{"topic": f"as-{topic}", "partitions": rows}]}  # fmt: skip
            told = wire.ask(ApiKey.FETCH, 11, fields).responses[0].partitions[0]
            batches = list(iter_batches(memoryview(bytes(told.records or b""))))
            if not batches:
                return found
            for header, view in batches:
                assert crc_matches(header, view)
                offset = header.last_offset + 1
                found.append(summary(header, view))


def summary(header: BatchHeader, view: memoryview) -> tuple[Any, ...]:
    # A producer's delete horizon would make tombstones go at once: brokerd does not keep it.
    shown = header._replace(length=0, crc=0, attributes=header.attributes & ~DELETE_HORIZON)
    if header.is_log_append_time:
        shown = shown._replace(max_timestamp=0)
    keys = [(each.key, each.value, each.headers) for each in iter_records(header, view)]
    return shown, keys


Answers = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def answers(kafka_port: int, brokerd_port: int) -> tuple[Answers, Answers]:
    found = []
    for port in (kafka_port, brokerd_port):
        topics(port)
        with Wire(port) as wire:
            found.append({name: answer(wire, case) for name, case in CASES.items()})
    return found[0], found[1]


@pytest.mark.parametrize("name", CASES)
def test_brokerd_answers_as_apache_kafka(answers: tuple[Answers, Answers], name: str) -> None:
    assert answers[1][name] == answers[0][name]


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("topic", TOPICS)
def test_brokerd_stores_what_apache_kafka_stores(
    kafka_port: int, brokerd_port: int, topic: str
) -> None:
    assert stored(brokerd_port, topic) == stored(kafka_port, topic)
