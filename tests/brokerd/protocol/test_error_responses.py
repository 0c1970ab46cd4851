"""Where each API says its error."""

from typing import Any

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from brokerd.protocol.error_responses import error_fields

ERROR = KafkaError(ErrorCode.NOT_CONTROLLER, "ask the controller")


def answered(key: ApiKey, version: int, request: dict[str, Any]) -> Any:
    """The decoded error response to a request."""
    frame = messages.encode_request(key, version, request, 1, None)
    flexible = messages.request_type(key, version).__flexible__  # type: ignore[union-attr]
    decoded = messages.decode_request(key, version, frame[14 + flexible :])
    body = messages.encode_response(key, version, error_fields(key, version, decoded, ERROR))
    return messages.decode_response(
        key, version, messages.response_frame(key, version, 1, body)[4:]
    )


def test_each_topic_of_a_create_topics_gets_the_error() -> None:
    topics = [{"name": "a", "num_partitions": 1}, {"name": "b", "num_partitions": 2}]
    answer = answered(ApiKey.CREATE_TOPICS, 7, {"topics": topics})
    assert [(each.name, each.error_code, each.error_message) for each in answer.topics] == [
        ("a", 41, "ask the controller"),
        ("b", 41, "ask the controller"),
    ]


def test_each_topic_of_a_metadata_gets_the_error_and_no_brokers_are_made_up() -> None:
    answer = answered(ApiKey.METADATA, 9, {"topics": [{"name": "a"}]})
    assert [(each.name, each.error_code) for each in answer.topics] == [("a", 41)]
    assert answer.brokers == ()


@pytest.mark.parametrize("version", [1, 5])
def test_each_name_of_a_delete_topics_gets_the_error(version: int) -> None:
    answer = answered(ApiKey.DELETE_TOPICS, version, {"topic_names": ["a", "b"]})
    assert [(each.name, each.error_code) for each in answer.responses] == [("a", 41), ("b", 41)]


def test_each_partition_of_a_list_offsets_gets_the_error() -> None:
    topics = [{"name": "a", "partitions": [{"partition_index": 3, "timestamp": -1}]}]
    answer = answered(ApiKey.LIST_OFFSETS, 5, {"topics": topics})
    (partition,) = answer.topics[0].partitions
    assert (answer.topics[0].name, partition.partition_index, partition.error_code) == ("a", 3, 41)


def test_each_partition_of_a_fetch_and_of_a_produce_gets_the_error() -> None:
    topics = [{"topic": "a", "partitions": [{"partition": 3}]}]
    answer = answered(ApiKey.FETCH, 11, {"topics": topics})
    (partition,) = answer.responses[0].partitions
    assert (answer.responses[0].topic, partition.partition_index) == ("a", 3)
    assert partition.error_code == 41
    topics = [{"name": "a", "partition_data": [{"index": 3, "records": b""}]}]
    answer = answered(ApiKey.PRODUCE, 9, {"topic_data": topics})
    (partition,) = answer.responses[0].partition_responses
    assert (answer.responses[0].name, partition.index, partition.error_code) == ("a", 3, 41)


def test_each_resource_of_a_describe_configs_gets_the_error() -> None:
    resources = [{"resource_type": 2, "resource_name": "a"}]
    (result,) = answered(ApiKey.DESCRIBE_CONFIGS, 4, {"resources": resources}).results
    assert (result.resource_type, result.resource_name, result.error_code) == (2, "a", 41)


def test_each_group_of_a_delete_groups_and_describe_groups_gets_the_error() -> None:
    (result,) = answered(ApiKey.DELETE_GROUPS, 2, {"groups_names": ["g"]}).results
    assert (result.group_id, result.error_code) == ("g", 41)
    (group,) = answered(ApiKey.DESCRIBE_GROUPS, 5, {"groups": ["g"]}).groups
    assert (group.group_id, group.error_code) == ("g", 41)


def test_a_single_code_is_set_at_the_top_even_if_the_request_did_not_parse() -> None:
    assert error_fields(ApiKey.HEARTBEAT, 4, None, ERROR)["error_code"] == 41


@pytest.mark.parametrize(("key", "version"), [(key, high) for key, (_, high) in ADVERTISED.items()])
def test_an_error_can_be_encoded_for_every_api(key: ApiKey, version: int) -> None:
    messages.encode_response(key, version, error_fields(key, version, None, ERROR))


def test_an_unknown_api_has_no_error_fields() -> None:
    assert error_fields(4711, 0, None, ERROR) == {}
