"""`brokerd console-consumer`: Kafka's kafka-console-consumer.sh.

Ends by --max-messages, --timeout-ms or a signal, and says on standard error how many records there
were.
"""

import random
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from brokerd.cli import java_settings, librdkafka, signals
from brokerd.cli.addresses import parse_addresses
from brokerd.cli.client_tls import for_librdkafka
from brokerd.cli.crc_check import CrcCheck, crc_check
from brokerd.cli.group_formatters import (
    GroupLinesFormatter,
    GroupsFormatter,
    OffsetLinesFormatter,
    OffsetsFormatter,
)
from brokerd.cli.numbers import int32, int64
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    UsageError,
    exclude,
    has,
    read_properties,
    run,
)
from brokerd.cli.positions import resolver
from brokerd.cli.record_text import Formatter, RecordFormatter, Shown
from brokerd.cli.subscription import MatchingTopics, NamedTopic, Topics, compiled
from brokerd.cli.transaction_formatters import (
    TransactionLinesFormatter,
    TransactionsFormatter,
)
from brokerd.cluster.topic_names import is_topic_name

POLL_S = 0.2
BATCH = 500
_METADATA_MAX_AGE_MS = 300_000
_RESET = "auto.offset.reset"
_MERGED = (
    ("isolation.level", "isolation-level", "read_uncommitted"),
    ("group.id", "group", None),
)
"""As ConsoleConsumerOptions of 3.9 merges them."""
_OURS = {
    "metadata.max.age.ms": _METADATA_MAX_AGE_MS,
    "check.crcs": False,
    "enable.partition.eof": False,
}
_ERRORS = "org.apache.kafka.common.errors."
_PACKAGE = "org.apache.kafka.tools.consumer."
_PLAIN = ("DefaultMessageFormatter", "LoggingMessageFormatter", "NoOpMessageFormatter")
_INTERNAL: dict[str, Callable[[], RecordFormatter]] = {
    "OffsetsMessageFormatter": OffsetsFormatter,
    "GroupMetadataMessageFormatter": GroupsFormatter,
    "TransactionLogMessageFormatter": TransactionsFormatter,
}
_LINES: dict[str, Callable[[], RecordFormatter]] = {
    "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter": OffsetLinesFormatter,
    "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter": (
        GroupLinesFormatter
    ),
    "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter": (
        TransactionLinesFormatter
    ),
}
_OLDER = {f"kafka.tools.{each}": each for each in _PLAIN} | {
    name: name.rpartition("$")[2] for name in _LINES
}
"""Names that Kafka 3.9 still takes, with a warning."""
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}


