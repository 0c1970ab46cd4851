"""`brokerd get-offsets`: Kafka's kafka-get-offsets.sh. A line is topic:partition:offset."""

import re
import sys
from collections.abc import Callable, Sequence

from brokerd.cli import admin_calls
from brokerd.cli.options import CliError, OptionParser, Options, int32, int64, run
from brokerd.config.value_parsers import words
from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT32_MAX

_TIMES = {
    "latest": -1, "earliest": -2, "max-timestamp": -3, "earliest-local": -4, "latest-tiered": -5,
}  # fmt: skip
_RULE = re.compile(r"([^:,]*)(?::(?:([0-9]*)|([0-9]*)-([0-9]*)))?")
Filter = Callable[[str, int], bool]
"""Whether a topic and partition are wanted."""


def get_offsets(arguments: Sequence[str]) -> int:
    parser = OptionParser("get-offsets", "Print the offsets of partitions.")
    parser.bootstrap()
    parser.option("broker-list", "The older name of --bootstrap-server.", "HOST:PORT,…")
    parser.option("topic", "A topic; a regular expression. All without it.", "TOPIC")
    parser.option("partitions", "Their ids. All without it.", "0,1,…")
    parser.option("topic-partitions", "Topics and partitions.", "T1:1,T2:0-3,T3,T4:5-,T5:-3")
    parser.option(
        "time", "A timestamp in ms, or -1/latest, -2/earliest, -3/max-timestamp.", "TIME",
        default="latest",
    )  # fmt: skip
    parser.flag("exclude-internal-topics", "Leave out internal topics.")
    return run(parser, _run, arguments, _print_failure)


def _print_failure(error: Exception) -> int:
    print(f"Error occurred: {error}", file=sys.stderr)
    return 1


def _run(options: Options) -> None:
    if options.has("topic-partitions") and (options.has("topic") or options.has("partitions")):
        raise CliError("--topic-partitions cannot be used with --topic or --partitions")
    time, is_wanted = parse_time(options.time), _filter_of(options)
    with admin_calls.connect(options) as client:
        topics = admin_calls.all_topics(client, internal=not options.exclude_internal_topics)
        wanted = [each for each in admin_calls.partitions_of(topics) if is_wanted(*each)]
        if not wanted:
            raise CliError("Could not match any topic-partitions with the specified filters")
        found = admin_calls.list_offsets(client, dict.fromkeys(wanted, time))
    for topic, index in sorted(wanted, key=lambda each: f"{each[0]}-{each[1]}"):
        offset = found[topic, index]
        if isinstance(offset, KafkaError):
            print(
                f"Skip getting offsets for topic-partition {topic}-{index} due to error: {offset}",
                file=sys.stderr,
            )
        elif offset >= 0:
            print(f"{topic}:{index}:{offset}")


def parse_time(text: str) -> int:
    """A timestamp, or the number that stands for a name. Raises CliError."""
    if text in _TIMES:
        return _TIMES[text]
    try:
        return int64(text)
    except ValueError:
        names = " / ".join(f"{number} or {name}" for name, number in _TIMES.items())
        what = f"Please use {names}, or a specified long format timestamp"
        raise CliError(f"Malformed time argument {text}. {what}") from None


def _filter_of(options: Options) -> Filter:
    if options.topic_partitions:
        rules = [parse_rule(each) for each in words(options.topic_partitions)]
        return lambda topic, index: any(rule(topic, index) for rule in rules)
    pattern = admin_calls.topic_filter(options.topic if options.has("topic") else ".*")
    try:
        partitions = {int32(each) for each in words(options.partitions or "")}
    except ValueError:
        raise CliError(
            "--partitions expects a comma separated list of numeric partition ids,"
            f" but received: {options.partitions}"
        ) from None
    return lambda topic, index: (
        pattern.fullmatch(topic) is not None and (not partitions or index in partitions)
    )


def parse_rule(text: str) -> Filter:
    """One of --topic-partitions: `topic`, `topic:3`, `topic:0-3` (without 3), `:1`. CliError."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise CliError(f"Invalid rule specification: {text}")
    pattern = admin_calls.topic_filter(match[1] or ".*")
    try:
        low, high = int32(match[3] or "0"), int32(match[4] or str(INT32_MAX))
        if match[2]:
            low, high = int32(match[2]), int32(match[2]) + 1
    except ValueError as error:
        raise CliError(str(error)) from None
    return lambda topic, index: pattern.fullmatch(topic) is not None and low <= index < high
