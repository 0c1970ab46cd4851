"""Committed offsets as clients ask for them, in every version."""

import asyncio

import pytest

from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC, partition_for
from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import iter_batches, iter_records
from brokerd.server.coordinator_runtime.partition_writer import BATCH_BYTES_MAX
from tests.brokerd.server.group_broker import GroupBroker
from tests.brokerd.server.group_requests import (
    GROUP,
    ask,
    beside_another,
    commit,
    committed,
    stable_member,
)


@pytest.mark.parametrize("version", range(2, 9))
async def test_every_version_of_a_commit_is_served(broker: GroupBroker, version: int) -> None:
    assert await commit(broker, {0: 7, 1: 8}, version=version) == [0, 0]
    assert await committed(broker) == {("t", 0): 7, ("t", 1): 8}


@pytest.mark.parametrize("version", range(1, 8))
async def test_every_version_of_a_question_for_offsets_is_served(
    broker: GroupBroker, version: int
) -> None:
    await commit(broker, {0: 7})
    topics = [{"name": "t", "partition_indexes": [0, 1]}]
    reply = await ask(broker, ApiKey.OFFSET_FETCH, {"group_id": GROUP, "topics": topics}, version)
    found = [(each.committed_offset, each.metadata) for each in reply.topics[0].partitions]
    assert found == [(7, "note"), (-1, "")]


async def test_a_commit_for_an_unknown_partition_is_refused_alone(broker: GroupBroker) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await commit(broker, {0: 7, 9: 7}) == [unknown, 0], "what is unknown comes first"
    assert await commit(broker, {0: 7}, topic="nowhere") == [unknown]


async def test_a_member_of_no_generation_may_not_commit(broker: GroupBroker) -> None:
    joined = await stable_member(broker)
    mine = {"member_id": joined.member_id}
    assert await commit(broker, {0: 7}) == [ErrorCode.UNKNOWN_MEMBER_ID]
    wrong = await commit(broker, {0: 7}, generation_id_or_member_epoch=9, **mine)
    assert wrong == [ErrorCode.ILLEGAL_GENERATION]
    assert await commit(broker, {0: 7}, generation_id_or_member_epoch=1, **mine) == [0]


async def test_many_commits_at_once_are_appended_in_few_batches(broker: GroupBroker) -> None:
    outcomes = await asyncio.gather(*(commit(broker, {0: n, 1: n}) for n in range(100)))
    assert outcomes == [[0, 0]] * 100
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    assert partition.log.log_end_offset == 200
    found = partition.log.read(0, 1 << 20, up_to=200, min_one_batch=True)
    assert found is not None
    batches = list(iter_batches(memoryview(found.read())))
    found.release()
    assert len(batches) < 10
    assert sum(len(list(iter_records(header, view))) for header, view in batches) == 200


async def test_one_commit_larger_than_a_batch_is_whole(broker: GroupBroker) -> None:
    broker.create_topic("wide", 200)
    offsets = dict.fromkeys(range(200), 5)
    assert set(await commit(broker, offsets, topic="wide", metadata="x" * 4_000)) == {0}
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    assert partition.log.size_bytes > 2 * BATCH_BYTES_MAX
    await broker.restart()
    await broker.ready()
    assert len(await committed(broker)) == 200


async def test_offsets_are_removed_one_by_one_and_with_the_group(broker: GroupBroker) -> None:
    await commit(broker, {0: 7, 1: 8})
    request = {
        "group_id": GROUP,
        "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}],
    }
    reply = await ask(broker, ApiKey.OFFSET_DELETE, request)
    assert (reply.error_code, reply.topics[0].partitions[0].error_code) == (0, 0)
    assert await committed(broker) == {("t", 1): 8}
    deleted = await ask(broker, ApiKey.DELETE_GROUPS, {"groups_names": [GROUP, "nobody"]})
    errors = {each.group_id: each.error_code for each in deleted.results}
    assert errors == {GROUP: 0, "nobody": ErrorCode.GROUP_ID_NOT_FOUND}
    assert await committed(broker) == {}
    reply = await ask(broker, ApiKey.OFFSET_DELETE, request)
    assert reply.error_code == ErrorCode.GROUP_ID_NOT_FOUND


async def test_the_offsets_of_a_deleted_topic_go(broker: GroupBroker) -> None:
    broker.create_topic("gone", 1)
    await commit(broker, {0: 7})
    await commit(broker, {0: 7}, topic="gone")
    broker.apply([], [("gone", 0)])
    async with asyncio.timeout(10):
        while await committed(broker) != {("t", 0): 7}:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("version", [1, 7, 8])
async def test_many_offsets_are_told_in_order_and_others_served_meanwhile(
    broker: GroupBroker, version: int
) -> None:
    await commit(broker, {0: 7, 1: 8})
    names = [*(f"t-{number}" for number in range(3_000)), "t"]
    topics = [{"name": name, "partition_indexes": [1, 0]} for name in names]
    asked = [{"group_id": "none", "topics": topics[:2]}, {"group_id": GROUP, "topics": topics}]
    fields = asked[1] if version < 8 else {"groups": asked}
    question = ask(broker, ApiKey.OFFSET_FETCH, fields, version)
    reply, order = await beside_another(question)
    assert order == ["another", "the long one"]
    told = reply.topics if version < 8 else reply.groups[1].topics
    if version >= 8:
        assert [(each.group_id, len(each.topics)) for each in reply.groups] == [
            ("none", 2), (GROUP, 3_001),
        ]  # fmt: skip
    assert [topic.name for topic in told] == names
    offsets = {
        topic.name: [(each.partition_index, each.committed_offset) for each in topic.partitions]
        for topic in told
    }
    assert offsets.pop("t") == [(1, 8), (0, 7)]
    assert set(map(tuple, offsets.values())) == {((1, -1), (0, -1))}
