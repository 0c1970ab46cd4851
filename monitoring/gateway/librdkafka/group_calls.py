"""The group functions, with librdkafka. Runs only in a worker process (worker_process.py).

The functions match those of `GroupAdmin`; they also take the cluster's settings and a time limit.
"""

from collections.abc import Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.group_admin import GroupDescription
from monitoring.gateway.librdkafka.error_mapping import (
    gateway_error_of_group_change,
    raising_gateway_errors,
)
from monitoring.gateway.librdkafka.topic_calls import admin_client, wait
from monitoring.gateway.topic_partition import TopicPartition


def describe_group(settings: ClientSettings, timeout_s: int, group: str) -> GroupDescription:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.describe_consumer_groups([group], request_timeout=timeout_s)
        try:
            found = wait(futures[group], timeout_s)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:  # Kafka 4
                return GroupDescription("DEAD", 0)
            raise
    return GroupDescription(found.state.name, len(found.members))


def committed(settings: ClientSettings, timeout_s: int, group: str) -> dict[TopicPartition, int]:
    request = [ConsumerGroupTopicPartitions(group)]
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.list_consumer_group_offsets(request, request_timeout=timeout_s)
        found = wait(futures[group], timeout_s)
    return {
        (each.topic, each.partition): each.offset
        for each in found.topic_partitions
        if each.error is None and each.offset >= 0
    }


def alter_offsets(
    settings: ClientSettings, timeout_s: int, group: str, offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, str]:
    new = [ClientPartition(*key, offset) for key, offset in offsets.items()]
    request = [ConsumerGroupTopicPartitions(group, new)]
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.alter_consumer_group_offsets(request, request_timeout=timeout_s)
        try:
            found = wait(futures[group], timeout_s)
        except KafkaException as error:
            raise gateway_error_of_group_change(error.args[0]) from error
    return {
        (each.topic, each.partition): gateway_error_of_group_change(each.error).message
        for each in found.topic_partitions
        if each.error is not None
    }


def delete_group(settings: ClientSettings, timeout_s: int, group: str) -> None:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        futures = client.delete_consumer_groups([group], request_timeout=timeout_s)
        try:
            wait(futures[group], timeout_s)
        except KafkaException as error:
            raise gateway_error_of_group_change(error.args[0]) from error
