"""ElectLeaders over the wire."""

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

PREFERRED, UNCLEAN = 0, 1


def elect(asking, election: int, *partitions: TopicPartition, version: int = 2) -> dict:
    fields = {
        "election_type": election,
        "topic_partitions": [{"topic": name, "partitions": [index]} for name, index in partitions],
        "timeout": 5000,
    }
    if version == 0:
        del fields["election_type"]
    answer = asking(ApiKey.ELECT_LEADERS, version, fields)
    return {
        (topic.topic, each.partition_id): ErrorCode(int(each.error_code))
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }


@pytest.mark.parametrize("election", [PREFERRED, UNCLEAN])
def test_a_leader_that_is_right_already_needs_no_election(
    ask_controller, led_by, election: int
) -> None:
    topic = led_by(f"elected-{election}", 1)
    found = elect(ask_controller, election, (topic, 0), (topic, 1), ("nowhere", 0))
    assert found == {
        (topic, 0): ErrorCode.ELECTION_NOT_NEEDED,
        (topic, 1): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nowhere", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_version_0_asks_for_the_preferred_leader(ask_controller, led_by) -> None:
    topic = led_by("elected-v0", 2)
    found = elect(ask_controller, PREFERRED, (topic, 0), version=0)
    assert found == {(topic, 0): ErrorCode.ELECTION_NOT_NEEDED}


def test_of_all_partitions_those_that_need_none_are_left_out(ask_controller, led_by) -> None:
    led_by("elected-all", 1)
    answer = ask_controller(ApiKey.ELECT_LEADERS, 2, {"topic_partitions": None})
    assert (answer.error_code, answer.replica_election_results) == (0, ())


def test_a_broker_that_is_not_the_controller_says_so(ask_other, led_by) -> None:
    topic = led_by("elected-elsewhere", 1)
    fields = {"topic_partitions": [{"topic": topic, "partitions": [0]}]}
    answer = ask_other(ApiKey.ELECT_LEADERS, 2, fields)
    assert answer.error_code == ErrorCode.NOT_CONTROLLER
    (row,) = answer.replica_election_results[0].partition_result
    assert row.error_code == ErrorCode.NOT_CONTROLLER


def test_a_type_that_does_not_exist_is_refused(ask_controller) -> None:
    answer = ask_controller(ApiKey.ELECT_LEADERS, 2, {"election_type": 7, "topic_partitions": None})
    assert answer.error_code == ErrorCode.INVALID_REQUEST
