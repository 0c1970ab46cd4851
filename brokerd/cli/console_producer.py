"""`brokerd console-producer`: Kafka's kafka-console-producer.sh. A line is a record."""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from brokerd.cli import java_settings, librdkafka, signals
from brokerd.cli.client_tls import for_librdkafka
from brokerd.cli.numbers import int32, int64
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    has,
    read_properties,
    require,
    run,
    text_of,
)
from brokerd.cli.record_text import LineReader

_PARTITIONER = "murmur2_random"  # the same partition as Kafka's own clients choose
_SEPARATORS_BYTES = 1 << 20  # of a line that parses to a record of the longest kind
_IN_FLIGHT_S = 0.1
_METADATA_S = 1.0
_LEAST_RECORD_BYTES = 7
_ANY = -1  # librdkafka chooses
_MERGED = (
    ("linger.ms", "timeout", 1000),
    ("acks", "request-required-acks", -1),
    ("request.timeout.ms", "request-timeout-ms", 1500),
    ("retries", "message-send-max-retries", 3),
    ("retry.backoff.ms", "retry-backoff-ms", 100),
    ("send.buffer.bytes", "socket-buffer-size", 102_400),
    ("buffer.memory", "max-memory-bytes", 32 << 20),
    ("batch.size", "batch-size", 16_384),
    ("batch.size", "max-partition-memory-bytes", 16_384),
    ("metadata.max.age.ms", "metadata-expiry-ms", 300_000),
    ("max.block.ms", "max-block-ms", 60_000),
)
"""As ConsoleProducer.producerProps of 3.9 merges them."""


