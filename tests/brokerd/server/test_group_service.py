"""The group service over real logs, asked through its handlers and the protocol's codecs."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.groups.partitioner import OFFSETS_TOPIC, partition_for
from brokerd.log.log_config import LogConfig
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_type,
    response_is_flexible,
)
from brokerd.protocol.records import iter_batches, iter_records
from brokerd.protocol.versions import ADVERTISED
from brokerd.server.broker import Broker
from brokerd.server.group_writes import BATCH_BYTES_MAX
from brokerd.server.handlers import group_offsets, groups
from tests.brokerd.server.group_broker import LISTENER, GroupBroker, context

GROUP = "readers"
HANDLERS = groups.HANDLERS | group_offsets.HANDLERS
NO_DELAY = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1"}
SUBSCRIPTION = b"\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x00"


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[GroupBroker]:
    one = await GroupBroker(tmp_path, **NO_DELAY).with_offsets_topic()
    one.create_topic("t", 2)
    yield one
    await one.stop()


async def ask(
    broker: GroupBroker,
    api_key: ApiKey,
    fields: dict[str, Any],
    version: int | None = None,
    listener: str = LISTENER,
) -> Any:
    """A request through the codecs and the handler, as a client's would go."""
    version = ADVERTISED[api_key][1] if version is None else version
    frame = encode_request(api_key, version, fields, 1, "client")
    head = 4 + 2 + 2 + 4 + 2 + len("client")
    head += request_type(api_key, version).__flexible__  # type: ignore[union-attr]
    request = decode_request(api_key, version, memoryview(frame)[head:])
    answer = HANDLERS[api_key](cast(Broker, broker), context(api_key, version, listener), request)
    reply = answer if isinstance(answer, dict) else await answer
    body = encode_response(api_key, version, reply)
    header = bytes(4 + response_is_flexible(api_key, version))
    return decode_response(api_key, version, header + body)


async def join(broker: GroupBroker, member_id: str = "", **fields: Any) -> Any:
    request = {
        "group_id": GROUP,
        "session_timeout": 10_000,
        "rebalance_timeout": 60_000,
        "member_id": member_id,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    }
    reply = await ask(broker, ApiKey.JOIN_GROUP, request | fields)
    if reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        return await join(broker, reply.member_id, **fields)
    return reply


async def stable_member(broker: GroupBroker) -> Any:
    joined = await join(broker)
    synced = await sync(broker, joined, b"all")
    assert (synced.error_code, synced.assignment) == (0, b"all")
    return joined


async def sync(broker: GroupBroker, joined: Any, assignment: bytes | None = None) -> Any:
    assignments = [{"member_id": joined.member_id, "assignment": assignment}]
    request = {
        "group_id": GROUP,
        "generation_id": joined.generation_id,
        "member_id": joined.member_id,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [] if assignment is None else assignments,
    }
    return await ask(broker, ApiKey.SYNC_GROUP, request)


async def heartbeat(broker: GroupBroker, joined: Any) -> int:
    request = {
        "group_id": GROUP,
        "generation_id": joined.generation_id,
        "member_id": joined.member_id,
    }
    return int((await ask(broker, ApiKey.HEARTBEAT, request)).error_code)


async def commit(
    broker: GroupBroker, offsets: dict[int, int], topic: str = "t", **fields: Any
) -> list[int]:
    version, metadata = fields.pop("version", None), fields.pop("metadata", "note")
    partitions = [
        {"partition_index": index, "committed_offset": offset, "committed_metadata": metadata}
        for index, offset in offsets.items()
    ]
    request = {
        "group_id": GROUP,
        "generation_id_or_member_epoch": -1,
        "topics": [{"name": topic, "partitions": partitions}],
    }
    reply = await ask(broker, ApiKey.OFFSET_COMMIT, request | fields, version)
    return [int(each.error_code) for each in reply.topics[0].partitions]


async def committed(broker: GroupBroker, group_id: str = GROUP) -> dict[tuple[str, int], int]:
    request = {"groups": [{"group_id": group_id, "topics": None}], "require_stable": True}
    group = (await ask(broker, ApiKey.OFFSET_FETCH, request)).groups[0]
    if group.error_code:
        raise KafkaError(ErrorCode(int(group.error_code)))
    return {
        (topic.name, each.partition_index): each.committed_offset
        for topic in group.topics
        for each in topic.partitions
    }


async def state_of(broker: GroupBroker, group_id: str = GROUP) -> str:
    reply = await ask(broker, ApiKey.DESCRIBE_GROUPS, {"groups": [group_id]})
    return str(reply.groups[0].group_state)


# Where a group is


async def test_the_first_question_for_a_coordinator_creates_the_topic(tmp_path: Path) -> None:
    broker = GroupBroker(tmp_path)
    request = {"key_type": 0, "coordinator_keys": [GROUP, "other"]}
    replies = await asyncio.gather(
        *(ask(broker, ApiKey.FIND_COORDINATOR, request) for _ in range(3))
    )
    assert broker.cluster.created == [OFFSETS_TOPIC]
    found = {(c.key, c.error_code, c.host, c.port) for r in replies for c in r.coordinators}
    assert found == {(GROUP, 0, "127.0.0.1", 9092), ("other", 0, "127.0.0.1", 9092)}
    await broker.stop()


