"""AlterPartitionReassignments and ListPartitionReassignments over the wire."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey


def alter(asking, topic: str, replicas: list[int] | None, index: int = 0) -> ErrorCode:
    partition = {"partition_index": index, "replicas": replicas}
    fields = {"topics": [{"name": topic, "partitions": [partition]}], "timeout": 5000}
    answer = asking(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, fields)
    if answer.error_code:
        return ErrorCode(int(answer.error_code))
    return ErrorCode(int(answer.responses[0].partitions[0].error_code))


@pytest.mark.parametrize(
    ("replicas", "index", "code"),
    [
        ([1], 0, ErrorCode.NONE),
        (None, 0, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        ([1], 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ([], 0, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        ([1, 1], 0, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        ([-1], 0, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        ([77], 0, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        ([2], 0, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
    ],
)
def test_what_holds_already_is_accepted_and_all_else_is_refused(
    ask_controller, led_by, replicas: list[int] | None, index: int, code: ErrorCode
) -> None:
    topic = led_by(f"reassigned-{abs(hash((str(replicas), index)))}", 1)
    assert alter(ask_controller, topic, replicas, index) is code


def test_nothing_is_in_progress(ask_controller, led_by) -> None:
    topic = led_by("settled", 1)
    for topics in (None, [{"name": topic, "partition_indexes": [0, 5]}]):
        answer = ask_controller(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {"topics": topics})
        assert (answer.error_code, answer.topics) == (0, ())


def test_a_broker_that_is_not_the_controller_says_so(ask_other, led_by) -> None:
    topic = led_by("reassigned-elsewhere", 1)
    assert alter(ask_other, topic, [1]) is ErrorCode.NOT_CONTROLLER
    answer = ask_other(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {"topics": None})
    assert answer.error_code == ErrorCode.NOT_CONTROLLER
