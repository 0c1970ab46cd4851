"""DescribeConfigs, IncrementalAlterConfigs and AlterConfigs over the wire."""

import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api.configs import ConfigHandlers

TOPIC, BROKER, GROUP = 2, 4, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture
def topic(admin: AdminClient) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    for future in admin.create_topics([NewTopic(name, 1, 1)]).values():
        future.result(timeout=10)
    return name


def _resource(kind: int, name: str, keys: list[str] | None = None) -> dict:
    return {"resource_type": kind, "resource_name": name, "configuration_keys": keys}


def _describe(ask, *resources: dict, version: int = 4, **fields):
    request = {"resources": list(resources), **fields}
    return ask(ApiKey.DESCRIBE_CONFIGS, version, request).results


def _held(ask, topic: str) -> dict[str, tuple[str, int]]:
    (result,) = _describe(ask, _resource(TOPIC, topic))
    return {config.name: (config.value, config.config_source) for config in result.configs}


def _alter(ask, topic: str, *changes: tuple[str, int, str | None], validate_only: bool = False):
    configs = [
        {"name": name, "config_operation": operation, "value": value}
        for name, operation, value in changes
    ]
    resource = {"resource_type": TOPIC, "resource_name": topic, "configs": configs}
    request = {"resources": [resource], "validate_only": validate_only}
    (answer,) = ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request).responses
    return answer


def test_a_topic_is_described_with_sources_synonyms_types_and_words(ask, topic: str) -> None:
    _alter(ask, topic, ("retention.ms", SET, "5000"))
    (result,) = _describe(
        ask, _resource(TOPIC, topic), include_synonyms=True, include_documentation=True
    )
    assert result.error_code == 0
    configs = {config.name: config for config in result.configs}
    retention = configs["retention.ms"]
    assert (retention.value, retention.config_source, retention.config_type) == ("5000", 1, 5)
    assert [(s.name, s.value, s.source) for s in retention.synonyms] == [
        ("retention.ms", "5000", 1),
    ]
    codec = configs["compression.type"]
    assert [(s.name, s.value, s.source) for s in codec.synonyms] == [
        ("compression.type", "producer", 5)
    ]
    assert "How old" in retention.documentation
    assert not retention.read_only
    assert (configs["cleanup.policy"].value, configs["cleanup.policy"].config_type) == ("delete", 7)
    assert configs["segment.bytes"].config_source == 5


def test_a_broker_setting_is_what_topics_without_their_own_have(ask, topic: str) -> None:
    assert _held(ask, topic)["retention.ms"] == ("7200000", 5)


def test_only_the_settings_asked_for_are_told(ask, topic: str) -> None:
    (result,) = _describe(ask, _resource(TOPIC, topic, ["retention.ms", "none"]), version=1)
    assert [config.name for config in result.configs] == ["retention.ms"]
    assert result.configs[0].synonyms == ()


def test_a_broker_describes_itself_and_no_other(ask) -> None:
    own, other, default = _describe(
        ask, _resource(BROKER, "1"), _resource(BROKER, "2"), _resource(BROKER, "")
    )
    configs = {config.name: config for config in own.configs}
    assert (configs["num.partitions"].value, configs["num.partitions"].config_source) == ("3", 4)
    assert configs["broker.id"].value == "1"
    assert configs["num.partitions"].read_only
    assert not configs["log.retention.ms"].read_only
    assert (other.error_code, other.configs) == (ErrorCode.INVALID_REQUEST, ())
    assert (default.error_code, default.configs) == (0, ())


def test_unknown_resources_are_answered_one_by_one(ask, topic: str) -> None:
    results = _describe(
        ask,
        _resource(GROUP, "g"),
        _resource(TOPIC, "never-made"),
        _resource(TOPIC, "no/topic"),
        _resource(TOPIC, topic),
    )
    assert [result.error_code for result in results] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        0,
    ]


