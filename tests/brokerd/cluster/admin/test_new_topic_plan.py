"""What a new or grown topic will look like, and every refusal, without ZooKeeper."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from brokerd.cluster.admin.new_topic_plan import (
    NewPartitions,
    NewTopic,
    automatic_topic,
    plan_creation,
    plan_new_partitions,
)
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.topic_names import collision_keys
from brokerd.cluster.zookeeper.zk_data import TopicNode
from brokerd.errors import ErrorCode, KafkaError

ID = UUID(int=7)
BROKERS: dict[int, str | None] = {1: None, 2: None, 3: None}
SETTINGS = ClusterSettings(
    broker_id=1,
    endpoints=(),
    zookeeper_connect="",
    session_file=Path("unused"),
    default_partitions=4,
    offsets_partitions=50,
)


def _plan(**fields: Any):
    return plan_creation(
        NewTopic(**{"name": "t", **fields}),
        topic_id=ID,
        existing=collision_keys(["there", "a.b"]),
        brokers=fields.pop("brokers", BROKERS),
        settings=SETTINGS,
        start_index=1,
        shift=0,
    )


def test_defaults_are_those_of_the_broker() -> None:
    node = _plan().node
    assert (len(node.replicas), len(node.replicas[0]), node.topic_id) == (4, 1, ID)


def test_partitions_go_round_the_brokers_from_the_start_index() -> None:
    assert _plan(partitions=4).node.replicas == {0: (2,), 1: (3,), 2: (1,), 3: (2,)}


def test_an_assignment_is_taken_as_it_is() -> None:
    assert _plan(assignment={0: (3,), 1: (3,)}).node.replicas == {0: (3,), 1: (3,)}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "a/b"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"name": "a_b"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"name": "there"}, ErrorCode.TOPIC_ALREADY_EXISTS),
        ({"partitions": 0}, ErrorCode.INVALID_PARTITIONS),
        ({"partitions": -2}, ErrorCode.INVALID_PARTITIONS),
        ({"partitions": 10_001}, ErrorCode.INVALID_PARTITIONS),
        ({"replication_factor": 0}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"replication_factor": 2}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"replication_factor": 4}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"config": {"nope": "1"}}, ErrorCode.INVALID_CONFIG),
        ({"assignment": {0: (1,)}, "partitions": 1}, ErrorCode.INVALID_REQUEST),
        ({"assignment": {0: (1, 2)}}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"assignment": {0: (9,)}}, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        ({"assignment": {1: (1,)}}, ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
    ],
)
def test_what_cannot_be_created_is_refused(fields: dict[str, Any], code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        _plan(**fields)
    assert refused.value.code is code
    assert refused.value.message


NODE = TopicNode(topic_id=ID, replicas={0: (2,), 1: (3,), 2: (1,)})


def test_a_grown_topic_goes_on_where_its_first_partition_began() -> None:
    grown = plan_new_partitions(NewPartitions(topic="t", total=6), NODE, BROKERS)
    assert grown.replicas == {**NODE.replicas, 3: (2,), 4: (3,), 5: (1,)}
    assert grown.topic_id == ID


def test_added_partitions_take_the_replicas_that_are_given() -> None:
    growth = NewPartitions(topic="t", total=5, assignment=((3,), (3,)))
    assert plan_new_partitions(growth, NODE, BROKERS).replicas == {
        **NODE.replicas,
        3: (3,),
        4: (3,),
    }


@pytest.mark.parametrize(
    ("total", "assignment", "code"),
    [
        (3, (), ErrorCode.INVALID_PARTITIONS),
        (2, (), ErrorCode.INVALID_PARTITIONS),
        (-1, (), ErrorCode.INVALID_PARTITIONS),
        (10_001, (), ErrorCode.INVALID_PARTITIONS),
        (4, (), ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        (4, ((1,), (2,)), ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        (4, ((1, 2),), ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
        (4, ((9,),), ErrorCode.INVALID_REPLICATION_ASSIGNMENT),
    ],
)
def test_what_cannot_grow_is_refused(total, assignment, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        plan_new_partitions(
            NewPartitions(topic="t", total=total, assignment=assignment), NODE, BROKERS
        )
    assert refused.value.code is code


def test_the_offsets_topic_makes_itself_compacted_and_wide() -> None:
    topic = automatic_topic("__consumer_offsets", SETTINGS)
    assert topic.partitions == 50
    assert topic.config["cleanup.policy"] == "compact"
    assert automatic_topic("other", SETTINGS) == NewTopic(name="other")


def test_a_name_is_looked_up_among_those_that_exist_and_not_searched_for() -> None:
    class Existing(dict[str, str]):
        def values(self) -> Any:
            raise AssertionError("a walk over all topics for each of thousands of new ones")

        __iter__ = items = values

    existing = Existing(collision_keys(["there", "a.b"]))
    place: dict[str, Any] = {"topic_id": ID, "brokers": BROKERS, "settings": SETTINGS,
                             "start_index": 0, "shift": 0}  # fmt: skip
    assert plan_creation(NewTopic(name="t"), existing=existing, **place).name == "t"
    for name, code in (
        ("there", ErrorCode.TOPIC_ALREADY_EXISTS),
        ("a.b", ErrorCode.TOPIC_ALREADY_EXISTS),
        ("a_b", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ):
        with pytest.raises(KafkaError) as refused:
            plan_creation(NewTopic(name=name), existing=existing, **place)
        assert refused.value.code is code