@pytest.mark.parametrize("version", range(4))
async def test_a_single_question_for_a_coordinator_is_answered(
    broker: GroupBroker, version: int
) -> None:
    fields = {"key": GROUP} | ({"key_type": 0} if version else {})
    reply = await ask(broker, ApiKey.FIND_COORDINATOR, fields, version, "OUTSIDE")
    assert (reply.error_code, reply.node_id, reply.host, reply.port) == (0, 1, "example", 19092)


async def test_there_is_no_coordinator_for_transactions_or_without_a_name(
    broker: GroupBroker,
) -> None:
    request = {"key_type": 1, "coordinator_keys": ["transactions"]}
    found = (await ask(broker, ApiKey.FIND_COORDINATOR, request)).coordinators[0]
    assert found.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert "no transactions" in found.error_message
    request = {"key_type": 0, "coordinator_keys": [""]}
    found = (await ask(broker, ApiKey.FIND_COORDINATOR, request)).coordinators[0]
    assert found.error_code == ErrorCode.INVALID_GROUP_ID


async def test_a_topic_that_cannot_be_created_is_said_to_come(tmp_path: Path) -> None:
    broker = GroupBroker(tmp_path)
    broker.cluster.refusal = KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "too few brokers")
    reply = await ask(broker, ApiKey.FIND_COORDINATOR, {"key": GROUP}, 2)
    assert reply.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    await broker.stop()


# Members


async def test_a_member_joins_syncs_beats_and_leaves(broker: GroupBroker) -> None:
    joined = await stable_member(broker)
    assert joined.leader == joined.member_id
    assert joined.member_id.startswith("client-")
    assert joined.members[0].metadata == SUBSCRIPTION
    assert await heartbeat(broker, joined) == 0
    described = (await ask(broker, ApiKey.DESCRIBE_GROUPS, {"groups": [GROUP]})).groups[0]
    assert (described.group_state, described.protocol_data) == ("Stable", "range")
    assert described.members[0].client_host == "/127.0.0.1"
    assert described.members[0].member_assignment == b"all"
    request = {"group_id": GROUP, "members": [{"member_id": joined.member_id}]}
    left = await ask(broker, ApiKey.LEAVE_GROUP, request)
    assert (left.error_code, left.members[0].error_code) == (0, 0)
    assert await state_of(broker) == "Empty"


