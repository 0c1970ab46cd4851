"""The loads that read."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from select import select

from bench import raw, rdkafka, topics
from bench.measured import Clock, Load, Measured
from bench.servers import Server

FILLED_BYTES = 1_000_000_000
COLD_BYTES = 4_000_000_000
COLD_SECONDS_MAX = 15
FETCH_BYTES = 1 << 20
SMALL_FETCH_BYTES = 1000
READ_TIMEOUT_S = 30
GROUP_PARTITIONS = 100
GROUP_MEMBERS = 8
PRODUCE_INTERVAL_S = 0.001
PERCENTILE = 0.99


def consume(server: Server, seconds: float) -> Measured:
    """One librdkafka consumer reads a topic of 1 GB from its start, again and again.

    Its default sleeps for a second when its queue is full, which hid the brokers: here it looks
    again after 1 ms.
    """
    settings = {"bootstrap.servers": server.address, "fetch.queue.backoff.ms": 1}
    topic = topics.filled(server, "consume", FILLED_BYTES)
    with rdkafka.consumer(settings, topic) as consumer:
        consumer.start()
        in_pass = consumer.read(READ_TIMEOUT_S)
        clock = Clock(server)
        size = 0
        while clock.seconds < seconds:
            found = consumer.read(1.0)
            size += found * topics.RECORD_BYTES
            in_pass += found
            if in_pass * topics.RECORD_BYTES >= FILLED_BYTES:
                consumer.stop()
                consumer.start()
                in_pass = 0
        return clock.bytes(size)


def group(server: Server, seconds: float) -> Measured:
    """Eight librdkafka consumers of one group share 100 partitions of 1 GB in all, from the start
    again and again. Joining is not measured."""
    topic = topics.filled(server, "group", FILLED_BYTES, GROUP_PARTITIONS)
    settings: dict[str, object] = {
        "bootstrap.servers": server.address,
        "group.id": f"bench-{time.time_ns()}",
        "fetch.queue.backoff.ms": 1,
        "heartbeat.interval.ms": 300,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
    }
    with rdkafka.group(settings, GROUP_MEMBERS) as members:
        members.join(topic, GROUP_PARTITIONS)
        members.rewind()
        clock = Clock(server)
        size = in_pass = 0
        last_found = time.monotonic()
        while clock.seconds < seconds:
            found = members.read() * topics.RECORD_BYTES
            size += found
            in_pass += found
            if found:
                last_found = time.monotonic()
            elif time.monotonic() > last_found + READ_TIMEOUT_S:
                raise RuntimeError("the group reads nothing more")
            if in_pass >= FILLED_BYTES:
                members.rewind()
                in_pass = 0
        return clock.bytes(size)


def fetches(max_bytes: int, in_flight: int) -> Load:
    """Ready-made fetches from the start of a log; MB/s, or requests a second for small ones."""

    def load(server: Server, seconds: float) -> Measured:
        small = max_bytes < topics.BATCH_RECORD_BYTES
        if small:
            topic = topics.filled_small(server)
        else:
            topic = topics.filled(server, "consume", FILLED_BYTES)
        frame = raw.fetch_frame(topic, max_bytes)
        connection = raw.RawConnection(server.port)
        try:
            response = connection.ask(frame)
            raw.check_fetched(response, max_bytes // 2)
            size = len(response) + 4
            clock = Clock(server)
            answered = connection.pipeline(frame, size, seconds, in_flight, 1e9)
            return clock.requests(answered) if small else clock.bytes(answered * size)
        finally:
            connection.close()

    return load


def cold_reader_beside_producer(server: Server, seconds: float) -> Measured:
    """p99 in ms of Produces of one 1 KiB record, acks=1, sent each millisecond, while another
    connection reads 4 GB that are on the disk only, 4 MiB ahead (or as much as 15 s bring).

    The CPU time is for each GiB read. The reader is a process of its own: as a thread it would keep
    the producer waiting for the interpreter, the more so the faster it is served.
    """
    topic = topics.filled(server, "cold", COLD_BYTES)
    topics.drop_from_page_cache(server, topic)
    with topics.passing(server, "beside") as beside, _reader() as reader:
        frame = raw.produce_frame(beside, raw.batch(1, topics.RECORD_BYTES))
        connection = raw.RawConnection(server.port)
        try:
            raw.check_produced(connection.ask(frame))
            clock = Clock(server)
            reading = reader.submit(_read_once, server.port, topic)
            times = produce_until(reading, connection, frame)
            cpu = clock.bytes(reading.result()).cpu
        finally:
            connection.close()
    times.sort()
    return Measured(times[int(len(times) * PERCENTILE)] * 1000, cpu)


@contextmanager
def _reader() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        processes.submit(int).result()  # it has started
        yield processes


def _read_once(port: int, topic: str) -> int:
    """Reads the topic from its start; how many bytes."""
    total = -(-COLD_BYTES // topics.BATCH_RECORD_BYTES)
    frames = [
        raw.fetch_frame(topic, FETCH_BYTES, number * topics.BATCH_RECORDS)
        for number in range(total)
    ]
    connection = raw.RawConnection(port)
    try:
        raw.check_fetched(connection.ask(frames[0]), topics.BATCH_RECORD_BYTES)
        return connection.each(frames[1:], 4, time.perf_counter() + COLD_SECONDS_MAX)
    finally:
        connection.close()


def produce_until(
    reading: "Future[int]", connection: raw.RawConnection, frame: bytes
) -> list[float]:
    """Seconds that each Produce took. One is sent each PRODUCE_INTERVAL_S, however many answers are
    still to come; what this process is late by itself is not counted."""
    size = len(connection.ask(frame)) + 4
    times: list[float] = []
    sent_times: deque[float] = deque()
    due = time.perf_counter()
    rest = size
    while sent_times or not reading.done():
        now = time.perf_counter()
        if now >= due and not reading.done():
            sent_times.append(now)
            connection.socket.sendall(frame)
            due += PRODUCE_INTERVAL_S
            continue
        wait_s = max(due - now, 0) if not reading.done() else raw.TIMEOUT_S
        if not select([connection.socket], [], [], wait_s)[0]:
            continue
        rest -= len(connection.socket.recv(rest))
        if rest == 0:
            times.append(time.perf_counter() - sent_times.popleft())
            rest = size
    return times
