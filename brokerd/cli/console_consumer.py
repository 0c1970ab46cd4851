"""`brokerd console-consumer`: Kafka's kafka-console-consumer.sh. It ends by --max-messages,
--timeout-ms or a signal, and prints the number of records to standard error."""

import random
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from brokerd.cli import internal_record_json, java_settings, librdkafka
from brokerd.cli.client_tls import for_librdkafka
from brokerd.cli.console_consumer_positions import on_assign_callback
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    UsageError,
    int32,
    int64,
    read_properties,
    run,
)
from brokerd.cli.record_text import ConsumedRecord, DefaultFormatter, RecordFormatter
from brokerd.cli.signals import SignalWatch
from brokerd.cluster.topic_names import INTERNAL_TOPICS, is_topic_name

POLL_S = 0.2
METADATA_TIMEOUT_S = 5.0
BATCH = 500
_RESET = "auto.offset.reset"
_MERGED = (("isolation.level", "isolation-level", "read_uncommitted"), ("group.id", "group", None))
"""As ConsoleConsumerOptions of 3.9 merges them."""
_FORMATTERS: dict[str, Callable[[Mapping[str, str]], RecordFormatter]] = {
    "DefaultMessageFormatter": lambda properties: DefaultFormatter(properties).format,
    # Kafka's logs the record as well, but its logger is off by default.
    "LoggingMessageFormatter": lambda properties: DefaultFormatter(properties).format,
    "NoOpMessageFormatter": lambda _: lambda _: b"",
    "OffsetsMessageFormatter": lambda _: internal_record_json.offsets,
    "GroupMetadataMessageFormatter": lambda _: internal_record_json.groups,
    "TransactionLogMessageFormatter": lambda _: internal_record_json.transactions,
}
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}


def console_consumer(arguments: Sequence[str]) -> int:
    parser = OptionParser("console-consumer", "Print the records of a topic.")
    parser.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
    parser.option("topic", "The topic.", "TOPIC")
    parser.option("include", "Topics, as a regular expression.", "PATTERN")
    parser.option("whitelist", "The older name of --include.", "PATTERN")
    parser.option("partition", "Read only this partition, without a group.", "N", int32)
    parser.option("offset", "With --partition: a number, earliest or latest.", "OFFSET")
    parser.flag("from-beginning", "From the first record, where the group has no offset yet.")
    parser.option("max-messages", "End after so many records.", "N", int32, default=-1)
    parser.option("timeout-ms", "End after so long without a record.", "MS", int64)
    parser.option("group", "The consumer group.", "GROUP")
    parser.option("isolation-level", "read_committed or read_uncommitted.", "LEVEL")
    parser.option("formatter", "A formatter of Kafka.", "CLASS", default="DefaultMessageFormatter")
    parser.option("property", "As print.key=true, key.separator=:.", "K=V", many=True)
    parser.option("formatter-config", "The same in a file.", "FILE")
    parser.option("key-deserializer", "One of Kafka's deserializers.", "CLASS")
    parser.option("value-deserializer", "One of Kafka's deserializers.", "CLASS")
    parser.option("consumer-property", "A setting of the consumer.", "K=V", many=True)
    parser.option("consumer.config", "The same in a file.", "FILE")
    parser.flag("skip-message-on-error", "Skip a record that cannot be shown.")
    parser.flag("enable-systest-events", "Print shutdown_complete at the end.")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    _check(options)
    formatter = _formatter(options)
    settings = _settings(options)
    progress = _Progress()
    consumer = librdkafka.make_client(Consumer, options, settings)
    try:
        _subscribe(consumer, options, settings)
        _consume(consumer, formatter, options, progress)
        return progress.exit_code
    finally:
        try:
            sys.stdout.flush()
        finally:
            print(f"Processed a total of {progress.count} messages", file=sys.stderr)
            consumer.close()
        if options.enable_systest_events:
            print("shutdown_complete", flush=True)


class _Progress(SignalWatch):
    """Whether a signal came, and how many records were printed."""

    count = 0


def _check(options: Options) -> None:
    librdkafka.bootstrap(options)
    options.include = options.include or options.whitelist
    if bool(options.topic) == bool(options.include):
        raise UsageError("Exactly one of --include/--topic is required. ")
    if options.topic and not is_topic_name(options.topic):
        raise CliError(f"Invalid topics: [{options.topic}]")
    if options.partition is not None:
        if not options.topic:
            raise UsageError("The topic is required when partition is specified.")
    elif options.offset is not None:
        raise UsageError("The partition is required when offset is specified.")
    if options.from_beginning and options.offset is not None:
        raise UsageError("Options from-beginning and offset cannot be specified together.")
    if options.offset is not None:
        _offset(options.offset)


def _offset(text: str) -> int:
    named = {"earliest": OFFSET_BEGINNING, "latest": OFFSET_END}
    if text.lower() in named:
        return int(named[text.lower()])
    with suppress(ValueError):
        if (offset := int64(text)) >= 0:
            return offset
    raise UsageError(
        f"The provided offset value '{text}' is incorrect. Valid values are 'earliest',"
        " 'latest', or a non-negative long."
    )


