"""Members of consumer groups, each a real client in a thread (or a process that can be killed).

A member polls all the time and notes what it is assigned and what it receives, whichever client
library it is made of: confluent-kafka, kafka-python or aiokafka.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from kafka import KafkaConsumer
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.support.waiting import WAIT_S, wait_until

SESSION_TIMEOUT_MS = 3_000
HEARTBEAT_MS = 100
ROOT = Path(__file__).parent.parent.parent


class Received(NamedTuple):
    partition: int
    offset: int
    value: bytes


class Member:
    """The part that all clients share; every client call is made in the member's thread."""

    def __init__(self, bootstrap: str, group: str, topic: str, **options: Any) -> None:
        self.bootstrap, self.group, self.topic = bootstrap, group, topic
        self.options = options
        self.assigned: frozenset[int] = frozenset()
        self.received: list[Received] = []
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"member of {group}")
        self._thread.start()

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit, leave the group and end."""
        self._stop.set()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive(), "the member does not end"

    def owns(self, count: int) -> frozenset[int]:
        """Wait until that many partitions are assigned to this member."""
        wait_until(lambda: self._sound() and len(self.assigned) == count, f"it owns {count}")
        return self.assigned

    def got(self, count: int) -> list[Received]:
        """Wait until that many records were received."""
        wait_until(lambda: self._sound() and len(self.received) >= count, f"it got {count}")
        return self.received

    def _sound(self) -> bool:
        if self.failure is not None:
            raise AssertionError("the member failed") from self.failure
        return True

    def _run(self) -> None:
        try:
            self._consume()
        except BaseException as error:
            self.failure = error

    def _consume(self) -> None:
        raise NotImplementedError


class ConfluentMember(Member):
    """librdkafka; `options` are its settings."""

    rebalances = 0

    def _consume(self) -> None:
        self.revoked: list[frozenset[int]] = []
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.group,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": HEARTBEAT_MS,
                "topic.metadata.refresh.interval.ms": 1000,
                "reconnect.backoff.max.ms": 200,
                **self.options,
            }
        )
        consumer.subscribe([self.topic], on_assign=self._on_assign, on_revoke=self._on_revoke)
        try:
            while not self._stop.is_set():
                for message in consumer.consume(500, 0.05):
                    error = message.error()
                    if error is not None and error.code() == KafkaError._FATAL:
                        raise KafkaException(error)
                    if error is None:
                        record = Received(message.partition(), message.offset(), message.value())
                        self.received.append(record)
                self.assigned = frozenset(each.partition for each in consumer.assignment())
        finally:
            consumer.close()

    def _on_assign(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self.rebalances += 1

    def _on_revoke(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.revoked.append(frozenset(each.partition for each in partitions))


class KafkaPythonMember(Member):
    """kafka-python; `options` are KafkaConsumer's arguments.

    Its polls are long: version 3.0 may forget a join that outlasts the poll it began in.
    """

    def _consume(self) -> None:
        consumer = KafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            partition_assignment_strategy=[RangePartitionAssignor],
            **self.options,
        )
        try:
            while not self._stop.is_set():
                for records in consumer.poll(timeout_ms=1_000).values():
                    self.received += [Received(r.partition, r.offset, r.value) for r in records]
                self.assigned = frozenset(each.partition for each in consumer.assignment())
        finally:
            consumer.close()


class AiokafkaMember(Member):
    """aiokafka; `options` are AIOKafkaConsumer's arguments."""

    def _consume(self) -> None:
        asyncio.run(self._consume_async())

    async def _consume_async(self) -> None:
        consumer = AIOKafkaConsumer(
            self.topic,
            bootstrap_servers=self.bootstrap,
            group_id=self.group,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            partition_assignment_strategy=[AioRange],
            **self.options,
        )
        await consumer.start()
        try:
            while not self._stop.is_set():
                for records in (await consumer.getmany(timeout_ms=50)).values():
                    self.received += [Received(r.partition, r.offset, r.value) for r in records]
                self.assigned = frozenset(each.partition for each in consumer.assignment())
        finally:
            await consumer.stop()


class MemberProcess:
    """A confluent-kafka member in a process of its own, to be killed without a word."""

    def __init__(self, bootstrap: str, group: str, topic: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.group_members", bootstrap, group, topic],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def wait_for_partitions(self) -> None:
        """Returns once it says that it owns some."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith(b"owns ")

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _main(bootstrap: str, group: str, topic: str) -> None:
    member = ConfluentMember(bootstrap, group, topic)
    wait_until(lambda: member.assigned, "it owns a partition")
    print("owns", sorted(member.assigned))
    threading.Event().wait()


if __name__ == "__main__":
    _main(*sys.argv[1:])
