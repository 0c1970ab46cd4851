"""`brokerd delete-records`: Kafka's kafka-delete-records.sh."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.cli import admin
from brokerd.cli.client import Client, NoBroker
from brokerd.cli.numbers import field
from brokerd.cli.options import CliError, OptionParser, Options, read_text, require, run
from brokerd.cli.words import as_java
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

TIMEOUT_MS = 30_000
VERSION = 1


def delete_records(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser(
        "delete-records", "Delete the records of partitions that are older than an offset."
    )
    parser.bootstrap()
    parser.option(
        "offset-json-file",
        'REQUIRED: {"partitions": [{"topic": "foo", "partition": 1, "offset": 1}], "version": 1};'
        " offset -1 deletes all.",
        "FILE",
    )
    return run(parser, _run, arguments)


def _run(options: Options) -> int:
    require(options, "bootstrap-server", "offset-json-file")
    wanted = parse(read_text(options.offset_json_file))
    with admin.connect(options) as client:
        print("Executing records delete operation")
        try:
            results = _delete(client, wanted)
        except NoBroker as error:  # as Kafka's, which ends with 0
            why = KafkaError(ErrorCode.REQUEST_TIMED_OUT, str(error))
            results = dict.fromkeys(wanted, why)
        except KafkaError as error:
            raise CliError(str(error)) from None
    print("Records delete operation completed:")
    for (topic, index), result in results.items():
        if isinstance(result, KafkaError):
            print(f"partition: {topic}-{index}\terror: {as_java(result)}")
        else:
            print(f"partition: {topic}-{index}\tlow_watermark: {result}")
    return 0


def parse(text: str) -> dict[TopicPartition, int]:
    """The offset of each partition in the JSON. Raises CliError."""
    try:
        document = json.loads(text)
    except ValueError:
        raise CliError("The input string is not a valid JSON") from None
    if not isinstance(document, dict) or "partitions" not in document:
        raise CliError("Missing partitions field")
    if document.get("version", VERSION) != VERSION:
        raise CliError(f"Not supported version field value {document['version']}")
    entries = document["partitions"]
    if not isinstance(entries, list):
        raise CliError("The field partitions is not a list")
    wanted: dict[TopicPartition, int] = {}
    duplicates = []
    for each in entries:
        partition, offset = _entry(each)
        if partition in wanted:
            duplicates.append("{}-{}".format(*partition))
        wanted[partition] = offset
    if duplicates:
        raise CliError(
            f"Offset json file contains duplicate topic partitions: {','.join(duplicates)}"
        )
    return wanted


def _entry(entry: Any) -> tuple[TopicPartition, int]:
    topic = entry.get("topic") if isinstance(entry, dict) else None
    if not isinstance(topic, str):
        raise CliError(f"An entry of partitions has no valid topic: {json.dumps(entry)}")
    return (topic, field(entry, "partition", 32)), field(entry, "offset", 64)


def _delete(
    client: Client, wanted: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | KafkaError]:
    """The new first offset of each partition, in the order asked."""

    def request(partitions: Sequence[TopicPartition]) -> dict[str, Any]:
        topics: dict[str, list[dict[str, int]]] = defaultdict(list)
        for name, index in partitions:
            topics[name].append({"partition_index": index, "offset": wanted[name, index]})
        listed = [{"name": name, "partitions": entries} for name, entries in topics.items()]
        return {"topics": listed, "timeout": TIMEOUT_MS}

    def results(answer: Any) -> dict[TopicPartition, int | KafkaError]:
        return admin.by_partition(answer, "low_watermark")

    found = admin.ask_leaders(client, wanted, ApiKey.DELETE_RECORDS, request, results)
    return {each: found[each] for each in wanted}
