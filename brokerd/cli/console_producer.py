"""`brokerd console-producer`: Kafka's kafka-console-producer.sh. A line is a record."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from brokerd.cli import librdkafka
from brokerd.cli.numbers import int32, int64
from brokerd.cli.options import CliError, OptionParser, Options, read_properties, require, run
from brokerd.cli.record_text import LineReader

LINGER_MS = 1000
MAX_BLOCK_MS = 60_000
MESSAGE_MAX_BYTES = 1_000_000
"""librdkafka's default of the setting."""
_SEPARATORS_BYTES = 1 << 20  # of a line that parses to a record of the longest kind
_PIECE_BYTES = 1 << 16
_IN_FLIGHT_S = 0.1
_ACKS = {"all": "-1"}


def console_producer(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("console-producer", "Send lines of standard input as records.")
    parser.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
    parser.option("broker-list", "The older name of --bootstrap-server.", "HOST:PORT,…")
    parser.option("topic", "REQUIRED: the topic.", "TOPIC")
    parser.flag("sync", "Wait for the answer to each record.")
    parser.optional("compression-codec", "gzip (without a value), snappy, lz4, zstd.", "CODEC")
    parser.option("batch-size", "Of a batch, in bytes.", "BYTES", int32, default=16384)
    parser.option("max-partition-memory-bytes", "As --batch-size.", "BYTES", int32)
    parser.option("message-send-max-retries", "How often to try again.", "N", int32, default=3)
    parser.option("retry-backoff-ms", "Before another try.", "MS", int64, default=100)
    parser.option("timeout", "How long a batch waits for more.", "MS", int64, default=LINGER_MS)
    parser.option("request-required-acks", "all, 1 or 0.", "ACKS", default="-1")
    parser.option(
        "request-timeout-ms", "How long to wait for an answer.", "MS", int32, default=1500
    )
    parser.option(
        "metadata-expiry-ms", "When to ask for leaders again.", "MS", int64, default=300000
    )
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
    if options.line_reader and not options.line_reader.endswith("LineMessageReader"):
        raise CliError(f"{options.line_reader} is not built in; LineMessageReader is")
    told = read_properties(options.reader_config)
    reader = LineReader(told | librdkafka.pairs(options.property))
    from confluent_kafka import Producer

    config = _settings(options)
    sender = _Sender(librdkafka.make(Producer, config), options.topic, options.sync)
    most = int(config.get("message.max.bytes", MESSAGE_MAX_BYTES)) + _SEPARATORS_BYTES
    prompt = sys.stdin.isatty() and sys.stdout.isatty()
    try:
        for number, text in enumerate(lines(sys.stdin.buffer, most, prompt=prompt), 1):
            if text is None:
                sender.refuse(f"Line {number} is longer than {most} bytes and is left out")
            else:
                sender.send(reader.parse(text, number))
    finally:
        sender.flush()
    return 1 if sender.failed else 0


def _settings(options: Options) -> dict[str, Any]:
    codec = options.compression_codec
    defaults = {
        "client.id": "console-producer",
        "linger.ms": options.timeout,
        "compression.type": "none" if codec is None else codec or "gzip",
        "acks": _ACKS.get(options.request_required_acks, options.request_required_acks),
        "batch.size": options.max_partition_memory_bytes or options.batch_size,
        "retries": options.message_send_max_retries,
        "retry.backoff.ms": options.retry_backoff_ms,
        "request.timeout.ms": options.request_timeout_ms,
        "metadata.max.age.ms": options.metadata_expiry_ms,
        "message.timeout.ms": max(options.max_block_ms or MAX_BLOCK_MS, options.timeout + 1),
        "partitioner": "murmur2_random",  # the same partition as Kafka's own clients choose
    }
    file = getattr(options, "producer.config")
    config = librdkafka.settings(options, defaults, file, options.producer_property)
    if codec is not None:
        config["compression.type"] = defaults["compression.type"]
    return {"enable.idempotence": _may_be_idempotent(config)} | config


def _may_be_idempotent(config: dict[str, Any]) -> bool:
    """Whether nothing speaks against it: without a word of it Kafka's producer is so then."""
    return (
        config["acks"] in ("all", "-1")
        and str(config["retries"]) != "0"
        and str(config.get("max.in.flight.requests.per.connection", "5"))
        in ("1", "2", "3", "4", "5")
    )


def lines(data: BinaryIO, most: int, *, prompt: bool = False) -> Iterator[str | None]:
    """Lines without their ends; bytes that are no UTF-8 come through unchanged.

    One of more than `most` bytes is None at once; what else there is of it is read away in pieces:
    no record is so long, and what comes from a pipe or a device may never end.
    """
    while True:
        if prompt:
            print(">", end="", flush=True)
        line = data.readline(most + len(b"\r\n"))
        if not line:
            return
        bare = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(bare) <= most:
            yield bare.decode("utf-8", "surrogateescape")
            continue
        yield None
        while line and not line.endswith(b"\n"):
            line = data.readline(_PIECE_BYTES)


class _Sender:
    """Sends and names what could not be sent."""

    def __init__(self, producer: Any, topic: str, sync: bool) -> None:
        self._producer = producer
        self._topic = topic
        self._sync = sync
        self.failed = False

    def send(self, line: Any) -> None:
        """Raises CliError where the record cannot even be queued."""
        from confluent_kafka import KafkaException

        while True:
            try:
                self._producer.produce(
                    self._topic, line.value, line.key, headers=line.headers, on_delivery=self._done
                )
                break
            except BufferError:  # too much is under way
                self._producer.poll(_IN_FLIGHT_S)
            except KafkaException as error:
                self._done(error.args[0], line)
                return
        if self._sync:
            self._producer.flush()
        else:
            self._producer.poll(0)

    def refuse(self, why: str) -> None:
        """Names what is not even tried."""
        self.failed = True
        print(f"ERROR {why}", file=sys.stderr, flush=True)

    def flush(self) -> None:
        self._producer.flush()

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
