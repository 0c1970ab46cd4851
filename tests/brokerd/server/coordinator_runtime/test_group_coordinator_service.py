"""The group service over real logs: where a group is, loading, leadership, writes."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.coordinator.group import member_memory_limit
from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC, partition_for
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.open_files import FileRange
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.coordinator_runtime import group_coordinator_service
from tests.brokerd.server.group_broker import GroupBroker
from tests.brokerd.server.group_requests import (
    GROUP,
    JOIN,
    ask,
    commit,
    committed,
    heartbeat,
    join,
    stable_member,
    state_of,
    sync,
)

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


async def test_there_is_no_coordinator_for_transactions_and_one_for_the_group_without_a_name(
    broker: GroupBroker,
) -> None:
    request = {"key_type": 1, "coordinator_keys": ["transactions"]}
    found = (await ask(broker, ApiKey.FIND_COORDINATOR, request)).coordinators[0]
    assert found.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert "transactions are not served yet" in found.error_message
    request = {"key_type": 0, "coordinator_keys": [""]}
    found = (await ask(broker, ApiKey.FIND_COORDINATOR, request)).coordinators[0]
    assert (found.error_code, found.node_id) == (ErrorCode.NONE, 1)


async def test_a_topic_that_cannot_be_created_is_said_to_come(tmp_path: Path) -> None:
    broker = GroupBroker(tmp_path)
    broker.cluster.refusal = KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "too few brokers")
    reply = await ask(broker, ApiKey.FIND_COORDINATOR, {"key": GROUP}, 2)
    assert reply.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    await broker.stop()


async def test_groups_of_all_partitions_share_what_members_may_hold_in_memory(
    broker: GroupBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        member_memory_limit, "MEMBER_MEMORY_BYTES_MAX", 41 * member_memory_limit.MEMBER_BYTES // 2
    )
    groups = [f"group-{number}" for number in range(30)]
    count = broker.groups.partition_count
    assert len({partition_for(each, count) for each in groups}) > 1
    asked = [ask(broker, ApiKey.JOIN_GROUP, JOIN | {"group_id": each}) for each in groups]
    errors = [reply.error_code for reply in await asyncio.gather(*asked)]
    assert errors.count(ErrorCode.MEMBER_ID_REQUIRED) == 20
    assert errors.count(ErrorCode.GROUP_MAX_SIZE_REACHED) == 10


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


async def test_a_log_torn_after_a_clean_stop_is_loaded_up_to_where_it_ends_now(
    broker: GroupBroker,
) -> None:
    assert await commit(broker, {0: 7}) == [0]
    assert await commit(broker, {0: 8}) == [0]

    def tear() -> None:
        for path in broker.directory.glob(f"{OFFSETS_TOPIC}-*/*.log"):
            if path.stat().st_size:
                os.truncate(path, path.stat().st_size - 1)

    await broker.restart(tear)
    await broker.ready()
    assert await committed(broker) == {("t", 0): 7}


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


@pytest.mark.parametrize(("number", "is_the_disks"), [(errno.EMFILE, False), (errno.EIO, True)])
async def test_a_load_that_failed_is_tried_again(
    broker: GroupBroker, monkeypatch: pytest.MonkeyPatch, number: int, is_the_disks: bool
) -> None:
    await commit(broker, {0: 7})
    failures = [OSError(number, "no")] * 3
    read = FileRange.read

    def failing_first(found: FileRange) -> bytes:
        if failures:
            raise failures.pop()
        return read(found)

    monkeypatch.setattr(FileRange, "read", failing_first)
    monkeypatch.setattr(group_coordinator_service, "RETRY_MIN_S", 0.001)
    await broker.restart()
    await broker.ready()
    assert await committed(broker) == {("t", 0): 7}
    assert failures == []
    assert bool(broker.logs.take_failed()) == is_the_disks


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
    partition.record_fetch(2, partition.log.log_end_offset, broker.clock.now_ms())
    await broker.ready()
    task = asyncio.create_task(commit(broker, {0: 7}))
    async with asyncio.timeout(10):
        while partition.log.log_end_offset == 0:
            await asyncio.sleep(0.001)
    assert not task.done()
    assert await committed(broker) == {}
    partition.record_fetch(2, partition.log.log_end_offset, broker.clock.now_ms())
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
    broker.replicas.reconfigure(partition, config)
    broker.lead(OFFSETS_TOPIC, epoch=1, replicas=(1, 2), isr=(1,))
    await broker.ready()
    assert await commit(broker, {0: 7}) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    assert partition.log.log_end_offset == 0


async def test_a_take_over_waits_until_what_it_read_is_safe(broker: GroupBroker) -> None:
    await commit(broker, {0: 7})
    broker.lead(OFFSETS_TOPIC, leader=2, epoch=1)
    partition = broker.replicas.get(OFFSETS_TOPIC, partition_for(GROUP, 3))
    assert partition is not None
    partition.high_watermark = 0  # as after a crash: the checkpoint lags behind the log
    broker.lead(OFFSETS_TOPIC, epoch=2, replicas=(1, 2), isr=(1, 2))
    assert await commit(broker, {0: 8}) == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    partition.record_fetch(2, partition.log.log_end_offset, broker.clock.now_ms())
    await broker.ready()
    assert await committed(broker) == {("t", 0): 7}
