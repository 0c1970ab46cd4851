"""Encoded topics are kept until what they say changes."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from brokerd.cluster.metadata_image import ImageDelta, MetadataImage, TopicInfo
from brokerd.cluster.zookeeper.zk_data import RegisteredBroker
from brokerd.errors import ErrorCode
from brokerd.protocol.messages import decode_response, encode_response, response_frame
from brokerd.replication.partition_state import PartitionState
from brokerd.server.api.metadata_topic_cache import UNCACHED_MAX, MetadataTopicCache, View

STATE = PartitionState(
    topic="t", partition=0, topic_id=UUID(int=5), replicas=(1, 2), leader=1, leader_epoch=3,
    isr=(1,), controller_epoch=1, version=4,
)  # fmt: skip


NINE = View(9)


def image() -> MetadataImage:
    found = MetadataImage()
    found.brokers[1] = RegisteredBroker(id=1, endpoints={})
    found.topics["t"] = TopicInfo(name="t", topic_id=UUID(int=5), partitions={0: STATE})
    return found


def partition(data: bytes, version: int = 9) -> object:
    frame = response_frame(3, version, 1, encode_response(3, version, {"topics": [data]}))
    return decode_response(3, version, frame[4:]).topics[0].partitions[0]


def test_a_partition_says_leader_isr_and_who_is_offline() -> None:
    known = image()
    found = partition(MetadataTopicCache(known).topic(NINE, known.topics["t"]))
    assert (found.leader_id, found.leader_epoch) == (1, 3)  # type: ignore[attr-defined]
    assert (found.isr_nodes, found.offline_replicas) == ((1,), (2,))  # type: ignore[attr-defined]


def test_a_replica_that_its_live_broker_cannot_serve_is_offline() -> None:
    known = image()
    known.brokers[2] = RegisteredBroker(id=2, endpoints={})
    cache = MetadataTopicCache(known)
    for offline, expected in (({2: frozenset({("t", 0)})}, (2,)), ({2: frozenset()}, ())):
        cache.changed(known.replace_offline(offline))
        found = partition(cache.topic(NINE, known.topics["t"]))
        assert found.offline_replicas == expected  # type: ignore[attr-defined]


def test_a_topic_is_encoded_once_until_a_state_of_it_changes() -> None:
    known = image()
    cache = MetadataTopicCache(known)
    info = known.topics["t"]
    first = cache.topic(NINE, info)
    assert cache.topic(NINE, info) is first
    newer = replace(STATE, leader_epoch=4, version=5)
    info.partitions[0] = newer
    cache.changed(ImageDelta(partitions=[newer]))
    assert partition(cache.topic(NINE, info)).leader_epoch == 4  # type: ignore[attr-defined]


def test_an_answer_is_slow_while_many_partitions_of_it_are_to_be_encoded() -> None:
    known = image()
    cache = MetadataTopicCache(known)
    assert not cache.is_slow(NINE, known.topics.values())
    many = {index: replace(STATE, partition=index) for index in range(UNCACHED_MAX)}
    known.topics["many"] = TopicInfo(name="many", topic_id=UUID(int=6), partitions=many)
    assert cache.is_slow(NINE, known.topics.values())
    assert not cache.is_slow(NINE, [known.topics["t"]])
    cache.topic(NINE, known.topics["many"])
    assert not cache.is_slow(NINE, known.topics.values())
    assert cache.is_slow(View(9, operations=True), known.topics.values())


def test_a_broker_that_goes_takes_its_leadership_along() -> None:
    known = image()
    cache = MetadataTopicCache(known)
    cache.topic(NINE, known.topics["t"])
    known.brokers.clear()
    cache.changed(ImageDelta(brokers_changed=True))
    found = partition(cache.topic(NINE, known.topics["t"]))
    assert found.leader_id == -1  # type: ignore[attr-defined]
    assert found.error_code == ErrorCode.LEADER_NOT_AVAILABLE  # type: ignore[attr-defined]


def test_a_broker_without_the_listener_is_no_leader_for_who_asks_there() -> None:
    known = image()
    known.brokers[2] = RegisteredBroker(id=2, endpoints={})
    cache = MetadataTopicCache(known)
    found: Any = partition(
        cache.topic(NINE._replace(without_listener=frozenset({1})), known.topics["t"])
    )
    assert found.error_code == ErrorCode.LISTENER_NOT_FOUND
    assert (found.leader_id, found.offline_replicas) == (-1, (1,))
    seen: Any = partition(cache.topic(NINE, known.topics["t"]))
    assert (seen.error_code, seen.leader_id) == (0, 1)
    view = View(5, without_listener=frozenset({1}))
    old: Any = partition(cache.topic(view, known.topics["t"]), view.version)
    assert (old.error_code, old.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
