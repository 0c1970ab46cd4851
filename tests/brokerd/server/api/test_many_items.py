"""Requests of very many items: others have their turn while they are answered."""

import asyncio
import gc
from inspect import isawaitable
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from brokerd import event_loop_turns
from brokerd.cluster.metadata_image import MetadataImage
from brokerd.coordinator.group.messages import GroupListing
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    request_type,
    response_is_flexible,
)
from brokerd.server.requests.request_context import Handler
from brokerd.server.wiring import handlers
from tests.brokerd.server.group_broker import context

COUNT = 300
NAMES = [f"t-{number}" for number in range(COUNT)]


def in_groups() -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise KafkaError(ErrorCode.NOT_COORDINATOR)

    return SimpleNamespace(knows_partition=lambda *_: False, runtime=refuse)


async def grown(growths: Any, **_: Any) -> dict[str, KafkaError | None]:
    return {each.topic: None for each in growths}


def handler_of(api_key: ApiKey, groups: Any = None, image: Any = None) -> Handler:
    """Of a broker that is the controller and has nothing, unless it is given."""
    cluster: Any = SimpleNamespace(
        require_controller=lambda: None, image=image or MetadataImage(), configs=None,
        topics=SimpleNamespace(grow=grown),
    )  # fmt: skip
    logs = SimpleNamespace(dirs=SimpleNamespace(paths=[]))
    parts: Any = Mock(cluster=cluster, groups=groups or in_groups(), logs=logs)
    return handlers(parts)[api_key]


REQUESTS: list[tuple[ApiKey, int, dict[str, Any], str]] = [
    (ApiKey.ELECT_LEADERS, 2,
     {"topic_partitions": [{"topic": name, "partitions": [0]} for name in NAMES]},
     "replica_election_results"),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0,
     {"timeout": 1_000, "topics": [
         {"name": name, "partitions": [{"partition_index": 0, "replicas": [1]}]}
         for name in NAMES]},
     "responses"),
    (ApiKey.ALTER_REPLICA_LOG_DIRS, 2,
     {"dirs": [{"path": "/no", "topics": [{"name": n, "partitions": [0]} for n in NAMES]}]},
     "results"),
    (ApiKey.INCREMENTAL_ALTER_CONFIGS, 1,
     {"resources": [{"resource_type": 2, "resource_name": n, "configs": []} for n in NAMES]},
     "responses"),
    (ApiKey.ALTER_CONFIGS, 2,
     {"resources": [{"resource_type": 2, "resource_name": n, "configs": []} for n in NAMES]},
     "responses"),
    (ApiKey.ALTER_CLIENT_QUOTAS, 1,
     {"entries": [{"entity": [{"entity_type": "planet", "entity_name": n}]} for n in NAMES]},
     "entries"),
    (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": [{"name": n} for n in NAMES]}, "results"),
    (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0,
     {"deletions": [{"name": n, "mechanism": 1} for n in NAMES], "upsertions": []}, "results"),
    (ApiKey.CREATE_PARTITIONS, 3,
     {"topics": [{"name": n, "count": 2} for n in NAMES], "validate_only": True}, "results"),
    (ApiKey.OFFSET_COMMIT, 8,
     {"group_id": "g", "generation_id_or_member_epoch": -1, "member_id": "",
      "topics": [{"name": name, "partitions": [
          {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}]}
          for name in NAMES]},
     "topics"),
]  # fmt: skip


def decoded(api_key: ApiKey, version: int, fields: dict[str, Any]) -> Any:
    frame = encode_request(api_key, version, fields, 1, "")
    head = 14 + request_type(api_key, version).__flexible__  # type: ignore[union-attr]
    return decode_request(api_key, version, memoryview(frame)[head:])


async def told_while_others_are_served(served: Any) -> dict[str, Any]:
    """The answer, which comes after at least as many turns of others as there are items."""
    assert isawaitable(served)
    answering = asyncio.ensure_future(served)
    others = 0
    while not answering.done():
        others += 1
        await asyncio.sleep(0)
    assert others >= COUNT
    answer: dict[str, Any] = await answering
    return answer


@pytest.mark.parametrize(("api_key", "version", "fields", "told"), REQUESTS)
async def test_many_items_are_answered_in_order_while_others_are_served(
    api_key: ApiKey, version: int, fields: dict[str, Any], told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    request = decoded(api_key, version, fields)
    served = handler_of(api_key)(context(api_key, version), request)
    body = encode_response(api_key, version, await told_while_others_are_served(served))
    header = bytes(4 + response_is_flexible(api_key, version))
    rows = getattr(decode_response(api_key, version, header + body), told)
    assert [name_of(row) for row in rows] == NAMES


@pytest.mark.parametrize(("api_key", "version", "fields", "told"), REQUESTS)
async def test_many_items_leave_nothing_for_the_collector_of_cycles_which_would_hold_up_all(
    api_key: ApiKey, version: int, fields: dict[str, Any], told: str
) -> None:
    request = decoded(api_key, version, fields)
    gc.collect()
    gc.disable()
    try:
        served: Any = handler_of(api_key)(context(api_key, version), request)
        answer = await served if isawaitable(served) else served
        assert len(answer[told]) == COUNT
        assert gc.collect() < COUNT
    finally:
        gc.enable()


def name_of(row: Any) -> str:
    for field in ("topic", "topic_name", "resource_name", "name", "user"):
        if hasattr(row, field):
            return str(getattr(row, field))
    return str(row.entity[0].entity_name)


async def test_partitions_that_are_moved_are_told_in_order_of_all_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    asked = [{"name": name, "partition_indexes": [0]} for name in NAMES]
    request = decoded(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {"topics": asked})
    moving = SimpleNamespace(replicas=[1, 2], adding=[2], removing=[])
    states = {("t-7", 0): moving, ("t-10", 0): moving}
    image = SimpleNamespace(partition=lambda *key: states.get(key))
    where = context(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0)
    list_moving = handler_of(ApiKey.LIST_PARTITION_REASSIGNMENTS, image=image)
    served: Any = list_moving(where, request)
    told = await told_while_others_are_served(served)
    assert [topic["name"] for topic in told["topics"]] == ["t-10", "t-7"]


async def test_all_groups_are_listed_while_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    listings = [GroupListing(name, "consumer", "Empty") for name in NAMES]
    runtime = SimpleNamespace(
        loading=False, coordinator=SimpleNamespace(listings=lambda: iter(listings))
    )
    groups = SimpleNamespace(runtimes=lambda: [runtime])
    where = context(ApiKey.LIST_GROUPS, 4)
    request = decoded(ApiKey.LIST_GROUPS, 4, {"states_filter": []})
    answer = await told_while_others_are_served(
        handler_of(ApiKey.LIST_GROUPS, groups)(where, request)
    )
    frame = bytes(5) + encode_response(ApiKey.LIST_GROUPS, 4, answer)
    told = decode_response(ApiKey.LIST_GROUPS, 4, frame).groups
    assert [(each.group_id, each.group_state) for each in told] == [(n, "Empty") for n in NAMES]
