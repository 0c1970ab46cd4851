"""The ordinary Kafka client of the demo traffic: topics, a producer, settings shared by consumers.

librdkafka reconnects by itself; here its complaints are cut down to one line when the brokers are
away and one when they are back.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from monitoring.clock import now_ms
from stack.demo.health import Health
from stack.demo.shapes import Outgoing
from stack.demo.topics import Topic

log = logging.getLogger(__name__)

# One broker out of several is away: the client goes on with the others.
QUIET = (KafkaError._TRANSPORT, KafkaError._RESOLVE, KafkaError._TIMED_OUT)
QUEUE_RECORDS_MAX = 100_000
_SILENT = logging.getLogger("stack.demo.librdkafka")
_SILENT.disabled = True
_RETRY_S = 2.0


def base_config(bootstrap_servers: str, client_id: str) -> dict[str, Any]:
    """Settings of every client here."""
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": client_id,
        "logger": _SILENT,
        "log.connection.close": False,
        "reconnect.backoff.max.ms": 2_000,
        "topic.metadata.refresh.interval.ms": 60_000,
    }


def create_topics(bootstrap_servers: str, topics: Iterable[Topic], stop: threading.Event) -> None:
    """Create what is not there yet, however long the brokers take to answer."""
    wanted = {topic.name: topic for topic in topics}
    admin = AdminClient(base_config(bootstrap_servers, "demo-admin"))
    health = Health("creating topics")
    while wanted and not stop.is_set():
        new = [
            NewTopic(
                topic.name,
                num_partitions=topic.partitions,
                replication_factor=1,
                config=topic.config,
            )
            for topic in wanted.values()
        ]
        for name, future in admin.create_topics(new, request_timeout=5).items():
            try:
                future.result()
                log.info("created topic %s with %d partitions", name, wanted[name].partitions)
                del wanted[name]
            except KafkaException as error:
                if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                    del wanted[name]
                elif line := health.away(error.args[0].str(), now_ms()):
                    log.warning(line)
        if wanted:
            stop.wait(_RETRY_S)


class Sender:
    """A producer whose records are counted as they are acknowledged."""

    def __init__(self, bootstrap_servers: str, name: str) -> None:
        self.delivered = 0
        self.lost = 0
        self._health = Health(f"sending ({name})")
        self._producer = Producer(
            {
                **base_config(bootstrap_servers, name),
                "acks": "all",
                "linger.ms": 50,
                "compression.type": "lz4",
                "queue.buffering.max.messages": QUEUE_RECORDS_MAX,
                "error_cb": self._complain,
            }
        )

    def send(
        self, records: Iterable[Outgoing], settle: Callable[[bool], None] | None = None
    ) -> int:
        """Queue records; returns how many were taken. `settle` hears once whether all arrived."""
        batch = _Batch(settle)
        taken = 0
        for record in records:
            try:
                self._producer.produce(
                    record.topic, record.value, record.key, on_delivery=self._heard(batch)
                )
            except (BufferError, KafkaException):
                self.lost += 1
                batch.failed = True
                continue
            batch.outstanding += 1
            taken += 1
        batch.is_complete = True
        batch.check()
        return taken

    def poll(self) -> None:
        """Let acknowledgements be heard."""
        self._producer.poll(0)

    def close(self, timeout_s: float) -> None:
        """Wait for what is on its way, not longer than `timeout_s`."""
        self._producer.flush(timeout_s)

    def _heard(self, batch: "_Batch") -> Callable[[KafkaError | None, Message], None]:
        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error is None:
                self.delivered += 1
                if line := self._health.back(now_ms()):
                    log.info(line)
            else:
                self.lost += 1
                batch.failed = True
                self._complain(error)
            batch.outstanding -= 1
            batch.check()

        return on_delivery

    def _complain(self, error: KafkaError) -> None:
        if error.code() in QUIET:
            return
        if line := self._health.away(error.str(), now_ms()):
            log.warning(line)


class _Batch:
    """Records sent together, until the last of them is settled."""

    def __init__(self, settle: Callable[[bool], None] | None) -> None:
        self._settle = settle
        self.outstanding = 0
        self.failed = False
        self.is_complete = False

    def check(self) -> None:
        if self.is_complete and self.outstanding == 0 and self._settle is not None:
            settle, self._settle = self._settle, None
            settle(not self.failed)