def test_the_four_operations_change_a_topic(ask, topic: str) -> None:
    assert _alter(ask, topic, ("cleanup.policy", APPEND, "compact")).error_code == 0
    assert _held(ask, topic)["cleanup.policy"] == ("delete,compact", 1)
    changes = (("cleanup.policy", SUBTRACT, "delete"), ("flush.ms", SET, "9"))
    assert _alter(ask, topic, *changes).error_code == 0
    assert _held(ask, topic)["cleanup.policy"] == ("compact", 1)
    assert _alter(ask, topic, ("flush.ms", DELETE, None)).error_code == 0
    assert _held(ask, topic)["flush.ms"][1] == 5


def test_a_refused_change_changes_nothing(ask, topic: str) -> None:
    before = _held(ask, topic)
    refused = _alter(ask, topic, ("flush.ms", SET, "9"), ("retention.ms", SET, "soon"))
    assert refused.error_code == ErrorCode.INVALID_CONFIG
    assert "retention.ms" in refused.error_message
    assert _alter(ask, topic, ("flush.ms", 9, "9")).error_code == ErrorCode.INVALID_REQUEST
    assert _alter(ask, topic, ("flush.ms", SET, "9"), validate_only=True).error_code == 0
    assert _held(ask, topic) == before


def test_a_whole_config_is_replaced(ask, topic: str) -> None:
    _alter(ask, topic, ("flush.ms", SET, "9"))

    def replace(*configs: tuple[str, str | None]):
        resource = {
            "resource_type": TOPIC,
            "resource_name": topic,
            "configs": [{"name": name, "value": value} for name, value in configs],
        }
        (answer,) = ask(ApiKey.ALTER_CONFIGS, 2, {"resources": [resource]}).responses
        return answer.error_code

    assert replace(("retention.ms", "7"), ("message.format.version", "2.8-IV1")) == 0
    held = _held(ask, topic)
    assert (held["retention.ms"], held["flush.ms"][1]) == (("7", 1), 5)
    assert replace(("retention.ms", None)) == ErrorCode.INVALID_REQUEST


def test_what_cannot_be_changed_is_refused_one_by_one(ask, topic: str) -> None:
    config = [{"name": "num.partitions", "config_operation": SET, "value": "1"}]
    resources = [
        {"resource_type": BROKER, "resource_name": "1", "configs": config},
        {"resource_type": GROUP, "resource_name": "g", "configs": config},
        {"resource_type": TOPIC, "resource_name": "never-made", "configs": []},
        {"resource_type": TOPIC, "resource_name": topic, "configs": []},
        {"resource_type": TOPIC, "resource_name": topic, "configs": []},
    ]
    answers = ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, {"resources": resources}).responses
    assert [answer.error_code for answer in answers] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_REQUEST,
    ]
    assert "dynamically" in answers[0].error_message


async def test_each_resource_is_encoded_when_it_is_described_so_that_none_are_left_for_one_turn(
) -> None:  # fmt: skip
    resources = [SimpleNamespace(**_resource(kind, "x")) for kind in (TOPIC, GROUP, 99)]
    request = SimpleNamespace(resources=resources, include_synonyms=True)
    nothing: Any = None
    settings: Any = SimpleNamespace(now=None)
    handlers = ConfigHandlers(MetadataImage(), nothing, settings)
    context: Any = SimpleNamespace(api_key=ApiKey.DESCRIBE_CONFIGS, api_version=4)
    answer = await handlers.describe_configs(context, request)
    assert [type(each) for each in answer["results"]] == [bytes] * 3
    body = encode_response(ApiKey.DESCRIBE_CONFIGS, 4, answer)
    told = decode_response(ApiKey.DESCRIBE_CONFIGS, 4, bytes(5) + body).results
    assert [(each.resource_type, int(each.error_code)) for each in told] == [
        (TOPIC, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (GROUP, ErrorCode.INVALID_REQUEST),
        (99, ErrorCode.INVALID_REQUEST),
    ]  # fmt: skip
