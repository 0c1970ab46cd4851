"""`brokerd console-producer`: Kafka's kafka-console-producer.sh. A line is a record."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, TextIO

from confluent_kafka import KafkaException, Producer

from brokerd.cli import java_settings, librdkafka
from brokerd.cli.client_tls import for_librdkafka
from brokerd.cli.options import CliError, OptionParser, Options, int32, int64, read_properties, run
from brokerd.cli.record_text import InputRecord, LineReader
from brokerd.cli.signals import StoppedBySignal, raise_on_signal

_PARTITIONER = "murmur2_random"  # the same partition as Kafka's own clients choose
_LINE_OVERHEAD_CHARS = 1 << 20  # a line may have so many besides the bytes of its record
_POLL_S = 0.1
_METADATA_S = 1.0
_MERGED = (
    ("linger.ms", "timeout", 1000),
    ("acks", "request-required-acks", -1),
    ("request.timeout.ms", "request-timeout-ms", 1500),
    ("retries", "message-send-max-retries", 3),
    ("retry.backoff.ms", "retry-backoff-ms", 100),
    ("batch.size", "batch-size", 16_384),
    ("batch.size", "max-partition-memory-bytes", 16_384),
    ("metadata.max.age.ms", "metadata-expiry-ms", 300_000),
    ("max.block.ms", "max-block-ms", 60_000),
)
"""As ConsoleProducer.producerProps of 3.9 merges them."""


def console_producer(arguments: Sequence[str]) -> int:
    parser = OptionParser("console-producer", "Send lines of standard input as records.")
    parser.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
    parser.option("broker-list", "The older name of --bootstrap-server.", "HOST:PORT,…")
    parser.option("topic", "REQUIRED: the topic.", "TOPIC")
    parser.flag("sync", "Wait for the answer to each record.")
    parser.optional("compression-codec", "gzip (without a value), snappy, lz4, zstd.", "CODEC")
    parser.option("batch-size", "The largest size of a batch.", "BYTES", int32)
    parser.option("max-partition-memory-bytes", "As --batch-size.", "BYTES", int32)
    parser.option("message-send-max-retries", "How often to try again.", "N", int32)
    parser.option("retry-backoff-ms", "How long to wait before another try.", "MS", int64)
    parser.option("timeout", "How long a batch waits for more.", "MS", int64)
    parser.option("request-required-acks", "all, 1 or 0.", "ACKS")
    parser.option("request-timeout-ms", "How long to wait for an answer.", "MS", int32)
    parser.option("metadata-expiry-ms", "How often to ask for the leaders.", "MS", int64)
    parser.option("max-block-ms", "After how long a record is given up.", "MS", int64)
    parser.option("max-memory-bytes", "Accepted and ignored.", "BYTES", int64)
    parser.option("socket-buffer-size", "Accepted and ignored.", "BYTES", int32)
    parser.option("line-reader", "Only Kafka's LineMessageReader.", "CLASS")
    parser.option("property", "As parse.key=true, key.separator=:.", "K=V", many=True)
    parser.option("reader-config", "The same in a file.", "FILE")
    parser.option("producer-property", "A setting of the producer.", "K=V", many=True)
    parser.option("producer.config", "The same in a file.", "FILE")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    options.check_required("topic")
    librdkafka.bootstrap(options)
    if options.has("line-reader") and not options.line_reader.endswith("LineMessageReader"):
        raise CliError(f"{options.line_reader} is not built in; LineMessageReader is")
    properties = read_properties(options.reader_config)
    reader = LineReader(properties | librdkafka.pairs(options.property))
    settings = {"partitioner": _PARTITIONER} | java_settings.producer(
        for_librdkafka(_settings(options))
    )
    producer = librdkafka.make_client(Producer, options, settings)
    sender = _Sender(producer, options)
    line_max = int(settings["message.max.bytes"]) + _LINE_OVERHEAD_CHARS
    try:
        raise_on_signal()
        try:
            _send_lines(sender, reader, line_max)
        finally:
            sender.flush()
    except StoppedBySignal as ended:
        sender.flush()
        return ended.exit_code
    return int(sender.failed)


def _send_lines(sender: "_Sender", reader: LineReader, line_max: int) -> None:
    """Raises CliError for a line that is no record, or if the input cannot be read."""
    prompt = sys.stdin.isatty() and sys.stdout.isatty()
    try:
        with open(0, encoding="utf-8", errors="surrogateescape", closefd=False) as stdin:
            for number, line in enumerate(read_lines(stdin, line_max, prompt=prompt), 1):
                if line is None:
                    sender.report(
                        f"Line {number} is longer than {line_max} characters and is left out"
                    )
                else:
                    sender.send(reader.parse(line, number))
    except OSError as error:
        raise CliError(f"The input cannot be read: {error.strerror}") from None


def _settings(options: Options) -> dict[str, str]:
    """The settings by the names of Java's producer, merged in the order of 3.9's tool."""
    properties = librdkafka.read_settings(
        getattr(options, "producer.config"), options.producer_property
    )
    is_codec_given = options.has("compression-codec")  # goes before all other settings
    properties["compression.type"] = (
        options.optional_value("compression-codec") or "gzip" if is_codec_given else "none"
    )
    return librdkafka.merged({"client.id": "console-producer"} | properties, options, _MERGED)


def read_lines(stdin: TextIO, line_max: int, *, prompt: bool = False) -> Iterator[str | None]:
    """Lines without their line ends (as in Java LF, CR, or CR LF). A line of more than `line_max`
    characters is given as None: no record is so long, and a line of a pipe or a device may never
    end."""
    while True:
        if prompt:
            print(">", end="", flush=True)
        text = rest = stdin.readline(line_max + 1)
        if not text:
            return
        while len(rest) > line_max and not rest.endswith("\n"):
            rest = stdin.readline(line_max + 1)
        line = text.removesuffix("\n")
        yield line if len(line) <= line_max else None


class _Sender:
    """Sends records, and reports those that could not be sent."""

    def __init__(self, producer: Any, options: Options) -> None:
        """Asks for the topic's leaders first: only if librdkafka knows them, it sends records
        without keys to one partition at a time, as Kafka's producer does."""
        self._producer = producer
        self._topic = options.topic
        self._sync = options.sync
        self.failed = False
        with suppress(KafkaException):  # no broker answers; each record says so
            producer.list_topics(self._topic, _METADATA_S)

    def send(self, line: InputRecord) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic, line.value, line.key, headers=line.headers, on_delivery=self._done
                )
                break
            except BufferError:  # the queue is full
                self._producer.poll(_POLL_S)
            except KafkaException as error:
                self._report_failed(error.args[0], line.key, line.value)
                return
        if self._sync:
            self.flush()
        else:
            self._producer.poll(0)

    def report(self, why: str) -> None:
        self.failed = True
        print(f"ERROR {why}", file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Waits for every answer, in short steps, so that a signal is handled meanwhile."""
        while self._producer.flush(_POLL_S):
            pass

    def _done(self, error: Any, message: Any) -> None:
        if error is not None:
            self._report_failed(error, message.key(), message.value())

    def _report_failed(self, error: Any, key: bytes | None, value: bytes | None) -> None:
        self.report(
            f"Error when sending message to topic {self._topic} with key: {_size(key)},"
            f" value: {_size(value)} with error: {error.str()}"
        )


def _size(data: bytes | None) -> str:
    return "null" if data is None else f"{len(data)} bytes"
