"""The admin functions, with librdkafka. Runs only in a worker process (worker_process.py).

The functions match those of `TopicAdmin`; they also take the cluster's settings and a time limit.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from typing import TypeVar

from confluent_kafka import (
    KafkaException,
    TopicCollection,
    TopicPartition,
    TopicPartitionInfo,
    Uuid,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, GatewayError
from monitoring.gateway.librdkafka.error_mapping import gateway_error_of, raising_gateway_errors
from monitoring.gateway.topic_description import PartitionDescription, TopicDescription

T = TypeVar("T")
_NO_TOPIC_ID = str(Uuid(0, 0))


def create_topic(
    settings: ClientSettings,
    timeout_s: int,
    name: str,
    partitions: int,
    replication_factor: int,
    configs: Mapping[str, str],
    validate_only: bool,
) -> None:
    topic = NewTopic(name, partitions, replication_factor, config=dict(configs))
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.create_topics(
            [topic], request_timeout=timeout_s, validate_only=validate_only
        )
        wait(futures[name], timeout_s)


def create_partitions(settings: ClientSettings, timeout_s: int, name: str, total: int) -> None:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.create_partitions([NewPartitions(name, total)], request_timeout=timeout_s)
        wait(futures[name], timeout_s)


def delete_topic(settings: ClientSettings, timeout_s: int, name: str) -> None:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.delete_topics([name], request_timeout=timeout_s)
        wait(futures[name], timeout_s)


def delete_records(
    settings: ClientSettings, timeout_s: int, topic: str, offsets: Mapping[int, int]
) -> dict[int, str]:
    request = [TopicPartition(topic, number, offset) for number, offset in offsets.items()]
    errors: dict[int, GatewayError] = {}
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.delete_records(request, request_timeout=timeout_s)
        for place, future in futures.items():
            try:
                wait(future, timeout_s)
            except KafkaException as error:
                errors[place.partition] = gateway_error_of(error.args[0])
    if errors and len(errors) == len(offsets):
        raise next(iter(errors.values()))
    return {number: error.message for number, error in errors.items()}


def describe_topic(settings: ClientSettings, timeout_s: int, name: str) -> TopicDescription:
    topics = TopicCollection([name])
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        # Not list_topics, which would create the topic on many clusters.
        futures = client.describe_topics(topics, request_timeout=timeout_s)
        description = wait(futures[name], timeout_s)
    return TopicDescription(
        name, tuple(map(_partition, description.partitions)), _topic_id(description.topic_id)
    )


def alter_configs(
    settings: ClientSettings,
    timeout_s: int,
    topic: str,
    configs: Mapping[str, str | None],
    validate_only: bool,
) -> None:
    delete, set_value = AlterConfigOpType.DELETE, AlterConfigOpType.SET
    entries = [
        ConfigEntry(name, value, incremental_operation=delete if value is None else set_value)
        for name, value in configs.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.incremental_alter_configs(
            [resource], request_timeout=timeout_s, validate_only=validate_only
        )
        wait(futures[resource], timeout_s)


def cluster_operations(settings: ClientSettings, timeout_s: int) -> frozenset[str] | None:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        future = client.describe_cluster(
            include_authorized_operations=True, request_timeout=timeout_s
        )
        allowed = wait(future, timeout_s).authorized_operations
    return None if allowed is None else frozenset(operation.name for operation in allowed)


@contextmanager
def admin_client(settings: ClientSettings, timeout_s: int) -> Iterator[AdminClient]:
    """An admin client; pending requests end with it."""
    yield AdminClient(
        {
            **settings.librdkafka(),
            "client.id": "aerie",
            "socket.timeout.ms": timeout_s * 1000,
            "log_level": 0,
        }
    )


def _topic_id(uuid: Uuid | None) -> str:
    """The id in Kafka's text format, which is base64 for URLs; librdkafka's is plain base64.

    Empty for zeros, which brokers without topic ids send.
    """
    if uuid is None or str(uuid) == _NO_TOPIC_ID:
        return ""
    return str(uuid).replace("+", "-").replace("/", "_")


def _partition(description: TopicPartitionInfo) -> PartitionDescription:
    return PartitionDescription(
        description.id,
        -1 if description.leader is None else description.leader.id,
        tuple(node.id for node in description.replicas),
        tuple(node.id for node in description.isr),
    )


def wait(future: "Future[T]", timeout_s: int) -> T:
    try:
        return future.result(timeout_s + 5)
    except FutureTimeout as error:
        raise ClusterUnavailable(Reason("call_timed_out", seconds=timeout_s)) from error
