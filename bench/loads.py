"""The loads: each drives one server for some seconds and says how fast it was and what it cost."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench import raw, rdkafka
from bench.servers import Server

TIMEOUT_S = 60
MB = 1_000_000
RECORD_BYTES = 1024
_numbers = count()


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate, and the server's CPU time for each unit of `cpu_per`."""

    rate: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Load:
    """`run(server, seconds)` measures once. `unit` is the rate's, `cpu_unit` the cost's."""

    name: str
    unit: str
    cpu_unit: str
    run: Callable[[Server, float], Measured]


def create_topic(server: Server, prefix: str) -> str:
    """A fresh topic with one partition."""
    name = f"{prefix}-{next(_numbers)}"
    admin = AdminClient({"bootstrap.servers": server.address})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(TIMEOUT_S)
    return name


@contextmanager
def passing_topic(server: Server, prefix: str) -> Iterator[str]:
    """A topic that goes with its files, so that no load pays for what another one wrote."""
    name = create_topic(server, prefix)
    yield name
    admin = AdminClient({"bootstrap.servers": server.address})
    admin.delete_topics([name])[name].result(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    while any(server.logs.glob(f"{name}-*")):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{server.name} did not remove the files of {name}")
        time.sleep(0.1)


def _per_gib(server: Server, cpu_before: float, size: int) -> float:
    return (server.cpu_seconds() - cpu_before) / (size / (1 << 30))


def produce(server: Server, seconds: float) -> Measured:
    """librdkafka, 1 KiB records, acks=1, its own batching."""
    with passing_topic(server, "produce") as topic:
        return produce_to(server, seconds, topic)


def produce_to(server: Server, seconds: float, topic: str, **settings: object) -> Measured:
    """The same to a topic that is there; `settings` are librdkafka's."""
    settings = {
        "bootstrap.servers": server.address,
        "acks": 1,
        "queue.buffering.max.messages": 200_000,
        "queue.buffering.max.kbytes": 1 << 20,
        **settings,
    }
    with rdkafka.producer(settings, topic, b"x" * RECORD_BYTES) as producer:
        producer.send()
        producer.flush(TIMEOUT_S)
        cpu_before = server.cpu_seconds()
        start = time.perf_counter()
        sent = 0
        while time.perf_counter() - start < seconds:
            sent += producer.send()
        producer.flush(TIMEOUT_S)
    size = sent * RECORD_BYTES
    rate = size / (time.perf_counter() - start) / MB
    return Measured(rate, _per_gib(server, cpu_before, size))


def consume(server: Server, seconds: float) -> Measured:
    """librdkafka, 1 KiB records of a topic filled before, from its start, again and again."""
    # librdkafka's default sleeps for a second when its queue is full: measured, it hid the brokers.
    settings = {"bootstrap.servers": server.address, "fetch.queue.backoff.ms": 1}
    with rdkafka.consumer(settings, _filled(server)) as consumer:
        consumer.start()
        in_pass = consumer.read(TIMEOUT_S)
        cpu_before = server.cpu_seconds()
        start = time.perf_counter()
        size = 0
        while (took := time.perf_counter() - start) < seconds:
            found = consumer.read(1.0)
            size += found * RECORD_BYTES
            in_pass += found
            if in_pass >= _FILLED_RECORDS:
                consumer.stop()
                consumer.start()
                in_pass = 0
    return Measured(size / took / MB, _per_gib(server, cpu_before, size))


_FILLED_RECORDS = 1_000_000
_filled_topics: dict[str, str] = {}


def _filled(server: Server) -> str:
    """A topic with about 1 GB of 1 KiB records in batches of about 1 MB."""
    if server.name not in _filled_topics:
        topic = create_topic(server, "consume")
        connection = raw.RawConnection(server.port)
        frame = raw.produce_frame(topic, 950, RECORD_BYTES)
        try:
            for _ in range(_FILLED_RECORDS // 950 + 1):
                raw.check_produced(connection.ask(frame))
        finally:
            connection.close()
        _filled_topics[server.name] = topic
    return _filled_topics[server.name]


def small_requests(server: Server, seconds: float) -> Measured:
    """Raw: one 100 B record a request, one connection, 64 in flight."""
    with passing_topic(server, "small") as topic:
        return _pipeline(server, raw.produce_frame(topic, 1, 100), seconds, 64, check=True)


def raw_produce(server: Server, seconds: float) -> Measured:
    """Raw: batches of about 1 MB of 1 KiB records, four in flight."""
    with passing_topic(server, "bulk") as topic:
        frame = raw.produce_frame(topic, 950, RECORD_BYTES)
        measured = _pipeline(server, frame, seconds, 4, check=True)
    return Measured(measured.rate * len(frame) / MB, measured.cpu / 1e6 * (1 << 30) / len(frame))


def raw_fetch(server: Server, seconds: float) -> Measured:
    """Raw: fetches of 1 MiB from the start of a log, four in flight."""
    frame = raw.fetch_frame(_filled(server), 1 << 20)
    connection = raw.RawConnection(server.port)
    try:
        size = len(connection.ask(frame)) + 4
    finally:
        connection.close()
    measured = _pipeline(server, frame, seconds, 4, check=False)
    return Measured(measured.rate * size / MB, measured.cpu / 1e6 * (1 << 30) / size)


def _pipeline(
    server: Server, frame: bytes, seconds: float, in_flight: int, *, check: bool
) -> Measured:
    """Requests per second and CPU microseconds per request."""
    connection = raw.RawConnection(server.port)
    try:
        response = connection.ask(frame)
        if check:
            raw.check_produced(response)
        cpu_before = server.cpu_seconds()
        start = time.perf_counter()
        answered = connection.pipeline(frame, len(response) + 4, seconds, in_flight)
        took = time.perf_counter() - start
        cpu = (server.cpu_seconds() - cpu_before) / answered
        return Measured(answered / took, cpu * 1e6)
    finally:
        connection.close()


LOADS = (
    Load("produce 1 KiB, librdkafka, default batching, acks=1", "MB/s", "CPU-s/GiB", produce),
    Load("produce 1 KiB in 1 MB batches, raw, 4 in flight", "MB/s", "CPU-s/GiB", raw_produce),
    Load("consume 1 KiB, librdkafka", "MB/s", "CPU-s/GiB", consume),
    Load("fetch of 1 MiB, raw, 4 in flight", "MB/s", "CPU-s/GiB", raw_fetch),
    Load("one 100 B record a request, raw, 64 in flight", "req/s", "CPU-µs/req", small_requests),
)