@pytest.mark.parametrize("version", range(10))
async def test_every_version_of_a_join_is_served(broker: GroupBroker, version: int) -> None:
    fields: dict[str, Any] = {
        "group_id": GROUP,
        "session_timeout": 10_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    if version:
        fields["rebalance_timeout"] = 60_000
    reply = await ask(broker, ApiKey.JOIN_GROUP, fields, version)
    needed = ErrorCode.MEMBER_ID_REQUIRED if version >= 4 else ErrorCode.NONE
    assert reply.error_code == needed
    reply = await ask(broker, ApiKey.JOIN_GROUP, fields | {"member_id": reply.member_id}, version)
    assert (reply.error_code, reply.protocol_name) == (0, "range")


@pytest.mark.parametrize("version", range(3))
async def test_an_older_leave_names_one_member(broker: GroupBroker, version: int) -> None:
    joined = await stable_member(broker)
    request = {"group_id": GROUP, "member_id": joined.member_id}
    assert (await ask(broker, ApiKey.LEAVE_GROUP, request, version)).error_code == 0
    again = await ask(broker, ApiKey.LEAVE_GROUP, request, version)
    assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_a_silent_member_is_dropped_by_the_clock(broker: GroupBroker) -> None:
    joined = await join(broker, session_timeout=20)
    await sync(broker, joined, b"all")
    async with asyncio.timeout(10):
        while await state_of(broker) != "Empty":
            await asyncio.sleep(0.005)


async def test_names_that_no_record_can_hold_are_refused(broker: GroupBroker) -> None:
    reply = await join(broker, group_id="x" * 40_000)
    assert reply.error_code == ErrorCode.INVALID_GROUP_ID
    reply = await join(broker, protocol_type="x" * 40_000)
    assert reply.error_code == ErrorCode.INVALID_REQUEST
    reply = await join(broker, group_id="")
    assert reply.error_code == ErrorCode.INVALID_GROUP_ID


# Offsets


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
    assert await commit(broker, {0: 7, 9: 7}) == [0, unknown]
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
    assert partition.log_end_offset == 200
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


async def test_groups_are_listed_by_state(broker: GroupBroker) -> None:
    await stable_member(broker)
    await commit(broker, {0: 1}, group_id="standalone")

    async def listed(*states: str) -> set[tuple[str, str]]:
        reply = await ask(broker, ApiKey.LIST_GROUPS, {"states_filter": list(states)})
        assert reply.error_code == 0
        return {(group.group_id, group.group_state) for group in reply.groups}

    assert await listed() == {(GROUP, "Stable"), ("standalone", "Empty")}
    assert await listed("stable", "Dead") == {(GROUP, "Stable")}


# Leadership


async def test_offsets_and_members_survive_a_restart(broker: GroupBroker) -> None:
    joined = await stable_member(broker)
    mine = {"member_id": joined.member_id, "generation_id_or_member_epoch": 1}
    assert await commit(broker, {0: 7, 1: 8}, **mine) == [0, 0]
    await broker.restart()
    await broker.ready()
    assert await committed(broker) == {("t", 0): 7, ("t", 1): 8}
    assert await state_of(broker) == "Stable"
    assert await heartbeat(broker, joined) == 0
    assert (await sync(broker, joined)).assignment == b"all"


async def test_while_it_loads_it_says_so(broker: GroupBroker) -> None:
    joined = await stable_member(broker)
    await broker.restart()
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert await commit(broker, {0: 7}) == [loading]
    with pytest.raises(KafkaError, match="LOAD_IN_PROGRESS"):
        await committed(broker)
    assert (await join(broker)).error_code == loading
    assert (await ask(broker, ApiKey.LIST_GROUPS, {})).error_code == loading
    assert await heartbeat(broker, joined) == 0
    assert (await sync(broker, joined)).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    await broker.ready()


async def test_whoever_waits_is_sent_elsewhere_when_leadership_goes(broker: GroupBroker) -> None:
    joined = await stable_member(broker)
    waiting = asyncio.create_task(join(broker))
    async with asyncio.timeout(10):
        while await state_of(broker) != "PreparingRebalance":
            await asyncio.sleep(0.001)
    broker.lead(OFFSETS_TOPIC, leader=2, epoch=1)
    assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR
    assert await heartbeat(broker, joined) == ErrorCode.NOT_COORDINATOR
    assert await commit(broker, {0: 7}) == [ErrorCode.NOT_COORDINATOR]
    described = await ask(broker, ApiKey.DESCRIBE_GROUPS, {"groups": [GROUP]})
    assert described.groups[0].error_code == ErrorCode.NOT_COORDINATOR
    broker.lead(OFFSETS_TOPIC, epoch=2)
    await broker.ready()
    assert await heartbeat(broker, joined) == 0


async def test_a_commit_waits_for_the_followers(broker: GroupBroker) -> None:
    broker.lead(OFFSETS_TOPIC, epoch=1, replicas=(1, 2), isr=(1, 2))
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    partition.record_fetch(2, partition.log_end_offset, broker.clock.now_ms())
    await broker.ready()
    task = asyncio.create_task(commit(broker, {0: 7}))
    async with asyncio.timeout(10):
        while partition.log_end_offset == 0:
            await asyncio.sleep(0.001)
    assert not task.done()
    assert await committed(broker) == {}
    partition.record_fetch(2, partition.log_end_offset, broker.clock.now_ms())
    assert await task == [0]
    assert await committed(broker) == {("t", 0): 7}


async def test_a_commit_that_no_follower_takes_is_refused_in_time(tmp_path: Path) -> None:
    settings = {"offsets.commit.timeout.ms": "20"}
    broker = await GroupBroker(tmp_path, **settings).with_offsets_topic()
    broker.create_topic("t", 1)
    broker.lead(OFFSETS_TOPIC, epoch=1, replicas=(1, 2), isr=(1, 2))
    await broker.ready()
    assert await commit(broker, {0: 7}) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    broker.lead(OFFSETS_TOPIC, epoch=1, replicas=(1, 2), isr=(1,))  # the follower is given up
    assert await committed(broker) == {("t", 0): 7}
    await broker.stop()


async def test_with_too_few_replicas_nothing_is_written(broker: GroupBroker) -> None:
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    config = LogConfig.from_properties({}, {"min.insync.replicas": "2"})
    broker.replicas.reconfigure(OFFSETS_TOPIC, config)
    broker.lead(OFFSETS_TOPIC, epoch=1, replicas=(1, 2), isr=(1,))
    await broker.ready()
    assert await commit(broker, {0: 7}) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    assert partition.log_end_offset == 0


async def test_a_take_over_waits_until_what_it_read_is_safe(broker: GroupBroker) -> None:
    await commit(broker, {0: 7})
    broker.lead(OFFSETS_TOPIC, leader=2, epoch=1)
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    partition.high_watermark = 0  # as after a crash: the checkpoint lags behind the log
    broker.lead(OFFSETS_TOPIC, epoch=2, replicas=(1, 2), isr=(1, 2))
    assert await commit(broker, {0: 8}) == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    partition.record_fetch(2, partition.log_end_offset, broker.clock.now_ms())
    await broker.ready()
    assert await committed(broker) == {("t", 0): 7}
