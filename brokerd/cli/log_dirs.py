"""`brokerd log-dirs`: Kafka's kafka-log-dirs.sh. The last line is JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.cli import admin
from brokerd.cli.client import Client
from brokerd.cli.java_hash_order import hash_map_order
from brokerd.cli.numbers import int32
from brokerd.cli.options import CliError, OptionParser, Options, UsageError, require, run
from brokerd.cli.words import as_java, check, refusal
from brokerd.errors import KafkaError
from brokerd.protocol.api_keys import ApiKey


def log_dirs(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("log-dirs", "Print what lies in the log directories of brokers.")
    parser.bootstrap()
    parser.flag("describe", "REQUIRED: describe the log directories.")
    parser.option("topic-list", "Only these topics.", "T1,T2", default="")
    parser.option("broker-list", "Only these brokers.", "0,1,2", default="")
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    require(options, "bootstrap-server", "describe")
    topics = {each for each in options.topic_list.split(",") if each}
    asked = _broker_ids(options.broker_list)
    try:
        with admin.connect(options) as client:
            return _describe(client, topics, asked)
    except KafkaError as error:
        raise CliError(str(error)) from None


def _broker_ids(text: str) -> list[int]:
    try:
        return sorted({int32(each) for each in text.split(",") if each})
    except ValueError:
        raise UsageError(f"--broker-list {text} is not a list of broker ids") from None


def _describe(client: Client, topics: set[str], asked: list[int]) -> int:
    known = sorted(client.brokers)
    unknown = [each for each in asked if each not in known]
    if unknown:
        raise CliError(
            f"ERROR: The given brokers do not exist from --broker-list: {_numbers(unknown)}."
            f" Current existent brokers: {_numbers(known)}"
        )
    print("Querying brokers for log directories information")
    wanted = asked or known
    answers = {each: _directories(client, each) for each in wanted}
    print(f"Received log directory information from brokers {_numbers(wanted)}")
    print(document(answers, topics))
    return 0


def _directories(client: Client, broker_id: int) -> list[Any]:
    request = {"topics": None}
    answer = client.retrying(lambda: client.to(broker_id, ApiKey.DESCRIBE_LOG_DIRS, request))
    check(int(getattr(answer, "error_code", 0)))
    return list(answer.results)


def document(answers: Mapping[int, Sequence[Any]], topics: set[str]) -> str:
    """Brokers, their directories and the partitions there, as Kafka writes it down."""
    brokers = [
        _map(broker=broker_id, logDirs=[_directory(each, topics) for each in directories])
        for broker_id, directories in answers.items()
    ]
    return json.dumps(_map(version=1, brokers=brokers), separators=(",", ":"))


def _directory(described: Any, topics: set[str]) -> dict[str, Any]:
    error = (
        as_java(refusal(int(described.error_code))).partition(":")[0]
        if described.error_code
        else None
    )
    partitions = [
        _map(
            partition=f"{topic.name}-{each.partition_index}",
            size=each.partition_size,
            offsetLag=each.offset_lag,
            isFuture=each.is_future_key,
        )
        for topic in described.topics
        if not topics or topic.name in topics
        for each in topic.partitions
    ]
    return _map(logDir=described.log_dir, error=error, partitions=partitions)


def _map(**members: Any) -> dict[str, Any]:
    """The members in the order in which Kafka's tool happens to write them."""
    return {name: members[name] for name in hash_map_order(members)}


def _numbers(values: Sequence[int]) -> str:
    return ",".join(map(str, values))
