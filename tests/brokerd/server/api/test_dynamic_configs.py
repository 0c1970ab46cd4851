"""Settings of brokers changed while they run: they hold at once, and after a restart."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
SET, DELETE, APPEND = 0, 1, 2
DEADLINE_S = 20
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def _settings_of_the_file(ask: Ask) -> Iterator[None]:
    yield
    for name, broker in (("", 0), ("1", 0), ("2", 1)):
        resource = {"resource_type": BROKER, "resource_name": name, "configs": []}
        ask(ApiKey.ALTER_CONFIGS, 2, {"resources": [resource]}, broker=broker)


@pytest.fixture
def topic(admin: AdminClient) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    for future in admin.create_topics([NewTopic(name, 1, 1)]).values():
        future.result(timeout=10)
    return name


def change(kind: int, name: str, *configs: tuple[str, int, str | None]) -> dict[str, Any]:
    rows = [{"name": key, "config_operation": how, "value": value} for key, how, value in configs]
    resource = {"resource_type": kind, "resource_name": name, "configs": rows}
    return {"resources": [resource], "validate_only": False}


def alter(ask: Ask, name: str, *configs: tuple[str, int, str | None], **where: int) -> None:
    fields = change(BROKER, name, *configs)
    (answer,) = ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, fields, **where).responses
    assert answer.error_code == 0, answer.error_message


def told(ask: Ask, kind: int, name: str, key: str, broker: int = 0) -> tuple[str | None, int]:
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": [key]}
    fields = {"resources": [resource], "include_synonyms": True}
    (result,) = ask(ApiKey.DESCRIBE_CONFIGS, 4, fields, broker=broker).results
    (config,) = result.configs
    return config.value, config.config_source


until = partial(wait_until, deadline_s=DEADLINE_S)


def test_topics_follow_the_default_of_all_brokers_and_a_broker_its_own(
    ask: Ask, topic: str
) -> None:
    alter(ask, "", ("log.retention.ms", SET, "5000000"))
    assert told(ask, TOPIC, topic, "retention.ms") == ("5000000", 3)
    until(lambda: told(ask, TOPIC, topic, "retention.ms", broker=1) == ("5000000", 3))
    alter(ask, "1", ("log.retention.ms", SET, "6000000"))
    assert told(ask, TOPIC, topic, "retention.ms") == ("6000000", 2)
    assert told(ask, BROKER, "1", "log.retention.ms") == ("6000000", 2)
    alter(ask, "1", ("log.retention.ms", DELETE, None))
    alter(ask, "", ("log.retention.ms", DELETE, None))
    assert told(ask, TOPIC, topic, "retention.ms") == ("7200000", 5)


def test_a_change_that_is_only_tried_changes_nothing(ask: Ask, topic: str) -> None:
    fields = change(BROKER, "", ("log.retention.ms", SET, "5")) | {"validate_only": True}
    (answer,) = ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, fields).responses
    assert answer.error_code == 0
    assert told(ask, TOPIC, topic, "retention.ms")[0] == "7200000"


def test_the_largest_message_is_another_from_the_next_one_on(
    ask: Ask, topic: str, brokers: BrokerdCluster
) -> None:
    with Wire(brokers.brokers[0].port) as wire:
        known = wire.ask(ApiKey.METADATA, 8, {"topics": [{"name": topic}]})
    leader = known.topics[0].partitions[0].leader_id - 1
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, b"k", bytes(2000))]))
    rows = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    asked = {"acks": 1, "timeout": 5000, "topic_data": rows}

    def code() -> int:
        answer = ask(ApiKey.PRODUCE, 8, asked, broker=leader)
        return int(answer.responses[0].partition_responses[0].error_code)

    assert code() == 0
    name = str(leader + 1)
    alter(ask, name, ("message.max.bytes", SET, "1000"), broker=leader)
    assert code() == ErrorCode.MESSAGE_TOO_LARGE
    alter(ask, name, ("message.max.bytes", DELETE, None), broker=leader)
    assert code() == 0


def test_connections_above_the_limit_wait_from_now_on(ask: Ask, brokers: BrokerdCluster) -> None:
    port = brokers.brokers[1].port
    with Wire(port) as wire:
        limit = change(BROKER, "2", ("max.connections", SET, "1"))
        wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, limit)
        with Wire(port) as waiting:
            waiting.request(ApiKey.API_VERSIONS, 0, {})
            assert waiting.hears_nothing()
            wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1,
                     change(BROKER, "2", ("max.connections", DELETE, None)))  # fmt: skip
            assert waiting.answer(ApiKey.API_VERSIONS, 0).error_code == 0


def test_what_was_set_holds_after_a_restart(ask: Ask, topic: str, brokers: BrokerdCluster) -> None:
    alter(ask, "2", ("log.segment.bytes", SET, "777777"), broker=1)
    alter(ask, "", ("log.cleanup.policy", APPEND, "compact"), broker=1)
    brokers.brokers[1].stop()
    brokers.brokers[1].start()
    assert told(ask, BROKER, "2", "log.segment.bytes", broker=1) == ("777777", 2)
    assert told(ask, TOPIC, topic, "segment.bytes", broker=1) == ("777777", 2)
    assert told(ask, TOPIC, topic, "cleanup.policy", broker=1) == ("delete,compact", 3)


def test_a_broker_is_changed_by_itself_and_all_of_them_by_any(ask: Ask) -> None:
    for name in ("2", "x"):
        fields = change(BROKER, name, ("log.retention.ms", SET, "1"))
        (answer,) = ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, fields).responses
        assert answer.error_code == ErrorCode.INVALID_REQUEST


def test_levels_of_loggers_are_told_and_changed(ask: Ask) -> None:
    name = "brokerd.server.network.socket_server"

    def level(how: int, value: str | None, logger: str = name) -> int:
        fields = change(BROKER_LOGGER, "1", (logger, how, value))
        return int(ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, fields).responses[0].error_code)

    assert told(ask, BROKER_LOGGER, "1", name) == ("INFO", 6)
    assert level(SET, "ERROR") == 0
    assert told(ask, BROKER_LOGGER, "1", name) == ("ERROR", 6)
    assert level(DELETE, None) == 0
    assert told(ask, BROKER_LOGGER, "1", name) == ("INFO", 6)
    for how, value, logger, code in (
        (SET, "LOUD", name, ErrorCode.INVALID_CONFIG),
        (SET, "INFO", "no.such", ErrorCode.INVALID_CONFIG),
        (APPEND, "INFO", name, ErrorCode.INVALID_REQUEST),
        (DELETE, None, "root", ErrorCode.INVALID_REQUEST),
        (SET, None, name, ErrorCode.INVALID_REQUEST),
    ):
        assert level(how, value, logger) == code
    resource = {"resource_type": BROKER_LOGGER, "resource_name": "1", "configs": []}
    (answer,) = ask(ApiKey.ALTER_CONFIGS, 2, {"resources": [resource]}).responses
    assert answer.error_code == ErrorCode.INVALID_REQUEST
