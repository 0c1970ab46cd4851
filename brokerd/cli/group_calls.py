"""Requests of consumer-groups: groups and their offsets, sent to their coordinators."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from brokerd.cli import admin_calls, parse_reset_arguments
from brokerd.cli.client import Client, address_text
from brokerd.cli.consumer_protocol import assigned_partitions
from brokerd.cli.error_messages import raise_for_code
from brokerd.cli.group_description import Group, Member
from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

GROUP_KEY = 0
T = TypeVar("T")


def list_groups(
    client: Client, states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    """(group, type, state) of every consumer group, sorted; asks every broker."""

    def attempt() -> dict[str, tuple[str, str, str]]:
        found = {}
        for broker_id in client.brokers:
            request = {"states_filter": list(states), "types_filter": list(types)}
            answer = client.to_broker(broker_id, ApiKey.LIST_GROUPS, request)
            raise_for_code(int(answer.error_code))
            for each in answer.groups:
                if each.protocol_type in ("", "consumer"):
                    kind = getattr(each, "group_type", "").capitalize() or "Unknown"
                    state = getattr(each, "group_state", "") or "Unknown"
                    found[each.group_id] = (each.group_id, kind, state)
        return found

    found = client.with_retries(attempt)
    return [found[name] for name in sorted(found)]


def at_coordinator(client: Client, group_id: str, ask: Callable[[int], T]) -> T:
    """Calls `ask` with the broker id of the group's coordinator, again if the coordinator moved."""

    def attempt() -> T:
        request = {"key_type": GROUP_KEY, "coordinator_keys": [group_id]}
        (found,) = client.to_any(ApiKey.FIND_COORDINATOR, request).coordinators
        raise_for_code(int(found.error_code), found.error_message)
        return ask(found.node_id)

    return client.with_retries(attempt)


def describe_group(client: Client, group_id: str) -> Group:
    """The group; one that does not exist is Dead. Raises KafkaError."""

    def ask(broker_id: int) -> Group:
        request = {"groups": [group_id], "include_authorized_operations": False}
        (group,) = client.to_broker(broker_id, ApiKey.DESCRIBE_GROUPS, request).groups
        if group.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise_for_code(int(group.error_code), getattr(group, "error_message", None))
        where = f"{address_text(client.brokers[broker_id])}  ({broker_id})"
        members = tuple(sorted(map(_member, group.members), key=lambda each: each.member_id))
        state = group.group_state or "Dead"
        return Group(group_id, state, group.protocol_data, where, members)

    return at_coordinator(client, group_id, ask)


def _member(described: Any) -> Member:
    try:
        partitions = tuple(assigned_partitions(described.member_assignment))
    except ValueError:  # not a consumer's assignment
        partitions = ()
    instance_id = getattr(described, "group_instance_id", None) or ""
    return Member(
        described.member_id, instance_id, described.client_host, described.client_id, partitions
    )


def committed_offsets(client: Client, group_id: str) -> dict[TopicPartition, int]:
    """Every offset that the group has committed. Raises KafkaError."""

    def ask(broker_id: int) -> dict[TopicPartition, int]:
        wanted = [{"group_id": group_id, "topics": None}]
        request = {"groups": wanted, "require_stable": False}
        (group,) = client.to_broker(broker_id, ApiKey.OFFSET_FETCH, request).groups
        raise_for_code(int(group.error_code))
        found = {}
        for topic in group.topics:
            for each in topic.partitions:
                raise_for_code(int(each.error_code))
                if each.committed_offset >= 0:
                    found[topic.name, each.partition_index] = each.committed_offset
        return found

    return at_coordinator(client, group_id, ask)


def named_partitions(client: Client, texts: Sequence[str]) -> list[TopicPartition]:
    """The partitions of `topic:0,1` or `topic`. UsageError; KafkaError for a missing topic."""
    named = [
        each
        for text in texts
        if ":" in text
        for each in parse_reset_arguments.parse_partitions(text)
    ]
    whole = [text for text in texts if ":" not in text]
    named += admin_calls.partitions_of(admin_calls.topics_named(client, whole))
    return list(dict.fromkeys(named))


def commit_offsets(client: Client, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Sets offsets of a group without members. Raises KafkaError."""

    def ask(broker_id: int) -> None:
        request = {
            "group_id": group_id,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "group_instance_id": None,
            "topics": admin_calls.by_topic(entries),
        }
        for topic in client.to_broker(broker_id, ApiKey.OFFSET_COMMIT, request).topics:
            for each in topic.partitions:
                raise_for_code(int(each.error_code))

    entries = {
        each: {"committed_offset": offset, "committed_leader_epoch": -1, "committed_metadata": ""}
        for each, offset in offsets.items()
    }
    if offsets:
        at_coordinator(client, group_id, ask)


def delete_group(client: Client, group_id: str) -> None:
    """Deletes a group without members. Raises KafkaError."""

    def ask(broker_id: int) -> None:
        request = {"groups_names": [group_id]}
        (result,) = client.to_broker(broker_id, ApiKey.DELETE_GROUPS, request).results
        raise_for_code(int(result.error_code))

    at_coordinator(client, group_id, ask)


def delete_offsets(
    client: Client, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """The error code by partition. Raises KafkaError for the group."""

    def ask(broker_id: int) -> dict[TopicPartition, int]:
        request = {
            "group_id": group_id,
            "topics": admin_calls.by_topic({each: {} for each in named}),
        }
        answer = client.to_broker(broker_id, ApiKey.OFFSET_DELETE, request)
        raise_for_code(int(answer.error_code))
        return {
            (topic.name, each.partition_index): int(each.error_code)
            for topic in answer.topics
            for each in topic.partitions
        }

    named = list(partitions)
    return at_coordinator(client, group_id, ask)
