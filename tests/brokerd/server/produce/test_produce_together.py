"""Clients ready in one iteration of a broker's loop: their Produces are appended together.

The broker is stopped while they send, so that all of them are there when it goes on.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from confluent_kafka.admin import NewTopic

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch, iter_batches, iter_records
from brokerd.topic_partition import TopicPartition
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.processes import hung
from tests.support.waiting import wait_until
from tests.support.wire import Wire

CLIENTS = 24
V = 8
BAD_SIZE = b"\xff\xff\xff\xff"
FITS_BYTES = 60_000  # a socket holds as much of what its broker does not read yet
_numbers = count()


@pytest.fixture
def broker(brokers: BrokerdCluster) -> Brokerd:
    return brokers.brokers[0]


@pytest.fixture
def wires(broker: Brokerd) -> Iterator[list[Wire]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Wire(broker.port)) for _ in range(CLIENTS)]


@pytest.fixture
def topic(led_by: Callable[..., str]) -> str:
    return led_by(f"together-{next(_numbers)}", 1)


def produce(topic: str, value: bytes, acks: int = 1, **batch: Any) -> dict[str, Any]:
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", value)], **batch))
    data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    return {"acks": acks, "timeout": 5000, "topic_data": data}


def fetch(topic: str, offset: int = 0) -> dict[str, Any]:
    row = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    return {
        "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20,
        "topics": [{"topic": topic, "partitions": [row]}],
    }  # fmt: skip


def offset_told(answer: Any) -> int:
    row = answer.responses[0].partition_responses[0]
    assert row.error_code == 0
    return int(row.base_offset)


def get_known(wires: list[Wire], topic: str) -> int:
    """Each client has produced once, so that its requests are recognised; where the log ends."""
    for wire in wires:
        end = offset_told(wire.ask(ApiKey.PRODUCE, V, produce(topic, b"first"))) + 1
    return end


def values(wire: Wire, topic: str, offset: int = 0) -> list[bytes | None]:
    """Of the records from an offset on."""
    (found,) = wire.ask(ApiKey.FETCH, 11, fetch(topic, offset)).responses
    view = memoryview(bytearray(found.partitions[0].records))
    batches = iter_batches(view)
    return [each.value for header, batch in batches for each in iter_records(header, batch)]


def test_each_is_told_the_offsets_of_its_own_records(
    broker: Brokerd, wires: list[Wire], led_by: Callable[..., str]
) -> None:
    topics = [led_by(f"together-{next(_numbers)}", 1) for _ in range(2)]
    for topic in topics:
        get_known(wires, topic)
    sent: list[tuple[Wire, str, int, bytes]] = []
    with hung(broker.process):
        for number, wire in enumerate(wires):
            for turn in range(1 + number % 3):
                topic, acks = topics[(number + turn) % 2], (1, -1, 0)[number // 2 % 3]
                value = b"%d.%d" % (number, turn)
                wire.request(ApiKey.PRODUCE, V, produce(topic, value, acks))
                sent.append((wire, topic, acks, value))
    told = {
        (topic, offset_told(wire.answer(ApiKey.PRODUCE, V))): value
        for wire, topic, acks, value in sent
        if acks
    }
    for topic in topics:  # nobody answers to acks=0
        wanted = CLIENTS + sum(each == topic for _, each, _, _ in sent)
        wait_until(lambda topic=topic, wanted=wanted: len(values(wires[2], topic)) == wanted)
    found = {topic: values(wires[2], topic) for topic in topics}
    assert {place: found[place[0]][place[1]] for place in told} == told
    for topic in topics:
        assert sorted(found[topic][CLIENTS:]) == sorted(v for _, t, _, v in sent if t == topic)
    unanswered = next(wire for wire, _, acks, _ in sent if acks == 0)
    assert unanswered.hears_nothing(0.1)


def test_a_client_sees_its_own_record_in_what_it_asks_next(
    broker: Brokerd, wires: list[Wire], topic: str
) -> None:
    get_known(wires, topic)
    with hung(broker.process):
        for number, wire in enumerate(wires):
            wire.request(ApiKey.PRODUCE, V, produce(topic, b"%d" % number))
            if number % 4 == 0:
                wire.request(ApiKey.FETCH, 11, fetch(topic))
    for number, wire in enumerate(wires):
        offset = offset_told(wire.answer(ApiKey.PRODUCE, V))
        if number % 4 == 0:
            (found,) = wire.answer(ApiKey.FETCH, 11).responses
            assert found.partitions[0].high_watermark > offset


def test_one_that_leaves_or_sends_nonsense_costs_the_others_nothing(
    broker: Brokerd, wires: list[Wire], topic: str
) -> None:
    get_known(wires, topic)
    leaving, odd, *rest = wires
    with hung(broker.process):
        for number, wire in enumerate(wires):
            wire.request(ApiKey.PRODUCE, V, produce(topic, b"%d" % number))
        leaving.__exit__()
        odd.send(b"\x00\x00\x00\x0a\x7f\xff\x00\x00\x00\x00\x00\x00\x00\x00")
    offsets = [offset_told(wire.answer(ApiKey.PRODUCE, V)) for wire in rest]
    assert len(set(offsets)) == len(rest)
    found = values(rest[0], topic)
    assert [found[offset] for offset in offsets] == [b"%d" % n for n in range(2, CLIENTS)]
    assert "Traceback" not in broker.said()


def test_large_and_small_ones_and_those_in_two_pieces_are_kept_apart(
    broker: Brokerd, wires: list[Wire], topic: str
) -> None:
    get_known(wires, topic)
    sizes = [(10, 20_000, 70_000, 900_000)[number % 4] for number in range(CLIENTS)]
    rests = []
    with hung(broker.process):
        for number, (wire, size) in enumerate(zip(wires, sizes, strict=True)):
            fields = produce(topic, b"%02d" % number * (size // 2))
            frame = encode_request(ApiKey.PRODUCE, V, fields, number, "wire")
            cut = min(len(frame) - number % 3, FITS_BYTES)
            wire.send(frame[:cut])
            rests.append(frame[cut:])
    for wire, rest in zip(wires, rests, strict=True):
        wire.send(rest)
    told = {
        offset_told(wire.answer(ApiKey.PRODUCE, V)): number for number, wire in enumerate(wires)
    }
    assert sorted(told) == list(range(CLIENTS, 2 * CLIENTS))
    for offset, number in told.items():
        (value,) = values(wires[0], topic, offset)[:1]
        assert value == b"%02d" % number * (sizes[number] // 2)


def test_a_repeated_batch_of_an_idempotent_producer_is_told_apart(
    broker: Brokerd, wires: list[Wire], topic: str
) -> None:
    get_known(wires, topic)
    ids = []
    for wire in wires:
        fields = {"transactional_id": None, "transaction_timeout": 0}
        ids.append(wire.ask(ApiKey.INIT_PRODUCER_ID, 1, fields).producer_id)

    def batch(number: int, sequence: int) -> dict[str, Any]:
        told = {"producer_id": ids[number], "producer_epoch": 0, "base_sequence": sequence}
        return produce(topic, b"%d.%d" % (number, sequence), -1, **told)

    with hung(broker.process):
        for number, wire in enumerate(wires):
            for sequence in (0, 1, 0, 2) if number % 2 else (0, 1):
                wire.request(ApiKey.PRODUCE, V, batch(number, sequence))
    for number, wire in enumerate(wires):
        offsets = [
            offset_told(wire.answer(ApiKey.PRODUCE, V)) for _ in range(4 if number % 2 else 2)
        ]
        if number % 2:
            assert offsets[0] == offsets[2] < offsets[1] < offsets[3]
    assert len(values(wires[0], topic)) == CLIENTS + CLIENTS // 2 * 5


@pytest.mark.parametrize(
    "config",
    [
        {"cleanup.policy": "compact"},
        {"message.timestamp.before.max.ms": "100000000000000"},
        {"compression.type": "uncompressed"},
        {"compression.type": "gzip"},
    ],
    ids=str,
)
def test_those_to_a_topic_whose_batches_are_opened_are_told_their_own_offsets_too(
    broker: Brokerd, wires: list[Wire], admin: Any, config: dict[str, str]
) -> None:
    topic = f"together-{next(_numbers)}"
    made = NewTopic(topic, 1, replica_assignment=[[1]], config=config)
    admin.create_topics([made])[topic].result(20)
    get_known(wires, topic)
    sent: list[tuple[Wire, bytes]] = []
    with hung(broker.process):
        for number, wire in enumerate(wires):
            for turn in range(1 + number % 3):
                value = b"%d.%d" % (number, turn) + b"-" * (number % 4)
                wire.request(ApiKey.PRODUCE, V, produce(topic, value))
                sent.append((wire, value))
    told = {offset_told(wire.answer(ApiKey.PRODUCE, V)): value for wire, value in sent}
    found = values(wires[0], topic)
    assert len(found) == CLIENTS + len(sent)
    assert {offset: found[offset] for offset in told} == told
    assert "Traceback" not in broker.said()


def test_those_to_a_topic_that_recompresses_wait_and_the_others_do_not_lose_their_place(
    broker: Brokerd, wires: list[Wire], topic: str, admin: Any
) -> None:
    other = f"together-{next(_numbers)}"
    made = NewTopic(other, 1, replica_assignment=[[1]], config={"compression.type": "gzip"})
    admin.create_topics([made])[other].result(20)
    get_known(wires, topic)
    with hung(broker.process):
        for number, wire in enumerate(wires):
            for turn in range(3):
                to = other if (number + turn) % 2 else topic
                wire.request(ApiKey.PRODUCE, V, produce(to, b"%d.%d" % (number, turn)))
    told: dict[TopicPartition, bytes] = {}
    for number, wire in enumerate(wires):
        for turn in range(3):
            to = other if (number + turn) % 2 else topic
            told[to, offset_told(wire.answer(ApiKey.PRODUCE, V))] = b"%d.%d" % (number, turn)
    assert len(told) == 3 * CLIENTS
    found = {each: values(wires[0], each) for each in (topic, other)}
    assert {(to, offset): found[to][offset] for to, offset in told} == told


def test_bad_batches_among_good_ones_are_refused_and_cost_nobody_a_record(
    broker: Brokerd, wires: list[Wire], admin: Any
) -> None:
    kinds: dict[str, dict[str, str]] = {
        "plain": {}, "compact": {"cleanup.policy": "compact"}, "gzip": {"compression.type": "gzip"},
        "flushed": {"flush.messages": "1"},
    }  # fmt: skip
    topics = {kind: f"together-{next(_numbers)}" for kind in kinds}
    made = [
        NewTopic(topic, 1, replica_assignment=[[1]], config=kinds[kind])
        for kind, topic in topics.items()
    ]
    for future in admin.create_topics(made).values():
        future.result(20)
    names = list(topics.values())
    for topic in names:
        get_known(wires, topic)
    sent: list[tuple[Wire, str, bytes, bool]] = []
    with hung(broker.process):
        for number, wire in enumerate(wires):
            for turn in range(1 + number % 5):
                topic, value = names[(number // 4 + turn) % 4], b"%d.%d" % (number, turn)
                asked = produce(topic, value, (1, -1)[turn % 2])
                is_good = (number + 2 * turn) % 5 != 0
                if not is_good:
                    row = asked["topic_data"][0]["partition_data"][0]
                    row["records"] = row["records"][:-1] + b"!"
                wire.request(ApiKey.PRODUCE, V, asked)
                sent.append((wire, topic, value, is_good))
    told: dict[TopicPartition, bytes] = {}
    for wire, topic, value, is_good in sent:
        row = wire.answer(ApiKey.PRODUCE, V).responses[0].partition_responses[0]
        assert (row.error_code == 0) == is_good
        if is_good:
            told[topic, row.base_offset] = value
    found = {topic: values(wires[0], topic) for topic in names}
    assert {place: found[place[0]][place[1]] for place in told} == told
    assert sum(map(len, found.values())) == len(told) + 4 * CLIENTS


def test_what_ends_a_connection_comes_after_the_answers_that_the_others_have_too(
    broker: Brokerd, wires: list[Wire], topic: str
) -> None:
    get_known(wires, topic)
    with hung(broker.process):
        for number, wire in enumerate(wires):
            asked = ApiKey.PRODUCE, V, produce(topic, b"%d" % number)
            wire.send(encode_request(*asked, 1, "wire") + BAD_SIZE)
    offsets = [offset_told(wire.answer(ApiKey.PRODUCE, V)) for wire in wires]
    assert sorted(offsets) == list(range(CLIENTS, 2 * CLIENTS))
    assert all(wire.is_closed() for wire in wires)
