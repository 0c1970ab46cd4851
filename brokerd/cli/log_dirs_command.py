"""`brokerd log-dirs`: Kafka's kafka-log-dirs.sh. The last line of its output is JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.cli import admin_calls
from brokerd.cli.client import Client
from brokerd.cli.error_messages import error_of, raise_for_code
from brokerd.cli.options import CliError, OptionParser, Options, UsageError, int32, run
from brokerd.config.value_parsers import comma_list, words
from brokerd.protocol.api_keys import ApiKey


def log_dirs(arguments: Sequence[str]) -> int:
    parser = OptionParser("log-dirs", "Print the log directories of brokers and their partitions.")
    parser.bootstrap()
    parser.flag("describe", "REQUIRED: describe the log directories.")
    parser.option("topic-list", "Only these topics.", "T1,T2", default="")
    parser.option("broker-list", "Only these brokers.", "0,1,2", default="")
    return run(parser, _run, arguments)


def _run(options: Options) -> None:
    options.check_required("bootstrap-server", "describe")
    try:
        asked = sorted({int32(each) for each in words(options.broker_list)})
    except ValueError:
        raise UsageError(
            f"--broker-list {options.broker_list} is not a list of broker ids"
        ) from None
    with admin_calls.connect(options) as client:
        known = sorted(client.brokers)
        unknown = [each for each in asked if each not in known]
        if unknown:
            raise CliError(
                f"ERROR: The given brokers do not exist from --broker-list: {comma_list(unknown)}."
                f" Current existent brokers: {comma_list(known)}"
            )
        print("Querying brokers for log directories information")
        wanted = asked or known
        answers = {each: _directories(client, each) for each in wanted}
    print(f"Received log directory information from brokers {comma_list(wanted)}")
    print(format_as_json(answers, words(options.topic_list)))


def _directories(client: Client, broker_id: int) -> list[Any]:
    request = {"topics": None}
    answer = client.with_retries(
        lambda: client.to_broker(broker_id, ApiKey.DESCRIBE_LOG_DIRS, request)
    )
    raise_for_code(int(getattr(answer, "error_code", 0)))
    return list(answer.results)


def format_as_json(answers: Mapping[int, Sequence[Any]], topics: Sequence[str]) -> str:
    """Brokers, their log directories and partitions as JSON; of `topics` only, if there are any."""
    brokers = [
        {"broker": broker_id, "logDirs": [_directory(each, topics) for each in directories]}
        for broker_id, directories in answers.items()
    ]
    return json.dumps({"version": 1, "brokers": brokers}, separators=(",", ":"))


def _directory(described: Any, topics: Sequence[str]) -> dict[str, Any]:
    code = int(described.error_code)
    partitions = [
        {
            "partition": f"{topic.name}-{each.partition_index}",
            "size": each.partition_size,
            "offsetLag": each.offset_lag,
            "isFuture": each.is_future_key,
        }
        for topic in described.topics
        if not topics or topic.name in topics
        for each in topic.partitions
    ]
    error = str(error_of(code)) if code else None
    return {"logDir": described.log_dir, "error": error, "partitions": partitions}
