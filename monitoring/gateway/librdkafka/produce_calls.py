"""Writes records with librdkafka. Runs only in a worker process (worker_process.py).

The producer is idempotent: what librdkafka sends again within one call is not written twice.
"""

import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import NotFound
from monitoring.gateway.librdkafka.error_mapping import gateway_error_of, raising_gateway_errors
from monitoring.gateway.producing import NewRecord, WriteOutcome

_BY_KEY = -1
_MESSAGE_BYTES_MAX = 16 << 20  # the broker decides which records are too large
# Errors after which a record may be in the log: when librdkafka gives up, it does not say
# whether the record was sent.
_OUTCOME_UNKNOWN = {
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._PURGE_INFLIGHT,
    KafkaError._PURGE_QUEUE,
    KafkaError._DESTROY,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
}


def write(
    settings: ClientSettings,
    topic: str,
    records: list[NewRecord],
    compression: str,
    timeout_s: float,
) -> list[WriteOutcome]:
    """Implements `Producing.write`."""
    with raising_gateway_errors():
        producer, partitions = open_producer(settings, topic, compression, timeout_s)
    return send(producer, topic, partitions, records, timeout_s)


def open_producer(
    settings: ClientSettings, topic: str, compression: str, timeout_s: float
) -> tuple[Producer, set[int]]:
    """A producer, and the partitions of its topic. Raises NotFound, or KafkaException."""
    producer = Producer(_properties(settings, compression, timeout_s))
    return producer, _partitions(producer, topic)


def send(
    producer: Producer,
    topic: str,
    partitions: set[int],
    records: list[NewRecord],
    timeout_s: float,
) -> list[WriteOutcome]:
    """Write records and wait for their outcomes."""
    unknown = WriteOutcome(error=_unknown_reason(why=None), is_unknown=True, retriable=True)
    outcomes = [unknown] * len(records)
    deadline = time.monotonic() + timeout_s
    for number, record in enumerate(records):
        if record.partition is not None and record.partition not in partitions:
            reason = Reason("no_partition", topic=topic, partition=record.partition)
            outcomes[number] = WriteOutcome(record.partition, error=reason)
            continue
        try:
            _send(producer, topic, record, _delivery_callback(outcomes, number), deadline)
        except KafkaException as error:  # librdkafka did not take it: it was not sent
            outcomes[number] = _failed_outcome(error.args[0], record.partition, is_sent=False)
    if producer.flush(max(0.0, deadline - time.monotonic())):
        producer.purge()
        producer.flush(request_timeouts.PURGE_S)
    return outcomes


def _properties(settings: ClientSettings, compression: str, timeout_s: float) -> dict[str, object]:
    return {
        **settings.librdkafka(),
        "client.id": "aerie-produce",
        "acks": "all",
        "enable.idempotence": True,
        "allow.auto.create.topics": False,
        "compression.type": compression,
        "partitioner": "murmur2_random",  # as Kafka's own clients
        "message.timeout.ms": int(timeout_s * 1000),
        "message.max.bytes": _MESSAGE_BYTES_MAX,
        "linger.ms": 2,
        "log_level": 0,
    }


def _partitions(producer: Producer, topic: str) -> set[int]:
    """The topic's partitions. Raises NotFound, or KafkaException."""
    found = producer.list_topics(topic, timeout=request_timeouts.TOPIC_METADATA_S).topics[topic]
    if found.error is not None:
        raise gateway_error_of(found.error)
    if not found.partitions:
        raise NotFound(Reason("topic_not_on_cluster", topic=topic))
    return set(found.partitions)


def _send(
    producer: Producer,
    topic: str,
    record: NewRecord,
    on_delivery: Callable[[KafkaError | None, Message], None],
    deadline: float,
) -> None:
    """Hand a record to librdkafka; if its queue is full, wait until the deadline."""
    while True:
        try:
            producer.produce(
                topic,
                record.value,
                record.key,
                _BY_KEY if record.partition is None else record.partition,
                on_delivery=on_delivery,
                timestamp=record.timestamp_ms or 0,  # 0 = now
                headers=list(record.headers),
            )
        except BufferError:
            if time.monotonic() > deadline:
                raise KafkaException(KafkaError(KafkaError._QUEUE_FULL)) from None
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _delivery_callback(
    outcomes: list[WriteOutcome], number: int
) -> Callable[[KafkaError | None, Message], None]:
    """The callback that stores the outcome of a record in `outcomes`."""

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is not None:
            outcomes[number] = _failed_outcome(error, partition)
        else:
            outcomes[number] = WriteOutcome(partition or 0, offset)

    return on_delivery


def _failed_outcome(
    error: KafkaError, partition: int | None, *, is_sent: bool = True
) -> WriteOutcome:
    is_unknown = is_sent and error.code() in _OUTCOME_UNKNOWN
    mapped = gateway_error_of(error)
    text = _unknown_reason(error.str()) if is_unknown else mapped.message
    number = -1 if partition is None else partition
    retriable = error.retriable() or mapped.retriable
    return WriteOutcome(number, error=text, is_unknown=is_unknown, retriable=retriable)


def _unknown_reason(why: str | None) -> Reason:
    """`why`: the error of the cluster; None = there was no answer in time."""
    if why is None:
        return Reason("record_unknown", why=Reason("timed_out"))
    return Reason("record_unknown", why=Reason("cluster_says", text=why))