def console_consumer(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("console-consumer", "Print the records of a topic.")
    parser.option("bootstrap-server", "REQUIRED: the brokers to ask first.", "HOST:PORT,…")
    parser.option("topic", "The topic.", "TOPIC")
    parser.option("include", "Topics, as a regular expression.", "PATTERN")
    parser.option("whitelist", "The older name of --include.", "PATTERN")
    parser.option("partition", "One partition, without a group.", "N", int32)
    parser.option("offset", "With --partition: a number, earliest or latest.", "OFFSET")
    parser.flag("from-beginning", "From the first record, where the group has no offset yet.")
    parser.option("max-messages", "End after so many.", "N", int32)
    parser.option("timeout-ms", "End where none has come for so long.", "MS", int64)
    parser.option("group", "The consumer group.", "GROUP")
    parser.option("isolation-level", "read_committed or read_uncommitted.", "LEVEL")
    parser.option("formatter", "One of Kafka's own.", "CLASS")
    parser.option("property", "As print.key=true, key.separator=:.", "K=V", many=True)
    parser.option("formatter-config", "The same in a file.", "FILE")
    parser.option("key-deserializer", "Of Kafka's own.", "CLASS")
    parser.option("value-deserializer", "Of Kafka's own.", "CLASS")
    parser.option("consumer-property", "A setting of the consumer.", "K=V", many=True)
    parser.option("consumer.config", "The same in a file.", "FILE")
    parser.flag("skip-message-on-error", "Go on behind a record that cannot be shown.")
    parser.flag("enable-systest-events", "Say shutdown_complete at the end.")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    _check(options)
    formatter = _formatter(options)
    settings = _settings(options)
    pattern = None if options.include is None else compiled(options.include)
    if options.topic == "":
        raise CliError("Topic collection to subscribe to cannot contain null or empty topic")
    from confluent_kafka import Consumer

    asked = {key: value for key, value in settings.items() if key != "check.crcs"}
    translated = java_settings.consumer(for_librdkafka(asked))
    ended = _Ended()
    consumer: Any = None
    crcs = crc_check(parse_addresses(librdkafka.bootstrap(options)), settings)
    try:
        wrong = _refused(options, settings)
        if wrong is not None:
            _end(f"{_ERRORS}{wrong}")
            return 0
        ours = _OURS | {"allow.auto.create.topics": options.include is None}
        consumer = librdkafka.make(Consumer, options, ours, translated)
        given = settings | translated.settings
        topics = _begin(consumer, options, pattern, given)
        return _consume(consumer, formatter, options, ended, topics, crcs) or ended.exit_code
    finally:
        try:
            sys.stdout.flush()
        finally:
            print(f"Processed a total of {ended.count} messages", file=sys.stderr)
            if consumer is not None:
                consumer.close()
            if crcs is not None:
                crcs.close()
        if options.enable_systest_events:
            print("shutdown_complete", flush=True)


def _refused(options: Options, settings: Mapping[str, str]) -> str | None:
    """What Java's consumer does not even ask the brokers for."""
    if not settings["group.id"]:
        return "InvalidGroupIdException: The configured groupId is invalid."
    if options.topic is not None and not is_topic_name(options.topic):
        return f"InvalidTopicException: Invalid topics: [{options.topic}]"
    return None


class _Ended(signals.Ending):
    """Whether to end, which a signal says; and how many records there were."""

    count = 0


def _check(options: Options) -> None:
    librdkafka.bootstrap(options)
    if options.include is None:
        options.include = options.whitelist
    if (options.topic is None) == (options.include is None):
        raise UsageError("Exactly one of --include/--topic is required. ")
    if options.partition is not None:
        if options.topic is None:
            raise UsageError("The topic is required when partition is specified.")
        if has(options, "group"):
            raise UsageError("Options group and partition cannot be specified together.")
    elif options.offset is not None:
        raise UsageError("The partition is required when offset is specified.")
    if options.from_beginning and options.offset is not None:
        raise UsageError("Options from-beginning and offset cannot be specified together.")
    exclude(options, "include", "partition")
    if options.offset is not None:
        _offset(options.offset)


def _offset(text: str) -> int:
    from confluent_kafka import OFFSET_BEGINNING, OFFSET_END

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


def _formatter(options: Options) -> RecordFormatter | None:
    """None prints nothing. Raises CliError for a class that is not built in."""
    name = options.formatter if has(options, "formatter") else _PLAIN[0]
    if name in _OLDER:
        newer = _PACKAGE + _OLDER[name]
        print(
            f"WARNING: {name} is deprecated and will be removed in the next major release."
            f" Please use {newer} instead",
            file=sys.stderr,
        )
    short = _OLDER.get(name, name.removeprefix(_PACKAGE))
    if short not in (*_PLAIN, *_INTERNAL):
        known = ", ".join(_PACKAGE + each for each in (*_PLAIN, *_INTERNAL))
        raise CliError(f"{name} is not built in; these are: {known}")
    internal = _LINES.get(name) or _INTERNAL.get(short)
    if internal is not None:
        return internal()
    properties = read_properties(options.formatter_config)
    properties |= librdkafka.pairs(options.property)
    for part in ("key", "value"):
        given = getattr(options, f"{part}_deserializer")
        if given:
            properties[f"{part}.deserializer"] = given
    # that which logs has its logger off unless somebody turns it on: it prints and no more
    shown = Formatter(properties)
    return None if short == "NoOpMessageFormatter" else shown


def _settings(options: Options) -> dict[str, str]:
    """By the names of Java's consumer, which 3.9's tool merges in this order."""
    given = librdkafka.read_settings(getattr(options, "consumer.config"), options.consumer_property)
    _check_groups(options)
    settings = librdkafka.merged({"client.id": "console-consumer"} | given, options, _MERGED)
    reset = settings.setdefault(_RESET, "earliest" if options.from_beginning else "latest")
    if options.from_beginning and reset != "earliest":
        raise CliError(
            "Can't simultaneously specify --from-beginning and "
            f"'auto.offset.reset={reset}', please remove one option"
        )
    if "group.id" not in settings:
        settings["group.id"] = f"console-consumer-{random.randrange(100_000)}"
        settings.setdefault("enable.auto.commit", "false")
    return settings


def _check_groups(options: Options) -> None:
    """UsageError where the places that may name a group name several."""
    places = (
        options.group,
        librdkafka.pairs(options.consumer_property).get("group.id"),
        read_properties(getattr(options, "consumer.config")).get("group.id"),
    )
    named = list(dict.fromkeys(each for each in places if each is not None))
    if len(named) > 1:
        listed = ", ".join(f"'{each}'" for each in named)
        raise UsageError(
            "The group ids provided in different places (directly using '--group', via"
            " '--consumer-property', or via '--consumer.config') do not match."
            f" Detected group ids: {listed}"
        )
    if named and options.partition is not None:
        raise UsageError("Options group and partition cannot be specified together.")


def _begin(
    consumer: Any,
    options: Options,
    pattern: "re.Pattern[str] | None",
    settings: Mapping[str, str],
) -> Topics | None:
    if options.partition is not None:
        from confluent_kafka import TopicPartition

        start = "earliest" if options.from_beginning else options.offset or "latest"
        consumer.assign([TopicPartition(options.topic, options.partition, _offset(start))])
        return None
    assigned = resolver(settings)
    subscribe = partial(consumer.subscribe, **({"on_assign": assigned} if assigned else {}))
    if pattern is None:
        return NamedTopic(consumer, subscribe, options.topic)
    return MatchingTopics(
        consumer,
        subscribe,
        pattern,
        int(settings.get("metadata.max.age.ms", _METADATA_MAX_AGE_MS)),
        internal=settings.get("exclude.internal.topics", "").strip().lower() == "false",
    )


def _consume(
    consumer: Any, formatter: RecordFormatter | None, options: Options, ended: _Ended,
    topics: Topics | None, crcs: CrcCheck | None,
) -> int:  # fmt: skip
    limit = options.max_messages if options.max_messages is not None else -1
    waiting_since = time.monotonic()
    while not ended.now and ended.count != limit:
        if topics is not None:
            topics.renew()
        count = BATCH if limit < 0 else min(BATCH, limit - ended.count)
        messages = consumer.consume(count, POLL_S)
        if messages:
            waiting_since = time.monotonic()
        elif _is_over(options.timeout_ms, waiting_since):
            _end(f"{_ERRORS}TimeoutException")
            return 0
        damaged = crcs.damaged(messages) if crcs is not None and messages else {}
        for message in messages:
            if message.error() is not None:
                if (why := _reason_to_end(message)) is not None:
                    _end(why)
                    return 0
                print(f"WARN {message.error().str()}", file=sys.stderr, flush=True)
                continue
            bad = damaged.get((message.topic(), message.partition()))
            if bad is not None and message.offset() >= bad:
                _end(_invalid(message, bad, "its CRC is not that of its bytes"))
                return 0
            ended.count += 1
            _print(message, formatter, options.skip_message_on_error)
        sys.stdout.flush()
    return 0


def _reason_to_end(message: Any) -> str | None:
    """As Kafka's tool, also with --skip-message-on-error, which is for records that cannot be
    shown: a batch whose CRC, codec or format is not right (going on is not to be had: librdkafka
    then reads from the middle of something), and no offset to begin at."""
    from confluent_kafka import KafkaError

    partition, error = f"{message.topic()}-{message.partition()}", message.error()
    if error.code() == KafkaError._AUTO_OFFSET_RESET:
        return (
            "org.apache.kafka.clients.consumer.NoOffsetForPartitionException: Undefined offset with"
            f" no reset policy for partitions: [{partition}]"
        )
    if error.code() in (
        KafkaError._BAD_MSG,
        KafkaError._BAD_COMPRESSION,
        KafkaError._NOT_IMPLEMENTED,
        KafkaError._UNDERFLOW,
    ):
        return _invalid(message, message.offset(), error.str())
    return None


def _invalid(message: Any, offset: int, cause: str) -> str:
    place = f"{message.topic()}-{message.partition()}"
    return f"Record batch for partition {place} at offset {offset} is invalid, cause: {cause}"


def _end(why: str) -> None:
    sys.stdout.flush()
    print(f"ERROR Error processing message, terminating consumer process: {why}", file=sys.stderr)


def _is_over(timeout_ms: int | None, since: float) -> bool:
    return timeout_ms is not None and time.monotonic() - since > timeout_ms / 1000


def _print(message: Any, formatter: RecordFormatter | None, skip: bool) -> None:
    if formatter is None:
        return
    kind, timestamp_ms = message.timestamp()
    record = Shown(
        message.partition(),
        message.offset(),
        _TIMESTAMP_TYPES.get(kind),
        timestamp_ms,
        message.key(),
        message.value(),
        message.headers() or (),
    )
    try:
        sys.stdout.buffer.write(formatter.format(record))
    except CliError as error:
        if not skip:
            raise
        print(f"ERROR Error processing message, skipping this message: {error}", file=sys.stderr)
