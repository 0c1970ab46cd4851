"""What consumer-groups asks of coordinators."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from brokerd.cli import admin, reset_arguments
from brokerd.cli import client as wire
from brokerd.cli.client import Client
from brokerd.cli.consumer_protocol import assigned_partitions
from brokerd.cli.group_lines import Group, Member
from brokerd.cli.words import check
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
            answer = client.to(broker_id, ApiKey.LIST_GROUPS, request)
            check(int(answer.error_code))
            for each in answer.groups:
                if each.protocol_type in ("", "consumer"):
                    kind = getattr(each, "group_type", "").capitalize() or "Unknown"
                    state = getattr(each, "group_state", "") or "Unknown"
                    found[each.group_id] = (each.group_id, kind, state)
        return found

    found = client.retrying(attempt)
    return [found[name] for name in sorted(found)]


def at_coordinator(client: Client, group_id: str, ask: Callable[[int], T]) -> T:
    """What `ask` returns of the coordinator's broker id, tried again while it moves."""

    def attempt() -> T:
        request = {"key_type": GROUP_KEY, "coordinator_keys": [group_id]}
        (found,) = client.any(ApiKey.FIND_COORDINATOR, request).coordinators
        check(int(found.error_code), found.error_message)
        return ask(found.node_id)

    return client.retrying(attempt)


def describe(client: Client, group_id: str) -> Group:
    """The group; one that does not exist is Dead. Raises KafkaError."""

    def ask(broker_id: int) -> Group:
        request = {"groups": [group_id], "include_authorized_operations": False}
        (group,) = client.to(broker_id, ApiKey.DESCRIBE_GROUPS, request).groups
        if group.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            check(int(group.error_code), getattr(group, "error_message", None))
        where = f"{wire.name(client.brokers[broker_id])}  ({broker_id})"
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


def committed(client: Client, group_id: str) -> dict[TopicPartition, int]:
    """Every offset that the group has committed. Raises KafkaError."""

    def ask(broker_id: int) -> dict[TopicPartition, int]:
        wanted = [{"group_id": group_id, "topics": None}]
        request = {"groups": wanted, "require_stable": False}
        (group,) = client.to(broker_id, ApiKey.OFFSET_FETCH, request).groups
        check(int(group.error_code))
        found = {}
        for topic in group.topics:
            for each in topic.partitions:
                check(int(each.error_code))
                if each.committed_offset >= 0:
                    found[topic.name, each.partition_index] = each.committed_offset
        return found

    return at_coordinator(client, group_id, ask)


def named_partitions(client: Client, texts: Sequence[str]) -> list[TopicPartition]:
    """What `topic:0,1` or `topic` names. Raises UsageError, and KafkaError for a missing topic."""
    named = [
        each for text in texts if ":" in text for each in reset_arguments.named_partitions(text)
    ]
    whole = [text for text in texts if ":" not in text]
    named += admin.partitions_of(admin.topics_named(client, whole))
    return list(dict.fromkeys(named))


def commit(client: Client, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Sets offsets of a group without members. Raises KafkaError."""

    def ask(broker_id: int) -> None:
        request = {
            "group_id": group_id,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "group_instance_id": None,
            "topics": admin.by_topic(entries),
        }
        for topic in client.to(broker_id, ApiKey.OFFSET_COMMIT, request).topics:
            for each in topic.partitions:
                check(int(each.error_code))

    entries = {
        each: {"committed_offset": offset, "committed_leader_epoch": -1, "committed_metadata": ""}
        for each, offset in offsets.items()
    }
    if offsets:
        at_coordinator(client, group_id, ask)


def delete(client: Client, group_id: str) -> None:
    """Deletes a group without members. Raises KafkaError."""

    def ask(broker_id: int) -> None:
        request = {"groups_names": [group_id]}
        (result,) = client.to(broker_id, ApiKey.DELETE_GROUPS, request).results
        check(int(result.error_code))

    at_coordinator(client, group_id, ask)


def delete_offsets(
    client: Client, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """The error code by partition. Raises KafkaError for the group."""

    def ask(broker_id: int) -> dict[TopicPartition, int]:
        request = {"group_id": group_id, "topics": admin.by_topic({each: {} for each in named})}
        answer = client.to(broker_id, ApiKey.OFFSET_DELETE, request)
        check(int(answer.error_code))
        return {
            (topic.name, each.partition_index): int(each.error_code)
            for topic in answer.topics
            for each in topic.partitions
        }

    named = list(partitions)
    return at_coordinator(client, group_id, ask)
