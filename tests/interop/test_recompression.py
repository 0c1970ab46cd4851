"""Topics that store with another codec than their producers send: order, bounds, and the ends."""

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record, encode_batch, iter_batches
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

Names = Callable[[str], str]
NOW_MS = 1_700_000_000_000
LARGE = [Record(0, NOW_MS, b"k", b"some value %d " % i * 50) for i in range(500)]


@pytest.fixture(scope="module")
def packing(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    """A broker that stores with gzip, as hard as it can, unless a topic says otherwise."""
    settings = {
        "compression.type": "gzip",
        "compression.gzip.level": "9",
        "log.retention.ms": "-1",
        "queued.max.request.bytes": str(4 << 20),
    }
    directory = tmp_path_factory.mktemp("packing")
    connect = zookeeper.connect("/packing")
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        yield cluster.brokers[0]
        assert "Traceback" not in cluster.brokers[0].said()


def create(broker: Brokerd, name: str, **config: str) -> None:
    configs = [{"name": key.replace("_", "."), "value": value} for key, value in config.items()]
    topic = {"name": name, "num_partitions": 1, "replication_factor": 1, "configs": configs}
    with Wire(broker.port) as wire:
        made = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 10_000})
        assert made.topics[0].error_code == 0
        while produce(wire, name, bytes(encode_batch(LARGE[:1]))) is not ErrorCode.NONE:
            pass


def send(wire: Wire, topic: str, batch: bytes, acks: int = 1) -> None:
    data = [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}]
    wire.request(ApiKey.PRODUCE, 9, {"acks": acks, "timeout": 5000, "topic_data": data})


def answered(wire: Wire) -> tuple[ErrorCode, int]:
    answer = wire.answer(ApiKey.PRODUCE, 9).responses[0].partition_responses[0]
    return ErrorCode(int(answer.error_code)), answer.base_offset


def produce(wire: Wire, topic: str, batch: bytes) -> ErrorCode:
    send(wire, topic, batch)
    return answered(wire)[0]


def codecs(broker: Brokerd, topic: str) -> set[int]:
    """Those of all batches on disk."""
    found = set()
    for path in (broker.logs / f"{topic}-0").glob("*.log"):
        found |= {header.codec for header, _ in iter_batches(memoryview(path.read_bytes()))}
    return found


