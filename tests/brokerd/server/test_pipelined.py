"""What a client sends without waiting for the answer before finds done what it asked there."""

from collections.abc import Callable
from typing import Any

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from tests.brokerd.server.produce.test_produce_together import fetch, offset_told, produce
from tests.support.brokerd import BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire

ROUNDS = 20
TOPIC_TYPE = 2

Asked = tuple[ApiKey, int, dict[str, Any]]


def send(wire: Wire, *requests: Asked) -> None:
    """All in one piece, so that the broker receives them together."""
    wire.send(b"".join(encode_request(*each, 1, "wire") for each in requests))


@pytest.fixture
def controller(brokers: BrokerdCluster, ask: Callable[..., Any]) -> int:
    """The id of the broker that is controller."""
    return int(ask(ApiKey.METADATA, 8, {"topics": ()}).controller_id)


@pytest.fixture
def wire(brokers: BrokerdCluster, controller: int) -> Any:
    with Wire(brokers.brokers[controller - 1].port) as wire:
        yield wire


@pytest.mark.parametrize("acks", [1, -1, 0])
def test_a_fetch_behind_a_produce_that_waits_for_the_disk_finds_its_record(
    wire: Wire, led_by: Callable[..., str], controller: int, acks: int
) -> None:
    topic = led_by(f"flushed{acks}", controller)
    set_config(wire, topic, "flush.messages", "1")
    wire.ask(ApiKey.PRODUCE, 8, produce(topic, b"first"))
    for number in range(1, ROUNDS):
        read = (ApiKey.FETCH, 11, fetch(topic, number))
        send(wire, (ApiKey.PRODUCE, 8, produce(topic, b"%d" % number, acks)), read)
        if acks:
            assert offset_told(wire.answer(ApiKey.PRODUCE, 8)) == number
        (found,) = wire.answer(ApiKey.FETCH, 11).responses
        assert found.partitions[0].high_watermark == number + 1


def set_config(wire: Wire, topic: str, name: str, value: str) -> None:
    (done,) = wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, altered(topic, name, value)).responses
    assert done.error_code == 0


def altered(topic: str, name: str, value: str) -> dict[str, Any]:
    configs = [{"name": name, "config_operation": 0, "value": value}]
    resource = {"resource_type": TOPIC_TYPE, "resource_name": topic, "configs": configs}
    return {"resources": [resource], "validate_only": False}


def test_a_config_that_is_described_behind_its_change_is_the_new_one(
    wire: Wire, led_by: Callable[..., str], controller: int
) -> None:
    topic = led_by("described", controller)
    names = {"resource_type": TOPIC_TYPE, "resource_name": topic}
    asked = {"resources": [names | {"configuration_keys": ["retention.ms"]}]}
    for number in range(ROUNDS):
        change = altered(topic, "retention.ms", str(1000 + number))
        describe = ApiKey.DESCRIBE_CONFIGS, 1, asked
        send(wire, (ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, change), describe)
        assert wire.answer(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0).responses[0].error_code == 0
        (found,) = wire.answer(ApiKey.DESCRIBE_CONFIGS, 1).results
        assert [each.value for each in found.configs] == [str(1000 + number)]


def test_an_offset_that_is_fetched_behind_its_commit_is_the_one_committed(
    brokers: BrokerdCluster, led_by: Callable[..., str]
) -> None:
    topic = led_by("committed", 1)
    wanted = {"group_id": "pipelined", "topics": [{"name": topic, "partition_indexes": [0]}]}
    with Wire(brokers.brokers[0].port) as wire:
        asked = {"key": "pipelined", "key_type": 0}
        wait_until(lambda: wire.ask(ApiKey.FIND_COORDINATOR, 2, asked).error_code == 0)
        found = wire.ask(ApiKey.FIND_COORDINATOR, 2, asked)
    with Wire(found.port) as wire:
        wait_until(lambda: not wire.ask(ApiKey.OFFSET_FETCH, 5, wanted).error_code)
        for number in range(ROUNDS):
            row = {"partition_index": 0, "committed_offset": number, "committed_metadata": ""}
            commit = {
                "group_id": "pipelined", "generation_id_or_member_epoch": -1, "member_id": "",
                "topics": [{"name": topic, "partitions": [row]}],
            }  # fmt: skip
            send(wire, (ApiKey.OFFSET_COMMIT, 5, commit), (ApiKey.OFFSET_FETCH, 5, wanted))
            (done,) = wire.answer(ApiKey.OFFSET_COMMIT, 5).topics
            assert done.partitions[0].error_code == 0
            (told,) = wire.answer(ApiKey.OFFSET_FETCH, 5).topics
            assert told.partitions[0].committed_offset == number


def test_a_topic_takes_records_behind_its_creation_and_none_behind_its_deletion(
    wire: Wire, controller: int
) -> None:
    rows = [{"partition_index": 0, "broker_ids": [controller]}]
    topic = {"name": "brief", "num_partitions": -1, "replication_factor": -1, "assignments": rows}
    create = ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 10_000}
    delete = ApiKey.DELETE_TOPICS, 5, {"topic_names": ["brief"], "timeout": 10_000}
    add = ApiKey.PRODUCE, 8, produce("brief", b"value")
    look = ApiKey.METADATA, 8, {"topics": [{"name": "brief"}], "allow_auto_topic_creation": False}
    for _ in range(3):
        send(wire, create, look, add, delete, look, add)
        assert wire.answer(*create[:2]).topics[0].error_code == 0
        assert wire.answer(*look[:2]).topics[0].error_code == 0
        assert offset_told(wire.answer(*add[:2])) == 0
        assert wire.answer(*delete[:2]).responses[0].error_code == 0
        assert wire.answer(*look[:2]).topics[0].error_code == 3
        answer = wire.answer(*add[:2]).responses[0].partition_responses[0]
        assert answer.error_code == 3


@pytest.mark.parametrize("kind", ["flushed", "at once", "delayed"])
@pytest.mark.parametrize("last", ["acks=0", "unknown API", "cut request", "bad size"])
def test_what_was_asked_before_something_that_ends_the_connection_is_answered(
    brokers: BrokerdCluster,
    wire: Wire,
    led_by: Callable[..., str],
    controller: int,
    kind: str,
    last: str,
) -> None:
    topic = led_by(f"ended-{kind}-{last}".replace(" ", "").replace("=", ""), controller)
    if kind == "flushed":
        set_config(wire, topic, "flush.messages", "1")
    before: Asked = (ApiKey.PRODUCE, 8, produce(topic, b"value"))
    if kind == "delayed":
        before = (ApiKey.FETCH, 11, fetch(topic, 0) | {"max_wait": 300, "min_bytes": 1})
    bad = {
        "acks=0": encode_request(ApiKey.PRODUCE, 8, produce("nowhere", b"value", 0), 2, "wire"),
        "unknown API": b"\0\0\0\x0a\x7f\xff\0\0\0\0\0\0\0\0",
        "cut request": b"\0\0\0\x0c\0\x03\0\x08\0\0\0\0\0\0\0\xff",
        "bad size": b"\xff\xff\xff\xff",
    }[last]
    with Wire(brokers.brokers[controller - 1].port) as other:
        other.send(encode_request(*before, 1, "wire") + bad)
        answer = other.answer(*before[:2])
        if kind != "delayed":
            assert offset_told(answer) == 0
        assert other.is_closed()
