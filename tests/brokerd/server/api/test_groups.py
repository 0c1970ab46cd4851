"""Members and groups as clients ask for them, in every version."""

import asyncio
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.brokerd.server.group_broker import GroupBroker
from tests.brokerd.server.group_requests import (
    GROUP,
    SUBSCRIPTION,
    ask,
    beside_another,
    commit,
    heartbeat,
    join,
    stable_member,
    state_of,
    sync,
)


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
    # Bytes that are no UTF-8 are three times as long once they are read.
    reply = await join(broker, client_id=(b"\xff" * 32_767).decode(errors="replace"))
    assert reply.error_code == ErrorCode.INVALID_REQUEST
    reply = await join(broker, group_id="")
    assert reply.error_code == ErrorCode.INVALID_GROUP_ID


async def test_groups_are_listed_by_state(broker: GroupBroker) -> None:
    await stable_member(broker)
    await commit(broker, {0: 1}, group_id="standalone")

    async def listed(*states: str) -> set[tuple[str, str]]:
        reply = await ask(broker, ApiKey.LIST_GROUPS, {"states_filter": list(states)})
        assert reply.error_code == 0
        return {(group.group_id, group.group_state) for group in reply.groups}

    assert await listed() == {(GROUP, "Stable"), ("standalone", "Empty")}
    assert await listed("stable", "Dead") == {(GROUP, "Stable")}


@pytest.mark.parametrize(
    ("api_key", "asked", "told"),
    [
        (ApiKey.DESCRIBE_GROUPS, "groups", "groups"),
        (ApiKey.DELETE_GROUPS, "groups_names", "results"),
        (ApiKey.FIND_COORDINATOR, "coordinator_keys", "coordinators"),
    ],
)
async def test_many_groups_are_told_in_order_and_others_served_meanwhile(
    broker: GroupBroker, api_key: ApiKey, asked: str, told: str
) -> None:
    await broker.with_offsets_topic()
    if api_key is ApiKey.DESCRIBE_GROUPS:
        await commit(broker, {0: 1}, group_id="g-7")
    names = [f"g-{number}" for number in range(3_000)]
    more = {"key_type": 0} if api_key is ApiKey.FIND_COORDINATOR else {}
    reply, order = await beside_another(ask(broker, api_key, {asked: names, **more}))
    assert order == ["another", "the long one"]
    rows = getattr(reply, told)
    assert [getattr(row, "group_id", None) or row.key for row in rows] == names
    if api_key is ApiKey.DESCRIBE_GROUPS:
        assert [row.group_id for row in rows if row.group_state == "Empty"] == ["g-7"]
    if api_key is ApiKey.DELETE_GROUPS:
        assert {row.error_code for row in rows} == {ErrorCode.GROUP_ID_NOT_FOUND}
