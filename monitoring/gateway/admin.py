"""Ordinary administration by confluent-kafka: topics and their configuration.

Every call waits for the cluster's answer (changes 15 seconds, reads 5) and raises GatewayError.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from confluent_kafka import TopicCollection, TopicPartitionInfo, Uuid
from confluent_kafka.admin import (
    AdminClient,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
)

from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.kafka_errors import translated

T = TypeVar("T")
_TIMEOUT_S, _READ_TIMEOUT_S = 15, 5
_NO_TOPIC_ID = str(Uuid(0, 0))


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One setting of a topic or broker; `value` None = sensitive or unset."""

    name: str
    value: str | None
    source: str  # Kafka's names: DYNAMIC_TOPIC_CONFIG, STATIC_BROKER_CONFIG, DEFAULT_CONFIG …
    is_default: bool
    is_sensitive: bool


@dataclass(frozen=True, slots=True)
class PartitionPlace:
    partition: int
    leader: int  # −1 = none
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """Where a topic lies right now, as the cluster itself says."""

    name: str
    partitions: tuple[PartitionPlace, ...]
    topic_id: str = ""  # empty = the cluster gives topics no ids


class Admin:
    """One cluster's administration; connects when first used."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers

    @cached_property
    def _client(self) -> AdminClient:
        return AdminClient(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "client.id": "aerie",
                "socket.timeout.ms": _TIMEOUT_S * 1000,
                "log_level": 0,
            }
        )

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
        topic = NewTopic(name, partitions, replication_factor, config=dict(configs or {}))
        with translated():
            _wait(
                self._client.create_topics(
                    [topic], request_timeout=_TIMEOUT_S, validate_only=validate_only
                )[name]
            )

    def create_partitions(self, name: str, total: int) -> None:
        """Give a topic more partitions, up to `total`. Raises NotFound or Refused."""
        with translated():
            futures = self._client.create_partitions(
                [NewPartitions(name, total)], request_timeout=_TIMEOUT_S
            )
            _wait(futures[name])

    def delete_topic(self, name: str) -> None:
        """Delete a topic with all its records. Raises NotFound or Refused."""
        with translated():
            _wait(self._client.delete_topics([name], request_timeout=_TIMEOUT_S)[name])

    def describe_topic(self, name: str) -> TopicDescription:
        """Partitions, leaders and replicas, from the cluster and not from a sample."""
        asked = TopicCollection([name])
        with translated():  # not list_topics, which would create the topic on many clusters
            futures = self._client.describe_topics(asked, request_timeout=_READ_TIMEOUT_S)
            told = _wait(futures[name])
        return TopicDescription(name, tuple(map(_place, told.partitions)), _topic_id(told.topic_id))

    def describe_configs(self, topic: str) -> list[ConfigValue]:
        """Every setting of a topic, sorted by name, defaults included."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        with translated():
            futures = self._client.describe_configs([resource], request_timeout=_READ_TIMEOUT_S)
            told = _wait(futures[resource])
        return sorted(map(_config_value, told.values()), key=lambda value: value.name)


def _topic_id(told: Uuid | None) -> str:
    """As Kafka writes it; that of zeros is what brokers without topic ids tell."""
    return "" if told is None or str(told) == _NO_TOPIC_ID else str(told)


def _place(told: TopicPartitionInfo) -> PartitionPlace:
    return PartitionPlace(
        told.id,
        -1 if told.leader is None else told.leader.id,
        tuple(node.id for node in told.replicas),
        tuple(node.id for node in told.isr),
    )


def _config_value(entry: ConfigEntry) -> ConfigValue:
    return ConfigValue(
        name=entry.name,
        value=None if entry.is_sensitive else entry.value,
        source=ConfigSource(entry.source).name,
        is_default=bool(entry.is_default),
        is_sensitive=bool(entry.is_sensitive),
    )


def _wait(future: "Future[T]") -> T:
    try:
        return future.result(_TIMEOUT_S + 5)
    except FutureTimeout as error:
        raise ClusterUnavailable(f"no answer within {_TIMEOUT_S} seconds") from error