def _formatter(options: Options) -> RecordFormatter:
    """Found by the class name without its package, which differed in older versions of Kafka."""
    name = re.split(r"[.$]", options.formatter)[-1]
    if name not in _FORMATTERS:
        known = ", ".join(_FORMATTERS)
        raise CliError(f"{options.formatter} is not built in; these are: {known}")
    properties = read_properties(options.formatter_config) | librdkafka.pairs(options.property)
    for part in ("key", "value"):
        given = getattr(options, f"{part}_deserializer")
        if given:
            properties[f"{part}.deserializer"] = given
    return _FORMATTERS[name](properties)


def _settings(options: Options) -> dict[str, str]:
    """The consumer's settings by librdkafka's names, merged as Kafka 3.9's tool does. CliError."""
    given = librdkafka.read_settings(getattr(options, "consumer.config"), options.consumer_property)
    named = {each for each in (options.group, given.get("group.id")) if each is not None}
    if len(named) > 1:
        raise UsageError(
            "The group ids provided in different places (directly using '--group', via"
            " '--consumer-property', or via '--consumer.config') do not match."
            f" Detected group ids: {str(sorted(named))[1:-1]}"
        )
    if named and options.partition is not None:
        raise UsageError("Options group and partition cannot be specified together.")
    settings = librdkafka.merged({"client.id": "console-consumer"} | given, options, _MERGED)
    reset = settings.setdefault(_RESET, "earliest" if options.from_beginning else "latest")
    if options.from_beginning and reset != "earliest":
        raise CliError(
            "Can't simultaneously specify --from-beginning and "
            f"'auto.offset.reset={reset}', please remove one option"
        )
    if not named:
        settings["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        settings.setdefault("enable.auto.commit", "false")
    defaults = {"allow.auto.create.topics": str(not options.include).lower(), "check.crcs": "true"}
    excluded = settings.pop("exclude.internal.topics", "true").strip().lower() == "true"
    if options.include and excluded:
        defaults["topic.blacklist"] = ",".join(f"^{name}$" for name in sorted(INTERNAL_TOPICS))
    return defaults | java_settings.consumer(for_librdkafka(settings))


def _subscribe(consumer: Any, options: Options, settings: Mapping[str, str]) -> None:
    if options.partition is not None:
        start = "earliest" if options.from_beginning else options.offset or "latest"
        consumer.assign([TopicPartition(options.topic, options.partition, _offset(start))])
        return
    if options.topic:
        # Brokers may create a missing topic if it is asked for by name. librdkafka's own requests
        # for the topics of a subscription do not allow that.
        with suppress(KafkaException):  # librdkafka names those brokers by itself
            consumer.list_topics(options.topic, timeout=METADATA_TIMEOUT_S)
    assigned = on_assign_callback(settings)
    names = options.topic or f"^({options.include})$"  # librdkafka reads one with ^ as a pattern
    try:
        consumer.subscribe([names], **({"on_assign": assigned} if assigned else {}))
    except KafkaException as error:
        raise CliError(f"{options.include or options.topic}: {error.args[0].str()}") from None


def _consume(
    consumer: Any, formatter: RecordFormatter, options: Options, progress: _Progress
) -> None:
    limit = options.max_messages
    waiting_since = time.monotonic()
    while not progress.stopped and progress.count != limit:
        messages = consumer.consume(
            BATCH if limit < 0 else min(BATCH, limit - progress.count), POLL_S
        )
        if messages:
            waiting_since = time.monotonic()
        elif _is_over(options.timeout_ms, waiting_since):
            _end("TimeoutException")
            return
        for message in messages:
            if message.error() is None:
                progress.count += 1
                _print(message, formatter, options.skip_message_on_error)
            elif (why := _reason_to_end(message)) is not None:
                _end(why)
                return
            else:
                print(f"WARN {message.error().str()}", file=sys.stderr, flush=True)
        sys.stdout.flush()


def _reason_to_end(message: Any) -> str | None:
    """Why an error ends the command, as in Kafka's tool: a batch with a wrong CRC, codec or format
    (librdkafka would go on in the middle of it), or no offset to begin at; None for any other
    error. --skip-message-on-error is only for records that cannot be shown."""
    partition, error = f"{message.topic()}-{message.partition()}", message.error()
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        return f"Undefined offset with no reset policy for partitions: [{partition}]"
    damaged = (
        KafkaError._BAD_MSG, KafkaError._BAD_COMPRESSION, KafkaError._NOT_IMPLEMENTED,
        KafkaError._UNDERFLOW,
    )  # fmt: skip
    if error.code() in damaged:
        place = f"for partition {partition} at offset {message.offset()}"
        return f"Record batch {place} is invalid, cause: {error.str()}"
    return None


def _end(why: str) -> None:
    sys.stdout.flush()
    print(f"ERROR Error processing message, terminating consumer process: {why}", file=sys.stderr)


def _is_over(timeout_ms: int | None, since: float) -> bool:
    return timeout_ms is not None and time.monotonic() - since > timeout_ms / 1000


def _print(message: Any, formatter: RecordFormatter, skip: bool) -> None:
    kind, timestamp_ms = message.timestamp()
    record = ConsumedRecord(
        message.partition(),
        message.offset(),
        _TIMESTAMP_TYPES.get(kind),
        timestamp_ms,
        message.key(),
        message.value(),
        message.headers() or (),
    )
    try:
        sys.stdout.buffer.write(formatter(record))
    except CliError as error:
        if not skip:
            raise
        print(f"ERROR Error processing message, skipping this message: {error}", file=sys.stderr)