def console_producer(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("console-producer", "Send lines of standard input as records.")
    parser.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
    parser.option("broker-list", "The older name of --bootstrap-server.", "HOST:PORT,…")
    parser.option("topic", "REQUIRED: the topic.", "TOPIC")
    parser.flag("sync", "Wait for the answer to each record.")
    parser.optional("compression-codec", "gzip (without a value), snappy, lz4, zstd.", "CODEC")
    parser.option("batch-size", "Of a batch, in bytes.", "BYTES", int32)
    parser.option("max-partition-memory-bytes", "As --batch-size.", "BYTES", int32)
    parser.option("message-send-max-retries", "How often to try again.", "N", int32)
    parser.option("retry-backoff-ms", "Before another try.", "MS", int64)
    parser.option("timeout", "How long a batch waits for more.", "MS", int64)
    parser.option("request-required-acks", "all, 1 or 0.", "ACKS")
    parser.option("request-timeout-ms", "How long to wait for an answer.", "MS", int32)
    parser.option("metadata-expiry-ms", "When to ask for leaders again.", "MS", int64)
    parser.option("max-block-ms", "When to give a record up.", "MS", int64)
    parser.option("max-memory-bytes", "Taken and not needed.", "BYTES", int64)
    parser.option("socket-buffer-size", "Taken and not needed.", "BYTES", int32)
    parser.option("line-reader", "Kafka's LineMessageReader alone.", "CLASS")
    parser.option("property", "As parse.key=true, key.separator=:.", "K=V", many=True)
    parser.option("reader-config", "The same in a file.", "FILE")
    parser.option("producer-property", "A setting of the producer.", "K=V", many=True)
    parser.option("producer.config", "The same in a file.", "FILE")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    require(options, "topic")
    librdkafka.bootstrap(options)
    if has(options, "line-reader") and not options.line_reader.endswith("LineMessageReader"):
        raise CliError(f"{options.line_reader} is not built in; LineMessageReader is")
    properties = read_properties(options.reader_config)
    reader = LineReader(properties | librdkafka.pairs(options.property))
    from confluent_kafka import Producer

    settings = java_settings.producer(for_librdkafka(_settings(options)))
    ours = {"partitioner": _PARTITIONER}
    producer = librdkafka.make(Producer, options, ours, settings)
    sticky = settings.settings.get("partitioner", _PARTITIONER) == _PARTITIONER
    together = int(settings.settings["batch.size"]) if sticky else 0
    sender = _Sender(producer, options, _FirstBatch(producer, options.topic, together))
    most = int(settings.settings["message.max.bytes"]) + _SEPARATORS_BYTES
    prompt = sys.stdin.isatty() and sys.stdout.isatty()
    ending = signals.Ending()
    read = signals.Input(sys.stdin.fileno(), ending)
    try:
        for number, text in enumerate(lines(read, most, cut=lambda: ending.now, prompt=prompt), 1):
            if isinstance(text, LeftOut):
                sender.refuse(f"Line {number} {text.value.format(most)} and is left out")
            else:
                sender.send(reader.parse(text, number))
    finally:
        sender.flush()
    return ending.exit_code or int(sender.failed)


def _settings(options: Options) -> dict[str, str]:
    """By the names of Java's producer, which 3.9's tool merges in this order."""
    properties = librdkafka.read_settings(
        getattr(options, "producer.config"), options.producer_property
    )
    given = has(options, "compression-codec")  # goes before all other settings
    properties["compression.type"] = (
        text_of(options, "compression-codec") or "gzip" if given else "none"
    )
    return librdkafka.merged({"client.id": "console-producer"} | properties, options, _MERGED)


class LeftOut(Enum):
    """Why a line is no record."""

    TOO_LONG = "is longer than {} bytes"
    NOT_WHOLE = "had not come to its end"


def lines(
    read: Callable[[], bytes], most: int, *, cut: Callable[[], bool], prompt: bool = False
) -> Iterator[str | LeftOut]:
    """Lines without their ends, each of which is, as for Java, a LF, a CR or a CR with a LF; bytes
    that are no UTF-8 come through unchanged. `read` gives piece by piece and at last an empty one;
    whether the input was cut off there, `cut` says.

    One of more than `most` bytes is left out, and what else there is of it is passed over as it
    comes: no record is so long, and what comes from a pipe or a device may never end.
    """
    rest, passing, after_cr = b"", False, False
    while True:
        if prompt:
            print(">", end="", flush=True)
        piece = read()
        if not piece:
            break
        if after_cr:  # whose line has been handed out: it may be the last for long
            piece = piece.removeprefix(b"\n")
        after_cr = piece.endswith(b"\r")
        *whole, last = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for each in whole:
            line, rest = rest + each, b""
            if not passing:
                yield _line(line, most)
            passing = False
        if passing:
            continue
        rest += last
        if len(rest) > most:
            yield LeftOut.TOO_LONG
            rest, passing = b"", True
    if rest:
        yield LeftOut.NOT_WHOLE if cut() else _line(rest, most)


def _line(data: bytes, most: int) -> str | LeftOut:
    return LeftOut.TOO_LONG if len(data) > most else data.decode("utf-8", "surrogateescape")


class _FirstBatch:
    """Keeps the first records without keys in one partition, as many bytes as a batch holds.

    Java's producer does so with every batch (KIP-794). librdkafka's does, too, but not with what is
    queued before it has reached the leaders: all of a short input.
    """

    def __init__(self, producer: Any, topic: str, size_bytes: int) -> None:
        self._producer = producer
        self._topic = topic
        self._left_bytes = size_bytes
        self._chosen: int | None = None
        self._refusal: Any = None  # what the broker says of the topic

    def partition(self, line: Any) -> int:
        """Of this record."""
        if line.key is not None or self._left_bytes <= 0:
            return _ANY
        if self._chosen is None:
            led = self._led()
            self._chosen = random.choice(led) if led else _ANY
        self._left_bytes -= len(line.value or b"") + _LEAST_RECORD_BYTES
        return self._chosen

    def _led(self) -> list[int]:
        """The partitions that have a leader; none if no broker answers soon."""
        from confluent_kafka import KafkaException

        try:
            topics = self._producer.list_topics(self._topic, _METADATA_S).topics
        except KafkaException:
            return []
        topic = topics.get(self._topic)
        if topic is None:
            return []
        self._refusal = topic.error
        return [each.id for each in topic.partitions.values() if each.leader >= 0]

    def cause(self, error: Any) -> Any:
        """The broker's word where librdkafka only says that it does not know the topic."""
        from confluent_kafka import KafkaError

        return error if error.code() != KafkaError._UNKNOWN_TOPIC else self._refusal or error


class _Sender:
    """Sends and names what could not be sent."""

    def __init__(self, producer: Any, options: Options, first: _FirstBatch) -> None:
        self._producer = producer
        self._first = first
        self._topic = options.topic
        self._sync = options.sync
        self.failed = False

    def send(self, line: Any) -> None:
        """Raises CliError where the record cannot even be queued."""
        from confluent_kafka import KafkaException

        partition = self._first.partition(line)
        while True:
            try:
                self._producer.produce(
                    self._topic, line.value, line.key, partition, headers=line.headers,
                    on_delivery=self._done,
                )  # fmt: skip
                break
            except BufferError:  # too much is under way
                self._producer.poll(_IN_FLIGHT_S)
            except KafkaException as error:
                self._done(self._first.cause(error.args[0]), line)
                return
        if self._sync:
            self.flush()
        else:
            self._producer.poll(0)

    def refuse(self, why: str) -> None:
        """Names what is not even tried."""
        self.failed = True
        print(f"ERROR {why}", file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Waits for every answer; message.timeout.ms bounds it. In turns, so that a signal is
        heard meanwhile."""
        while self._producer.flush(_IN_FLIGHT_S):
            pass

    def _done(self, error: Any, message: Any) -> None:
        if error is None:
            return
        self.failed = True
        key, value = (each() if callable(each) else each for each in (message.key, message.value))
        print(
            f"ERROR Error when sending message to topic {self._topic} with key: {_size(key)},"
            f" value: {_size(value)} with error: {error.str()}",
            file=sys.stderr,
        )


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"
