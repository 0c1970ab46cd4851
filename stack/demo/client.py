"""The Kafka client of the demo traffic: creates topics, produces, and configures consumers.

librdkafka reconnects by itself. Its many error lines are reduced to two: one when the brokers
become unreachable and one when they are back.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from monitoring.clock import now_ms
from stack.demo.outages import OutageLog
from stack.demo.records import OutgoingRecord
from stack.demo.topics import Topic

log = logging.getLogger(__name__)

# One of several brokers is unreachable: the client uses the others.
IGNORED_ERRORS = (KafkaError._TRANSPORT, KafkaError._RESOLVE, KafkaError._TIMED_OUT)
QUEUE_RECORDS_MAX = 100_000
_DISABLED_LOGGER = logging.getLogger("stack.demo.librdkafka")
_DISABLED_LOGGER.disabled = True
_RETRY_S = 2.0


def base_config(bootstrap_servers: str, client_id: str) -> dict[str, Any]:
    """The settings that all clients share."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": client_id,
        "logger": _DISABLED_LOGGER,
        "log.connection.close": False,
        "reconnect.backoff.max.ms": 2_000,
        "topic.metadata.refresh.interval.ms": 60_000,
    }


def create_topics(bootstrap_servers: str, topics: Iterable[Topic], stop: threading.Event) -> None:
    """Create missing topics; retry until the brokers answer."""
    missing = {topic.name: topic for topic in topics}
    admin = AdminClient(base_config(bootstrap_servers, "demo-admin"))
    outage_log = OutageLog("creating topics")
    while missing and not stop.is_set():
        new = [
            NewTopic(
                topic.name,
                num_partitions=topic.partitions,
                replication_factor=1,
                config=topic.config,
            )
            for topic in missing.values()
        ]
        for name, future in admin.create_topics(new, request_timeout=5).items():
            try:
                future.result()
                log.info("created topic %s with %d partitions", name, missing[name].partitions)
                del missing[name]
            except KafkaException as error:
                if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                    del missing[name]
                elif line := outage_log.report_down(error.args[0].str(), now_ms()):
                    log.warning(line)
        if missing:
            stop.wait(_RETRY_S)


class Sender:
    """A producer that counts acknowledged records."""

    def __init__(self, bootstrap_servers: str, name: str) -> None:
        self.delivered = 0
        self.lost = 0
        self._outage_log = OutageLog(f"sending ({name})")
        self._producer = Producer(
            {
                **base_config(bootstrap_servers, name),
                "acks": "all",
                "linger.ms": 50,
                "compression.type": "lz4",
                "queue.buffering.max.messages": QUEUE_RECORDS_MAX,
                "error_cb": self._on_error,
            }
        )

    def send(
        self,
        records: Iterable[OutgoingRecord],
        finish_delivery: Callable[[bool], None] | None = None,
    ) -> int:
        """Queue records; returns how many were queued.

        When the last record was acknowledged or has failed, `finish_delivery` is called once, with
        True if all were acknowledged.
        """
        batch = _Batch(finish_delivery)
        queued = 0
        for record in records:
            try:
                self._producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    on_delivery=self._delivery_callback(batch),
                )
            except (BufferError, KafkaException):
                self.lost += 1
                batch.failed = True
                continue
            batch.outstanding += 1
            queued += 1
        batch.is_all_queued = True
        batch.finish_if_done()
        return queued

    def poll(self) -> None:
        """Run the callbacks of acknowledged records."""
        self._producer.poll(0)

    def close(self, timeout_s: float) -> None:
        """Wait for outstanding acknowledgements, at most `timeout_s`."""
        self._producer.flush(timeout_s)

    def _delivery_callback(self, batch: "_Batch") -> Callable[[KafkaError | None, Message], None]:
        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error is None:
                self.delivered += 1
                if line := self._outage_log.report_up(now_ms()):
                    log.info(line)
            else:
                self.lost += 1
                batch.failed = True
                self._on_error(error)
            batch.outstanding -= 1
            batch.finish_if_done()

        return on_delivery

    def _on_error(self, error: KafkaError) -> None:
        if error.code() in IGNORED_ERRORS:
            return
        if line := self._outage_log.report_down(error.str(), now_ms()):
            log.warning(line)


class _Batch:
    """The records of one `send`. Calls `finish_delivery` when the last is acknowledged or has
    failed."""

    def __init__(self, finish_delivery: Callable[[bool], None] | None) -> None:
        self._finish_delivery = finish_delivery
        self.outstanding = 0
        self.failed = False
        self.is_all_queued = False

    def finish_if_done(self) -> None:
        if self.is_all_queued and self.outstanding == 0 and self._finish_delivery is not None:
            finish_delivery, self._finish_delivery = self._finish_delivery, None  # only once
            finish_delivery(not self.failed)
