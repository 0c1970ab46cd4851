"""`brokerd delete-records`: Kafka's kafka-delete-records.sh."""

import json
from collections.abc import Sequence
from typing import Any

from brokerd.cli import admin_calls
from brokerd.cli.options import CliError, OptionParser, Options, int32, int64, read_text, run
from brokerd.errors import KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

TIMEOUT_MS = 30_000
VERSION = 1


def delete_records(arguments: Sequence[str]) -> int:
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


def _run(options: Options) -> None:
    options.check_required("bootstrap-server", "offset-json-file")
    wanted = parse(read_text(options.offset_json_file))
    entries = {each: {"offset": offset} for each, offset in wanted.items()}
    with admin_calls.connect(options) as client:
        print("Executing records delete operation")
        api, common = ApiKey.DELETE_RECORDS, {"timeout": TIMEOUT_MS}
        results = admin_calls.ask_leaders(client, api, common, entries, "low_watermark")
    print("Records delete operation completed:")
    for (topic, index), result in results.items():
        what = "error" if isinstance(result, KafkaError) else "low_watermark"
        print(f"partition: {topic}-{index}\t{what}: {result}")


def parse(text: str) -> dict[TopicPartition, int]:
    """The offset of each partition in the JSON. Raises CliError."""
    try:
        document = json.loads(text)
    except ValueError:
        raise CliError("The input string is not a valid JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get("partitions"), list):
        raise CliError("Missing partitions field")
    if document.get("version", VERSION) != VERSION:
        raise CliError(f"Not supported version field value {document['version']}")
    wanted: dict[TopicPartition, int] = {}
    for each in document["partitions"]:
        partition, offset = _entry(each)
        if partition in wanted:
            raise CliError(
                "Offset json file contains duplicate topic partitions: {}-{}".format(*partition)
            )
        wanted[partition] = offset
    return wanted


def _entry(entry: Any) -> tuple[TopicPartition, int]:
    try:
        topic, partition, offset = (entry[name] for name in ("topic", "partition", "offset"))
        if isinstance(topic, str):
            return (topic, int32(str(partition))), int64(str(offset))
    except (KeyError, TypeError, ValueError):
        pass
    raise CliError(f"An entry of partitions is not as in --help: {json.dumps(entry)}")
