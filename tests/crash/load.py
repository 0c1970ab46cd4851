"""A producer under way while brokers die: numbers sent, what was acknowledged, what is there."""

import threading
import time
from collections import Counter
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as Place

from tests.support.waiting import wait_until

IN_FLIGHT_MAX = 5_000


class Load:
    """Sends 0, 1, 2 … from a thread until `finish`; `acked` maps (partition, offset) to a number.

    Settings are librdkafka's. Every number is retried by the client until it is acknowledged.
    """

    def __init__(self, bootstrap: str, topic: str, **settings: Any) -> None:
        self.bootstrap, self.topic = bootstrap, topic
        self.acked: dict[tuple[int, int], int] = {}
        self.acked_twice: list[tuple[int, int]] = []
        self.failed: list[str] = []
        self.sent = 0
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "linger.ms": 2,
                "message.timeout.ms": 60_000,
                "retry.backoff.ms": 20,
                "retry.backoff.max.ms": 200,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "topic.metadata.refresh.interval.ms": 1_000,
                **settings,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load")
        self._thread.start()

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(60)

    def _run(self) -> None:
        while not self._stop.is_set():
            for _ in range(20):
                self._producer.produce(
                    self.topic, str(self.sent), partition=self.sent % 4, callback=self._delivered
                )
                self.sent += 1
            self._producer.poll(0.002)
            while len(self._producer) > IN_FLIGHT_MAX and not self._stop.is_set():
                self._producer.poll(0.05)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        place = message.partition(), message.offset()
        if place in self.acked:
            self.acked_twice.append(place)
        self.acked[place] = int(message.value())

    def wait_for(self, more: int) -> None:
        """Until that many more numbers are acknowledged."""
        aim = len(self.acked) + more
        wait_until(lambda: len(self.acked) >= aim, f"{more} more numbers are acknowledged")

    def finish(self) -> None:
        """Stop sending and wait for every acknowledgement."""
        self._stop.set()
        self._thread.join(60)
        assert self._producer.flush(60) == 0
        assert self.failed == []


def read_back(bootstrap: str, topic: str, partitions: int = 4) -> dict[tuple[int, int], int]:
    """Every record of the topic: number by (partition, offset)."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "read-back", "enable.partition.eof": True}
    )
    consumer.assign([Place(topic, index, OFFSET_BEGINNING) for index in range(partitions)])
    found: dict[tuple[int, int], int] = {}
    at_end: set[int] = set()
    deadline = time.monotonic() + 60
    while len(at_end) < partitions:
        assert time.monotonic() < deadline, "the records cannot be read to the end"
        for message in consumer.consume(1_000, 0.1):
            error = message.error()
            if error is None:
                place = message.partition(), message.offset()
                assert place not in found, "a record is read once"
                found[place] = int(message.value())
            elif error.code() == KafkaError._PARTITION_EOF:
                at_end.add(message.partition())
    consumer.close()
    return found


def missing(load: Load, found: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    """What was acknowledged and is not (or not as sent) where the acknowledgement said."""
    return {place: n for place, n in load.acked.items() if found.get(place) != n}


def repeated(found: dict[tuple[int, int], int]) -> list[int]:
    """Numbers that are there more than once."""
    return [number for number, count in Counter(found.values()).items() if count > 1]
