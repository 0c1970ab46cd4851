"""The loads that write."""

import random
import urllib.request
from functools import lru_cache
from threading import Event, Thread

from bench import raw, rdkafka, topics
from bench.measured import WRITTEN_MAX, Clock, Load, Measured
from bench.servers import Server
from brokerd.protocol.compression import Codec

FLUSH_TIMEOUT_S = 120
FIRST_ROUNDS = 3
SMALL_RECORD_BYTES = 100
CONNECTIONS = 32
SCRAPE_INTERVAL_S = 1.0


def with_librdkafka(
    record_bytes: int = topics.RECORD_BYTES, partitions: int = 1, **settings: object
) -> Load:
    """One librdkafka producer with acks=1 and its defaults but for `settings`, as fast as it can.

    Time runs from after the first deliveries to the last one's acknowledgement. First means until
    each partition has an index entry: Kafka maps its index files, which are 10 MB of holes, and its
    first write to one has the system read ahead of it, 8 MiB on some machines, which takes 10 ms.
    """

    def load(server: Server, seconds: float) -> Measured:
        with topics.passing(server, "produce", partitions) as topic:
            whole: dict[str, object] = {
                "bootstrap.servers": server.address, "acks": 1,
                "queue.buffering.max.kbytes": 1 << 20, **settings,
            }  # fmt: skip
            values = [b"x" * record_bytes]
            with rdkafka.producer(whole, topic, values, partitions) as producer:
                for _ in range(FIRST_ROUNDS):
                    producer.send()
                    producer.flush(FLUSH_TIMEOUT_S)
                clock = Clock(server)
                sent = 0
                while clock.seconds < seconds and sent * record_bytes < WRITTEN_MAX:
                    sent += producer.send()
                producer.flush(FLUSH_TIMEOUT_S)
                return clock.bytes(sent * record_bytes)

    return load


def batches(records: int, in_flight: int, codec: Codec = Codec.NONE) -> Load:
    """Ready-made batches of 1 KiB records on one connection; MB/s are of the records as they are
    before compression. Compressed ones hold words, which shrink to about a third."""

    def load(server: Server, seconds: float) -> Measured:
        batch = raw.batch(records, topics.RECORD_BYTES, codec, _texts() if codec else ())
        size = records * topics.RECORD_BYTES
        with topics.passing(server, "batches") as topic:
            frame = raw.produce_frame(topic, batch)
            connection = raw.RawConnection(server.port)
            try:
                clock, answered = _pipeline(
                    server, connection, frame, records, seconds, in_flight, WRITTEN_MAX / len(frame)
                )
                return clock.bytes(answered * size)
            finally:
                connection.close()

    return load


def _pipeline(
    server: Server,
    connection: raw.RawConnection,
    frame: bytes,
    records: int,
    seconds: float,
    in_flight: int,
    most: float,
) -> tuple[Clock, int]:
    response = connection.ask(frame)
    before = raw.check_produced(response)
    clock = Clock(server)
    answered = connection.pipeline(frame, len(response) + 4, seconds, in_flight, most)
    clock.stop()
    _check_end(connection, frame, before + (answered + 1) * records)
    return clock, answered


def _check_end(connection: raw.RawConnection, frame: bytes, expected_offset: int) -> None:
    offset = raw.check_produced(connection.ask(frame))
    if offset != expected_offset:
        raise RuntimeError(f"the log is at {offset} instead of {expected_offset}: lost or refused")


def small_pipelined(server: Server, seconds: float) -> Measured:
    """One 100 B record a request, one connection, 64 requests in flight."""
    with topics.passing(server, "small") as topic:
        frame = raw.produce_frame(topic, raw.batch(1, SMALL_RECORD_BYTES))
        connection = raw.RawConnection(server.port)
        try:
            clock, answered = _pipeline(server, connection, frame, 1, seconds, 64, 1e9)
            return clock.requests(answered)
        finally:
            connection.close()


def small_from_many(server: Server, seconds: float) -> Measured:
    """One 100 B record a request, 32 connections that each wait for their answer."""
    with topics.passing(server, "many") as topic:
        frame = raw.produce_frame(topic, raw.batch(1, SMALL_RECORD_BYTES))
        connections = [raw.RawConnection(server.port) for _ in range(CONNECTIONS)]
        try:
            responses = [each.ask(frame) for each in connections]
            before = raw.check_produced(responses[-1])
            clock = Clock(server)
            size = len(responses[0]) + 4
            answered = raw.one_in_flight_each(connections, frame, size, seconds)
            clock.stop()
            _check_end(connections[0], frame, before + answered + 1)
            return clock.requests(answered)
        finally:
            for each in connections:
                each.close()


def while_scraped(load: Load) -> Load:
    """A load while something reads /metrics each second, as Prometheus does less often."""

    def scraped(server: Server, seconds: float) -> Measured:
        ended = Event()
        request = server.metrics_request()
        problems: list[Exception] = []

        def scrape() -> None:
            try:
                while not ended.wait(SCRAPE_INTERVAL_S):
                    with urllib.request.urlopen(request, timeout=10) as answer:
                        answer.read()
            except Exception as error:
                problems.append(error)

        thread = Thread(target=scrape, daemon=True)
        thread.start()
        try:
            measured = load(server, seconds)
        finally:
            ended.set()
            thread.join()
        if problems:
            raise RuntimeError(f"/metrics could not be read: {problems[0]}")
        return measured

    return scraped


@lru_cache
def _texts() -> list[bytes]:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(2000)]
    texts = (" ".join(chance.choices(words, k=400)).encode() for _ in range(topics.BATCH_RECORDS))
    return [text[: topics.RECORD_BYTES] for text in texts]
