"""The offsets of logs, with librdkafka. Runs only in a worker process (worker_process.py).

The functions are those of `LogOffsets`; they also take the cluster's settings and a time limit.
"""

from confluent_kafka import IsolationLevel, KafkaException
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.librdkafka.error_mapping import raising_gateway_errors
from monitoring.gateway.librdkafka.topic_calls import admin_client, wait
from monitoring.gateway.log_bounds import LogBounds
from monitoring.gateway.topic_partition import TopicPartition


def ranges(
    settings: ClientSettings, timeout_s: int, partitions: list[TopicPartition]
) -> dict[TopicPartition, range]:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        starts = _offsets(client, timeout_s, partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        ends = _offsets(client, timeout_s, partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]
    return {key: range(starts[key], ends[key]) for key in starts.keys() & ends.keys()}


def bounds(settings: ClientSettings, timeout_s: int, partition: TopicPartition) -> LogBounds | None:
    only = [partition]
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        found = [
            _offsets(client, timeout_s, only, OffsetSpec.earliest()),  # type: ignore[no-untyped-call]
            _offsets(client, timeout_s, only, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED),  # type: ignore[no-untyped-call]
            _offsets(client, timeout_s, only, OffsetSpec.latest()),  # type: ignore[no-untyped-call]
        ]
    return LogBounds(*(each[partition] for each in found)) if all(found) else None


def at_time(
    settings: ClientSettings, timeout_s: int, partitions: list[TopicPartition], at_ms: int
) -> dict[TopicPartition, int | None]:
    with raising_gateway_errors(), admin_client(settings, timeout_s) as client:
        found = _offsets(client, timeout_s, partitions, OffsetSpec.for_timestamp(at_ms))
    return {key: None if offset < 0 else offset for key, offset in found.items()}


def _offsets(
    client: AdminClient,
    timeout_s: int,
    partitions: list[TopicPartition],
    spec: OffsetSpec,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    """The offsets of the partitions that answered. Raises the error if none did."""
    request = {ClientPartition(*key): spec for key in partitions}
    if not request:
        return {}
    found, failure = {}, None
    futures = client.list_offsets(request, request_timeout=timeout_s, isolation_level=isolation)
    for key, future in futures.items():
        try:
            found[key.topic, key.partition] = wait(future, timeout_s).offset
        except KafkaException as error:
            failure = error
    if failure is not None and not found:
        raise failure
    return found
