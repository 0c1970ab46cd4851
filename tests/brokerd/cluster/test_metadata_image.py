"""The image: order by znode version, topic ids, and what each change tells."""

from uuid import UUID

from brokerd.cluster.metadata_image import MetadataImage, TopicInfo
from brokerd.cluster.zookeeper.zk_data import RegisteredBroker
from brokerd.replication.partition_state import PartitionState

OLD, NEW = UUID(int=1), UUID(int=2)


def _state(
    index: int = 0, version: int = 0, topic_id: UUID = OLD, *, is_new: bool = True
) -> PartitionState:
    return PartitionState(
        topic="t",
        partition=index,
        topic_id=topic_id,
        replicas=(1,),
        leader=1,
        leader_epoch=0,
        isr=(1,),
        controller_epoch=1,
        version=version,
        is_new=is_new,
    )


def _image(*states: PartitionState, zxid: int = 10) -> MetadataImage:
    image = MetadataImage()
    image.apply_states(states, {"t": {"a": "b"}}, zxid)
    return image


def test_a_new_topic_comes_with_its_config_and_id() -> None:
    image = MetadataImage()
    delta = image.apply_states([_state(0), _state(1)], {"t": {"a": "b"}}, 10)
    assert [state.partition for state in delta.partitions] == [0, 1]
    assert (delta.topics_configs, delta.deleted) == ({"t"}, [])
    assert image.topics["t"].config == {"a": "b"}
    assert image.topic_ids == {OLD: "t"}
    assert image.names_by_id == {OLD.bytes: "t"}


def test_a_state_counts_only_with_a_higher_version() -> None:
    image = _image(_state(version=3))
    for version in (2, 3):
        assert image.apply_states([_state(version=version)], {}, 11).is_empty
    assert image.apply_states([_state(version=4, is_new=False)], {}, 12).partitions


def test_a_later_topic_of_the_same_name_takes_over() -> None:
    image = _image(_state())
    delta = image.apply_states([_state(topic_id=NEW)], {"t": {}}, 11)
    assert delta.deleted == [("t", 0)]
    assert [state.topic_id for state in delta.partitions] == [NEW]
    assert image.topic_ids == {NEW: "t"}
    assert image.names_by_id == {NEW.bytes: "t"}


def test_a_name_is_taken_while_a_topic_is_there_that_it_collides_with() -> None:
    image = MetadataImage()
    names = ["a.b", "a_b", "c.d"]  # the first two were made behind the brokers' backs
    ids = [UUID(int=10 + number) for number in range(3)]
    image.take_topics(TopicInfo(name=n, topic_id=i) for n, i in zip(names, ids, strict=True))
    assert (image.taken["a_b"], image.taken["c_d"]) == ("a_b", "c.d")
    image.remove_topics([("a_b", ids[1])])
    assert image.taken == {"a_b": "a.b", "c_d": "c.d"}
    image.remove_topics([("c.d", ids[2])])
    assert image.taken == {"a_b": "a.b"}


def test_an_earlier_topic_of_the_same_name_is_passed_over() -> None:
    image = _image(_state(topic_id=NEW), zxid=20)
    assert image.apply_states([_state(topic_id=OLD)], {}, 15).is_empty
    assert image.remove_topics([("t", OLD)]).is_empty
    assert image.topic_ids == {NEW: "t"}


def test_a_change_of_an_unknown_topic_that_is_not_new_is_passed_over() -> None:
    assert MetadataImage().apply_states([_state(version=2, is_new=False)], {}, 5).is_empty


def test_a_removed_topic_tells_each_partition() -> None:
    image = _image(_state(0), _state(1))
    assert image.remove_topics([("t", OLD), ("other", NEW)]).deleted == [("t", 0), ("t", 1)]
    assert (image.topics, image.topic_ids) == ({}, {})


def test_what_was_read_anew_replaces_what_was_known() -> None:
    image = _image(_state(0), _state(1))
    read = TopicInfo(
        name="t", topic_id=OLD, partitions={0: _state(0), 1: _state(1, 5)}, config={"a": "c"}
    )
    delta = image.take_topics([read])
    assert [(s.partition, s.version) for s in delta.partitions] == [(1, 5)]
    assert delta.topics_configs == {"t"}
    again = TopicInfo(name="t", topic_id=NEW, partitions={0: _state(topic_id=NEW)}, config={})
    delta = image.take_topics([again])
    assert delta.deleted == [("t", 0), ("t", 1)]
    assert [state.topic_id for state in delta.partitions] == [NEW]


def test_configs_brokers_and_controller_tell_only_changes() -> None:
    image = _image(_state())
    assert image.replace_config("t", {"a": "b"}).is_empty
    assert image.replace_config("unknown", {"a": "b"}).is_empty
    assert image.replace_config("t", {}).topics_configs == {"t"}
    info = RegisteredBroker(id=1, endpoints={"PLAINTEXT": ("h", 9092)}, epoch=3)
    assert image.replace_brokers({1: info}).brokers_changed
    assert image.replace_brokers({1: info}).is_empty
    assert image.endpoint(1, "PLAINTEXT") == ("h", 9092)
    assert image.endpoint(1, "OTHER") is None
    assert image.endpoint(2, "PLAINTEXT") is None
    assert image.replace_controller(1, 4).brokers_changed
    assert image.replace_controller(1, 4).is_empty