def consumed(broker: Brokerd, topic: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    try:
        consumer.subscribe([topic])
        values: list[bytes] = []
        while len(values) < count:
            more = consumer.consume(count - len(values), 20)
            assert more, f"{len(values)} of {count} records came"
            values += [each.value() for each in more]
        return values
    finally:
        consumer.close()


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_records_are_stored_in_order_whatever_codec_they_came_with(
    packing: Brokerd, new_name: Names, acks: str
) -> None:
    topic = new_name("packed")
    create(packing, topic)
    sent = []
    for codec in ("none", "lz4", "gzip", "zstd", "snappy"):
        producer = Producer(
            {"bootstrap.servers": packing.address, "compression.codec": codec, "acks": acks,
             "enable.idempotence": acks == "all", "batch.size": 4000}
        )  # fmt: skip
        values = [b"%s %d" % (codec.encode(), i) for i in range(2000)]
        for value in values:
            producer.produce(topic, value)
        assert producer.flush(30) == 0
        sent += values
    assert consumed(packing, topic, len(sent) + 1)[1:] == sent
    assert codecs(packing, topic) == {Codec.GZIP}


def test_a_client_that_sends_faster_than_its_topic_packs_is_slowed_and_answered_in_order(
    packing: Brokerd, new_name: Names
) -> None:
    topic = new_name("flooded")
    create(packing, topic)
    batch = bytes(encode_batch(LARGE))
    count = 2 * (16 << 20) // len(batch)
    with Wire(packing.port) as wire:
        for _ in range(count):
            send(wire, topic, batch, acks=0)
        send(wire, topic, batch)
        assert answered(wire) == (ErrorCode.NONE, 1 + count * len(LARGE))
    assert codecs(packing, topic) == {Codec.GZIP}


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_is_refused_and_its_connection_goes_on(
    packing: Brokerd, new_name: Names, codec: Codec
) -> None:
    topic = new_name("bombed")
    create(packing, topic, compression_type="snappy")
    bomb = bytes(encode_batch([Record(0, NOW_MS, b"k", bytes(65 << 20))], codec=codec))
    assert len(bomb) < 1 << 19
    with Wire(packing.port) as wire:
        send(wire, topic, bomb)
        send(wire, topic, bytes(encode_batch(LARGE[:1])))
        assert answered(wire) == (ErrorCode.INVALID_RECORD, -1)
        assert answered(wire) == (ErrorCode.NONE, 1)


def test_a_topic_that_is_deleted_meanwhile_refuses_what_comes_back(
    packing: Brokerd, new_name: Names
) -> None:
    topic = new_name("deleted")
    create(packing, topic)
    batch = bytes(encode_batch(LARGE))
    with Wire(packing.port) as wire:
        for _ in range(20):
            send(wire, topic, batch)
        wire.request(ApiKey.DELETE_TOPICS, 5, {"topic_names": [topic], "timeout": 10_000})
        errors = {answered(wire)[0] for _ in range(20)}
        assert wire.answer(ApiKey.DELETE_TOPICS, 5).responses[0].error_code == 0
    gone = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert errors <= gone | {ErrorCode.NONE}


def test_a_client_that_leaves_meanwhile_leaves_its_records(
    packing: Brokerd, new_name: Names
) -> None:
    topic = new_name("left")
    create(packing, topic)
    with Wire(packing.port) as wire:
        for _ in range(5):
            send(wire, topic, bytes(encode_batch(LARGE)))
        # It sends no more; had it closed altogether, what the broker has not read would be dropped.
        wire._socket.shutdown(socket.SHUT_WR)
        with suppress(EOFError, ConnectionResetError):
            while wire.frame():
                pass
    assert len(consumed(packing, topic, 1 + 5 * len(LARGE))) == 1 + 5 * len(LARGE)


def test_settings_that_change_meanwhile_keep_the_order(packing: Brokerd, new_name: Names) -> None:
    topic = new_name("changed")
    create(packing, topic)
    batches = [bytes(encode_batch(LARGE)), bytes(encode_batch(LARGE[:1]))]
    with Wire(packing.port) as wire, Wire(packing.port) as admin:
        for round_ in range(6):
            value = ("producer", "gzip")[round_ % 2]
            change = {"name": "compression.type", "config_operation": 0, "value": value}
            resource = {"resource_type": 2, "resource_name": topic, "configs": [change]}
            for batch in batches:
                send(wire, topic, batch)
            admin.ask(
                ApiKey.INCREMENTAL_ALTER_CONFIGS, 1,
                {"resources": [resource], "validate_only": False},
            )  # fmt: skip
        found = [answered(wire) for _ in range(12)]
    offsets = [1 + number * (len(LARGE) + 1) for number in range(6)]
    expected = [each for offset in offsets for each in (offset, offset + len(LARGE))]
    assert found == [(ErrorCode.NONE, offset) for offset in expected]
    assert codecs(packing, topic) == {Codec.NONE, Codec.GZIP}


def test_a_broker_that_stops_meanwhile_keeps_what_it_acknowledged(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    settings = {"compression.type": "gzip", "compression.gzip.level": "9", "log.retention.ms": "-1"}
    connect = zookeeper.connect("/stopping")
    with BrokerdCluster.started(tmp_path, connect, settings=settings) as cluster:
        (broker,) = cluster.brokers
        create(broker, "t")
        acknowledged = 0
        with Wire(broker.port) as wire:
            for _ in range(30):
                send(wire, "t", bytes(encode_batch(LARGE)))
            assert broker.process is not None
            broker.process.terminate()
            try:
                while True:
                    error, offset = answered(wire)
                    if error is ErrorCode.NONE:
                        acknowledged = offset + len(LARGE)
            except (EOFError, ConnectionError):
                pass
        broker.stop()
        assert "Traceback" not in broker.said()
        broker.start()
        assert len(consumed(broker, "t", acknowledged)) >= acknowledged > 1


@pytest.mark.parametrize("acks", [0, 1])
def test_what_is_pipelined_behind_records_finds_them_however_long_they_take_to_pack(
    packing: Brokerd, new_name: Names, acks: int
) -> None:
    topic = new_name("pipelined")
    create(packing, topic)
    batch = bytes(encode_batch(LARGE))
    rows = [{"partition_index": 0, "timestamp": -1}]
    asked = {"replica_id": -1, "topics": [{"name": topic, "partitions": rows}]}
    padding = "x" * 30_000
    many = {"replica_id": -1, "topics": [*asked["topics"], *(
        {"name": padding, "partitions": rows} for _ in range(8))]}  # fmt: skip
    with Wire(packing.port) as wire:
        for _ in range(3):
            for question in (asked, many):  # the second has a buffer of its own
                send(wire, topic, batch, acks)
                send(wire, topic, batch, acks)
                wire.request(ApiKey.LIST_OFFSETS, 1, question)
                wire.request(ApiKey.LIST_OFFSETS, 1, asked)
        for end in range(1, 7):
            for _ in range(2 * acks):
                assert answered(wire)[0] is ErrorCode.NONE
            for _ in range(2):
                told = wire.answer(ApiKey.LIST_OFFSETS, 1).topics[0].partitions[0].offset
                assert told == 1 + 2 * end * len(LARGE)
