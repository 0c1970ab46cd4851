"""Kafka's admin client: topics and their configuration.

Every call waits for the cluster's response (request_timeouts.py) and raises GatewayError.
librdkafka runs in a separate process (librdkafka/topic_calls.py). Pages read the configuration
often, so this project's own client reads it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import config_requests, request_timeouts
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.topic_description import TopicDescription
from monitoring.gateway.wire import configs


class TopicAdmin:
    """The admin client of one cluster; each call opens new connections."""

    def __init__(self, settings: ClientSettings) -> None:
        """`settings` have their access token, if they need one."""
        self._settings = settings

    def create_topic(
        self,
        name: str,
        partitions: int,
        replication_factor: int,
        configs: Mapping[str, str] | None = None,
        *,
        validate_only: bool = False,
    ) -> None:
        """Create a topic. Raises Refused with the broker's reason."""
        arguments = (name, partitions, replication_factor, dict(configs or {}), validate_only)
        self._call("create_topic", request_timeouts.CHANGE_S, *arguments)

    def create_partitions(self, name: str, total: int) -> None:
        """Increase a topic's partitions to `total`. Raises NotFound or Refused."""
        self._call("create_partitions", request_timeouts.CHANGE_S, name, total)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with all its records. Raises NotFound or Refused."""
        self._call("delete_topic", request_timeouts.CHANGE_S, name)

    def delete_records(self, topic: str, offsets: Mapping[int, int]) -> dict[int, str]:
        """Delete the records before these offsets, by partition; returns the errors by partition.
        Raises GatewayError if nothing could be deleted."""
        arguments = (topic, dict(offsets))
        errors: dict[int, str] = self._call("delete_records", request_timeouts.CHANGE_S, *arguments)
        return errors

    def describe_topic(self, name: str) -> TopicDescription:
        """Partitions, leaders and replicas, read from the cluster and not from a sample."""
        description: TopicDescription = self._call("describe_topic", request_timeouts.READ_S, name)
        return description

    def describe_configs(self, topic: str, names: Sequence[str] | None = None) -> list[ConfigValue]:
        """These settings of a topic, None = all, sorted by name, defaults included."""
        return config_requests.describe(self._settings, None, configs.TOPIC, topic, names)

    def alter_configs(
        self, topic: str, configs: Mapping[str, str | None], *, validate_only: bool = False
    ) -> None:
        """Set settings of a topic (None = remove); the others stay. Raises NotFound or Refused."""
        self._call("alter_configs", request_timeouts.CHANGE_S, topic, dict(configs), validate_only)

    def cluster_operations(self) -> frozenset[str] | None:
        """The operations on the cluster that the login may do, as Kafka's AclOperation; None = the
        brokers do not say."""
        found: frozenset[str] | None = self._call("cluster_operations", request_timeouts.READ_S)
        return found

    def _call(self, function: str, timeout_s: int, *arguments: Any) -> Any:
        arguments = (self._settings, timeout_s, *arguments)
        return workers.call(
            function, *arguments, limit_s=timeout_s + request_timeouts.ADMIN_GRACE_S
        )
