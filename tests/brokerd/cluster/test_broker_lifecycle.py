"""Several brokers' clients against one real ZooKeeper: membership, topics, configs, ids."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from brokerd.cluster.admin.config_admin import sanitized, unsanitized
from brokerd.cluster.admin.new_topic_plan import NewPartitions, NewTopic, TopicPlan
from brokerd.cluster.zookeeper.zk_data import TopicNode, encode_topic, topic_id_text
from brokerd.cluster.zookeeper.zookeeper_client import ZooKeeper as ZooKeeperClient
from brokerd.errors import ErrorCode, KafkaError
from tests.brokerd.cluster.members import Member, Members
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
async def members(zookeeper: ZooKeeper, tmp_path: Path) -> AsyncIterator[Members]:
    async with Members(zookeeper, tmp_path) as cluster:
        yield cluster


async def _create(member: Member, *topics: NewTopic, **options):
    return await member.client.topics.create(topics, timeout_ms=10_000, **options)


def _code(result: object) -> ErrorCode | None:
    return result.code if isinstance(result, KafkaError) else None


def _leaders(member: Member, topic: str) -> dict[int, int]:
    return {i: s.leader for i, s in member.client.image.topics[topic].partitions.items()}


async def test_brokers_register_as_kafka_does_and_elect_one_controller(members: Members) -> None:
    started = await members.start(1, 2, 3, rack="r1")
    assert sum(member.client.is_controller for member in started) == 1
    registration = members.node("/brokers/ids/2")
    assert registration["endpoints"] == ["PLAINTEXT://127.0.0.1:9002"]
    assert (registration["version"], registration["rack"]) == (5, "r1")
    controller = members.node("/controller")["brokerid"]
    epoch = int(members.kazoo.get("/controller_epoch")[0])
    for member in started:
        image = member.client.image
        assert (image.controller_id, image.controller_epoch) == (controller, epoch)
        assert image.cluster_id == members.node("/cluster/id")["id"]
        assert image.endpoint(3, "PLAINTEXT") == ("127.0.0.1", 9003)
    for path in ("/brokers/seqid", "/config/topics", "/admin/delete_topics", "/consumers"):
        assert members.kazoo.exists(path)


async def test_a_created_topic_lies_in_zookeeper_as_kafka_writes_it(members: Members) -> None:
    started = await members.start(1, 2, 3)
    topic = NewTopic(name="t", partitions=6, config={"retention.ms": "5000"})
    result = (await _create(members.controller(), topic))["t"]
    assert isinstance(result, TopicPlan)
    node = members.node("/brokers/topics/t")
    assert node["topic_id"] == topic_id_text(result.node.topic_id)
    assert (node["version"], node["adding_replicas"], node["removing_replicas"]) == (3, {}, {})
    assert sorted(replica for (replica,) in node["partitions"].values()) == [1, 1, 2, 2, 3, 3]
    assert members.node("/config/topics/t") == {"version": 1, "config": {"retention.ms": "5000"}}
    for index in range(6):
        assert members.node(f"/brokers/topics/t/partitions/{index}/state") == {
            "version": 1,
            "leader": node["partitions"][str(index)][0],
            "leader_epoch": 0,
            "isr": node["partitions"][str(index)],
            "controller_epoch": 1,
        }
    for member in started:
        assert member.client.image.topics["t"].config == {"retention.ms": "5000"}
        told = [state for delta in member.deltas for state in delta.partitions]
        assert [state.is_new for state in told] == [True] * 6


async def test_creation_is_refused_topic_by_topic(members: Members) -> None:
    first, second = await members.start(1, 2)
    other = second if first.client.is_controller else first
    assert _code((await _create(other, NewTopic(name="t")))["t"]) is ErrorCode.NOT_CONTROLLER
    results = await _create(
        members.controller(),
        NewTopic(name="a.b"),
        NewTopic(name="a_b"),
        NewTopic(name="twice"),
        NewTopic(name="twice"),
        NewTopic(name="three", replication_factor=3),
        NewTopic(name="two", replication_factor=2),
    )
    assert {name: _code(result) for name, result in results.items()} == {
        "a.b": None,
        "a_b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "twice": ErrorCode.INVALID_REQUEST,
        "three": ErrorCode.INVALID_REPLICATION_FACTOR,
        "two": ErrorCode.INVALID_REPLICATION_FACTOR,
    }
    again = await _create(members.controller(), NewTopic(name="a.b"))
    assert _code(again["a.b"]) is ErrorCode.TOPIC_ALREADY_EXISTS


async def test_validation_alone_writes_nothing(members: Members) -> None:
    await members.start(1)
    result = await _create(members.controller(), NewTopic(name="t"), validate_only=True)
    assert isinstance(result["t"], TopicPlan)
    assert members.node("/brokers/topics/t") is None


async def test_any_broker_creates_a_topic_by_itself_and_once(members: Members) -> None:
    started = await members.start(1, 2, default_partitions=3)
    await asyncio.gather(*(m.client.topics.auto_create("t") for m in started for _ in range(5)))
    for member in started:
        await members.until(lambda m=member: len(_leaders(m, "t")) == 3)
    with pytest.raises(KafkaError) as refused:
        await started[0].client.topics.auto_create("no/topic")
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_of_names_that_collide_one_is_created_where_both_are_asked_for(
    members: Members,
) -> None:
    (only,) = await members.start(1)
    both = await asyncio.gather(
        only.client.topics.auto_create("a.b"),
        only.client.topics.auto_create("a_b"),
        return_exceptions=True,
    )
    made, refused = both
    assert made is None
    assert isinstance(refused, KafkaError)
    assert refused.code is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert set(only.client.image.topics) == {"a.b"}


async def test_the_offsets_topic_is_compacted_and_spread(members: Members) -> None:
    _, second = await members.start(1, 2)
    await second.client.topics.auto_create("__consumer_offsets")
    leaders = list(_leaders(second, "__consumer_offsets").values())
    assert (leaders.count(1), leaders.count(2)) == (25, 25)
    config = second.client.image.topics["__consumer_offsets"].config
    assert (config["cleanup.policy"], config["segment.bytes"]) == ("compact", "104857600")


async def test_a_deleted_topic_is_stopped_everywhere_and_then_gone(members: Members) -> None:
    started = await members.start(1, 2)
    await _create(members.controller(), NewTopic(name="t", partitions=4))
    controller = members.controller().client
    no_topics = ["unknown", "", ".", "..", "a/b", "a\x00b", "a" * 300]
    results = await controller.topics.delete(["t", *no_topics], timeout_ms=10_000)
    assert results["t"] is None
    for name in no_topics:
        assert _code(results[name]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for path in ("/brokers/topics/t", "/config/topics/t", "/admin/delete_topics/t"):
        assert not members.kazoo.exists(path)
    for member in started:
        deleted = [pair for delta in member.deltas for pair in delta.deleted]
        assert sorted(deleted) == [("t", 0), ("t", 1), ("t", 2), ("t", 3)]
        assert "t" not in member.client.image.topics
    first_id = next(d for d in started[0].deltas if d.partitions).partitions[0].topic_id
    again = (await _create(members.controller(), NewTopic(name="t")))["t"]
    assert isinstance(again, TopicPlan)
    assert again.node.topic_id != first_id


async def test_many_names_that_no_topic_has_are_looked_up_together(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    (only,) = await members.start(1)
    await _create(only, NewTopic(name="t"))
    node = TopicNode(topic_id=uuid4(), replicas={0: (1,)})
    members.kazoo.create("/brokers/topics/unheard-of", encode_topic(node))
    reads: list[str] = []
    exists = ZooKeeperClient.exists

    async def counted(self: ZooKeeperClient, path: str, *watch: Any) -> Any:
        reads.append(path)
        return await exists(self, path, *watch)

    monkeypatch.setattr(ZooKeeperClient, "exists", counted)
    unknown = [f"unknown-{number}" for number in range(1_000)]
    asked = [*unknown, "unheard-of", "a/b", "t"]
    results = await only.client.topics.delete(asked, timeout_ms=10_000)
    assert list(results) == asked
    assert [name for name in asked if results[name] is None] == ["unheard-of", "t"]
    refused = {_code(error) for error in results.values() if error}
    assert refused == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert not [path for path in reads if "unknown" in path]


async def test_a_deletion_waits_for_the_broker_that_is_away_but_who_asked_does_not(
    members: Members,
) -> None:
    first, second = await members.start(1, 2)
    await _create(first, NewTopic(name="t", partitions=2))
    await members.stop(second)
    results = await first.client.topics.delete(["t"], timeout_ms=20_000)
    assert results == {"t": None}
    assert "t" not in first.client.image.topics
    assert members.kazoo.exists("/brokers/topics/t")
    again = await _create(first, NewTopic(name="t"))
    assert _code(again["t"]) is ErrorCode.TOPIC_ALREADY_EXISTS
    (back,) = await members.start(2)
    await members.until(lambda: members.kazoo.exists("/brokers/topics/t") is None)
    assert "t" not in back.client.image.topics


async def test_deletion_can_be_switched_off(members: Members) -> None:
    (only,) = await members.start(1, delete_topics=False)
    await _create(only, NewTopic(name="t"))
    results = await only.client.topics.delete(["t"], timeout_ms=1_000)
    assert _code(results["t"]) is ErrorCode.TOPIC_DELETION_DISABLED
    members.kazoo.create("/admin/delete_topics/t")
    await members.until(lambda: members.kazoo.exists("/admin/delete_topics/t") is None)
    assert members.kazoo.exists("/brokers/topics/t")
    assert not [pair for delta in only.deltas for pair in delta.deleted]


async def test_a_mark_that_was_set_while_no_broker_was_there_deletes_nothing_if_none_may_be(
    members: Members,
) -> None:
    (only,) = await members.start(1)
    await _create(only, NewTopic(name="t", partitions=2))
    await members.stop(only)
    members.kazoo.create("/admin/delete_topics/t")
    (back,) = await members.start(1, delete_topics=False)
    await members.until(lambda: members.kazoo.exists("/admin/delete_topics/t") is None)
    assert len(_leaders(back, "t")) == 2
    assert members.kazoo.exists("/brokers/topics/t")
    assert not [pair for delta in back.deltas for pair in delta.deleted]


async def test_a_deletion_that_was_begun_is_finished_though_none_may_begin_now(
    members: Members,
) -> None:
    first, second = await members.start(1, 2)
    await _create(first, NewTopic(name="t", partitions=2))
    await members.stop(second)
    await first.client.topics.delete(["t"], timeout_ms=200)
    await members.stop(first)
    back = await members.start(1, 2, delete_topics=False)
    await members.until(lambda: members.kazoo.exists("/brokers/topics/t") is None)
    assert members.kazoo.exists("/admin/delete_topics/t") is None
    assert all("t" not in each.client.image.topics for each in back)


async def test_a_topic_grows(members: Members) -> None:
    started = await members.start(1, 2)
    await _create(members.controller(), NewTopic(name="t", partitions=2))
    controller = members.controller().client
    grown = [NewPartitions(topic="t", total=5)]
    validated = await controller.topics.grow(grown, timeout_ms=10_000, validate_only=True)
    assert validated == {"t": None}
    assert len(members.node("/brokers/topics/t")["partitions"]) == 2
    assert await controller.topics.grow(grown, timeout_ms=10_000) == {"t": None}
    for member in started:
        assert sorted(_leaders(member, "t")) == [0, 1, 2, 3, 4]
    results = await controller.topics.grow(
        [NewPartitions(topic="t", total=5), NewPartitions(topic="no", total=5)], timeout_ms=1_000
    )
    assert _code(results["t"]) is ErrorCode.INVALID_PARTITIONS
    assert _code(results["no"]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_config_change_reaches_every_broker_and_none_is_lost(members: Members) -> None:
    started = await members.start(1, 2)
    await _create(members.controller(), NewTopic(name="t"))

    def change(member: Member, name: str, value: str) -> Awaitable[None]:
        return member.client.configs.alter(
            "topics/t", lambda held: {**held, name: value}, validate_only=False
        )

    await asyncio.gather(
        change(started[0], "retention.ms", "5"),
        change(started[1], "flush.ms", "7"),
        change(started[1], "max.message.bytes", "9"),
    )
    wanted = {"retention.ms": "5", "flush.ms": "7", "max.message.bytes": "9"}
    assert members.node("/config/topics/t")["config"] == wanted
    for member in started:
        await members.until(lambda m=member: m.client.image.topics["t"].config == wanted)
        assert any(delta.topics_configs == {"t"} for delta in member.deltas)
    (first_change, *_) = sorted(members.kazoo.get_children("/config/changes"))
    assert members.node(f"/config/changes/{first_change}")["entity_path"] == "topics/t"


async def test_settings_of_brokers_reach_those_they_are_for(members: Members) -> None:
    one, two = await members.start(1, 2)
    for entity, value in (("brokers/<default>", "5"), ("brokers/2", "6")):
        await one.client.configs.alter(
            entity, lambda _, value=value: {"log.retention.ms": value}, validate_only=False
        )
    own = {"log.retention.ms": "6"}
    await members.until(lambda: two.client.image.broker_configs["2"] == own)
    assert one.client.image.broker_configs == {"1": {}, "<default>": {"log.retention.ms": "5"}}
    assert any(delta.broker_configs for delta in two.deltas)
    (late,) = await members.start(3)
    assert late.client.image.broker_configs["<default>"] == {"log.retention.ms": "5"}


async def test_what_is_only_validated_or_refused_is_not_written(members: Members) -> None:
    (one,) = await members.start(1)
    await one.client.configs.alter("users/ada", lambda _: {"a": "1"}, validate_only=True)

    def refuse(held: object) -> dict[str, str]:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "no")

    with pytest.raises(KafkaError, match="no"):
        await one.client.configs.alter("users/ada", refuse, validate_only=False)
    assert members.kazoo.get_children("/config/users") == []
    assert members.kazoo.get_children("/config/changes") == []


async def test_a_config_that_zookeeper_would_not_take_is_refused(members: Members) -> None:
    (one,) = await members.start(1)
    with pytest.raises(KafkaError, match="524288 bytes"):
        await one.client.configs.alter(
            "brokers/1", lambda _: {"a": "x" * 2_000_000}, validate_only=False
        )
    assert members.kazoo.get_children("/config/brokers") == []


async def test_an_empty_config_of_a_user_goes_once_it_has_no_clients(members: Members) -> None:
    (one,) = await members.start(1)

    async def write(entity: str, config: dict[str, str]) -> None:
        await one.client.configs.alter(entity, lambda _: config, validate_only=False)

    await write("users/ada", {"a": "1"})
    await write("users/ada/clients/x%20y", {"b": "2"})
    assert await one.client.configs.read_all("users") == {
        "users/ada": {"a": "1"},
        "users/ada/clients/x%20y": {"b": "2"},
    }
    await write("users/ada", {})
    await write("users/ada/clients/x%20y", {})
    await write("users/ada/clients/x%20y", {})
    assert members.kazoo.get_children("/config/users/ada/clients") == []
    await write("brokers/1", {})
    assert members.node("/config/brokers/1") == {"version": 1, "config": {}}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.b", "a.b"),
        ("..", "%2E%2E"),
        ("x y", "x%20y"),
        ("a/b*~", "a%2Fb%2A%7E"),
        ("ä+", "%C3%A4%2B"),
    ],
)
def test_names_are_written_into_paths_as_kafka_writes_them(name: str, part: str) -> None:
    assert sanitized(name) == part
    assert unsanitized(part) == name


async def test_producer_ids_are_never_given_out_twice(members: Members) -> None:
    started = await members.start(1, 2)
    blocks = await asyncio.gather(
        *(member.client.next_producer_id_block() for member in started for _ in range(5))
    )
    assert sorted(blocks) == [(first, first + 999) for first in range(0, 10_000, 1_000)]
    assert members.node("/latest_producer_id_block")["block_end"] == "9999"
