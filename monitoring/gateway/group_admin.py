"""Kafka's admin client: consumer groups and their offsets.

Reads come from the cluster and not from a sample: a change of offsets depends on them. librdkafka
runs in a separate process (librdkafka/group_calls.py). Its Python client cannot delete offsets: the
project's own client does (wire/offset_delete.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import request_timeouts
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.topic_partition import TopicPartition

if TYPE_CHECKING:  # it loads Django, which the worker processes of librdkafka do without
    from monitoring.gateway.wire.sync_client import SyncClient


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group now. `state` is Kafka's name, in capitals; DEAD = there is no such group."""

    state: str
    members: int


class GroupAdmin:
    """The group functions of one cluster's admin client; each call opens new connections."""

    def __init__(self, settings: ClientSettings, wire: "SyncClient") -> None:
        """`settings` have their access token, if they need one."""
        self._settings = settings
        self._wire = wire

    def describe(self, group: str) -> GroupDescription:
        """State and number of members."""
        found: GroupDescription = self._call("describe_group", request_timeouts.GROUP_READ_S, group)
        return found

    def committed(self, group: str) -> dict[TopicPartition, int]:
        """The committed offsets of a group; without partitions that have none."""
        found: dict[TopicPartition, int] = self._call(
            "committed", request_timeouts.GROUP_READ_S, group
        )
        return found

    def alter_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, str]:
        """Commit these offsets; returns the errors. Raises GatewayError if all are refused."""
        errors: dict[TopicPartition, str]
        errors = self._call("alter_offsets", request_timeouts.CHANGE_S, group, dict(offsets))
        return errors

    def delete_offsets(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, str]:
        """Delete the commits of these partitions; returns the errors. Raises GatewayError if all
        are refused."""
        return self._wire.delete_offsets(group, list(partitions))

    def delete(self, group: str) -> None:
        """Delete a group with all its offsets. Raises NotFound or Refused."""
        self._call("delete_group", request_timeouts.CHANGE_S, group)

    def _call(self, function: str, timeout_s: int, *arguments: Any) -> Any:
        arguments = (self._settings, timeout_s, *arguments)
        return workers.call(
            function, *arguments, limit_s=2 * timeout_s + request_timeouts.ADMIN_GRACE_S
        )
