"""Requests of group clients, through the protocol's codecs and the handlers."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from brokerd.protocol.messages import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_type,
    response_is_flexible,
)
from brokerd.server.wiring import group_handlers
from brokerd.topic_partition import TopicPartition
from tests.brokerd.server.group_broker import LISTENER, GroupBroker, context

GROUP = "readers"
SUBSCRIPTION = b"\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x00"

JOIN: dict[str, Any] = {
    "group_id": GROUP,
    "session_timeout": 10_000,
    "rebalance_timeout": 60_000,
    "member_id": "",
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
}


async def ask(
    broker: GroupBroker,
    api_key: ApiKey,
    fields: dict[str, Any],
    version: int | None = None,
    listener: str = LISTENER,
    client_id: str = "client",
) -> Any:
    """A request through the codecs and the handler, as a client's would go."""
    version = ADVERTISED[api_key][1] if version is None else version
    frame = encode_request(api_key, version, fields, 1, "-")
    head = 4 + 2 + 2 + 4 + 2 + len("-")
    head += request_type(api_key, version).__flexible__  # type: ignore[union-attr]
    request = decode_request(api_key, version, memoryview(frame)[head:])
    asked = context(api_key, version, listener, client_id)
    answer = group_handlers(broker.groups)[api_key](asked, request)
    reply = answer if isinstance(answer, dict) else await answer
    body = encode_response(api_key, version, reply)
    header = bytes(4 + response_is_flexible(api_key, version))
    return decode_response(api_key, version, header + body)


async def beside_another(question: Coroutine[Any, Any, Any]) -> tuple[Any, list[str]]:
    """The reply to a long question, and in which order it and what came just after it ended."""
    order: list[str] = []

    async def long_one() -> Any:
        reply = await question
        order.append("the long one")
        return reply

    async def another() -> None:
        order.append("another")

    reply, _ = await asyncio.gather(long_one(), another())
    return reply, order


async def join(
    broker: GroupBroker, member_id: str = "", *, client_id: str = "client", **fields: Any
) -> Any:
    request = JOIN | {"member_id": member_id} | fields
    reply = await ask(broker, ApiKey.JOIN_GROUP, request, client_id=client_id)
    if reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        return await join(broker, reply.member_id, client_id=client_id, **fields)
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


async def committed(broker: GroupBroker, group_id: str = GROUP) -> dict[TopicPartition, int]:
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
