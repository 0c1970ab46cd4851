"""Requests that several tools need: topics, offsets, configs and quotas, one function each."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brokerd.cli import client_tls
from brokerd.cli.addresses import bootstrap_addresses
from brokerd.cli.client import CALL_TIMEOUT_S, LEADER_MOVED, Client, Fields
from brokerd.cli.error_messages import error_of, raise_for_code
from brokerd.cli.options import CliError, Options, read_properties
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
_OF_ONE_BROKER = (BROKER, BROKER_LOGGER)
_SET, _DELETE = 0, 1


def connect(options: Options, timeout_s: float = CALL_TIMEOUT_S) -> Client:
    """A client by the options that `OptionParser.bootstrap` adds. Raises CliError."""
    properties = read_properties(options.command_config)
    tls = client_tls.context(properties)
    timeout_ms = properties.get("default.api.timeout.ms", "")
    if timeout_ms and not (timeout_ms.isdecimal() and len(timeout_ms) < len(str(1 << 31))):
        raise CliError(f"default.api.timeout.ms={timeout_ms} is not a number of ms below 10^9")
    return Client(
        bootstrap_addresses(options),
        client_id=properties.get("client.id", "brokerd-cli"),
        timeout_s=int(timeout_ms) / 1000 if timeout_ms else timeout_s,
        tls=tls,
    )


def topic_filter(pattern: str) -> "re.Pattern[str]":
    """A regular expression for topic names; a comma stands for `|`. Raises CliError."""
    text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        return re.compile(text)
    except re.error:
        raise CliError(f"{text} is an invalid regex.") from None


def change(
    client: Client, api: ApiKey, request: Fields, results: str, broker_id: int | None = None
) -> None:
    """Sends a request that changes something to the controller, or to a broker. `results` is the
    answer's list of results. Raises KafkaError for the first error among them."""

    def attempt() -> None:
        if broker_id is None:
            answer = client.to_controller(api, request)
        else:
            answer = client.to_broker(broker_id, api, request)
        for each in getattr(answer, results):
            raise_for_code(int(each.error_code), getattr(each, "error_message", None))

    client.with_retries(attempt)


def all_topics(client: Client, *, internal: bool = True) -> dict[str, Any]:
    """Every topic by name, sorted, as Metadata answers it."""
    found = {each.name: each for each in client.metadata(None).topics}
    return {name: found[name] for name in sorted(found) if internal or not found[name].is_internal}


def topics_named(client: Client, names: Sequence[str]) -> dict[str, Any]:
    """These topics, sorted. Raises KafkaError for the first that does not exist."""
    if not names:
        return {}
    found = {each.name: each for each in client.metadata(sorted(names)).topics}
    for topic in found.values():
        if topic.error_code != ErrorCode.LEADER_NOT_AVAILABLE:
            raise_for_code(int(topic.error_code))
    return found


def partitions_of(topics: Mapping[str, Any]) -> list[TopicPartition]:
    return [
        (name, index)
        for name, topic in topics.items()
        for index in sorted(each.partition_index for each in topic.partitions)
    ]


def by_topic(entries: Mapping[TopicPartition, Fields]) -> list[Fields]:
    """The entries of partitions as requests have them: grouped by topic."""
    topics: dict[str, list[Fields]] = defaultdict(list)
    for (name, index), entry in entries.items():
        topics[name].append({"partition_index": index, **entry})
    return [{"name": name, "partitions": partitions} for name, partitions in topics.items()]


def list_offsets(
    client: Client, wanted: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | KafkaError]:
    """ListOffsets: the offset of each partition for a timestamp (or LATEST …), -1 if none."""
    entries = {
        each: {"current_leader_epoch": -1, "timestamp": time} for each, time in wanted.items()
    }
    common = {"replica_id": -1, "isolation_level": 0}
    return ask_leaders(client, ApiKey.LIST_OFFSETS, common, entries, "offset")


def ask_leaders(
    client: Client,
    api: ApiKey,
    common: Fields,
    entries: Mapping[TopicPartition, Fields],
    field: str,
) -> dict[TopicPartition, int | KafkaError]:
    """Sends a request to the leaders of all partitions, again to those that moved. Returns one
    field of each partition's answer, or its error, in the order of the entries."""
    found: dict[TopicPartition, int | KafkaError] = {}

    def attempt() -> None:
        leaders, missing = _by_leader(client, [each for each in entries if each not in found])
        found.update(missing)
        moved: KafkaError | None = None
        for leader, led in leaders.items():
            request = {**common, "topics": by_topic({each: entries[each] for each in led})}
            for each, result in _by_partition(
                client.to_broker(leader, api, request), field
            ).items():
                if isinstance(result, KafkaError) and result.code in LEADER_MOVED:
                    moved = result
                else:
                    found[each] = result
        if moved is not None:
            raise moved

    try:
        client.with_retries(attempt)
    except KafkaError as error:
        return {each: found.get(each, error) for each in entries}
    return {each: found[each] for each in entries}


def _by_partition(answer: Any, field: str) -> dict[TopicPartition, int | KafkaError]:
    """One field of each partition in an answer, or why there is none."""
    return {
        (topic.name, each.partition_index): error_of(int(each.error_code))
        if each.error_code
        else getattr(each, field)
        for topic in answer.topics
        for each in topic.partitions
    }


def _by_leader(
    client: Client, wanted: Sequence[TopicPartition]
) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, KafkaError]]:
    """Partitions by leader, and an error for each that does not exist or has none."""
    topics = {each.name: each for each in client.metadata(sorted({t for t, _ in wanted})).topics}
    leaders: dict[int, list[TopicPartition]] = defaultdict(list)
    missing: dict[TopicPartition, KafkaError] = {}
    for name, index in wanted:
        topic = topics.get(name)
        partitions = {each.partition_index: each for each in topic.partitions} if topic else {}
        if index not in partitions:
            missing[name, index] = error_of(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif partitions[index].leader_id < 0:
            missing[name, index] = error_of(ErrorCode.LEADER_NOT_AVAILABLE)
        else:
            leaders[partitions[index].leader_id].append((name, index))
    return leaders, missing


def describe_configs(client: Client, kind: int, names: Sequence[str]) -> dict[str, list[Any]]:
    """The settings of topics or brokers, with synonyms. Raises KafkaError."""

    def attempt() -> list[Any]:
        if kind in _OF_ONE_BROKER and names[0]:
            broker_id = int(names[0])
            return list(client.to_broker(broker_id, ApiKey.DESCRIBE_CONFIGS, request).results)
        return list(client.to_any(ApiKey.DESCRIBE_CONFIGS, request).results)

    request = {
        "resources": [
            {"resource_type": kind, "resource_name": name, "configuration_keys": None}
            for name in names
        ],
        "include_synonyms": True,
        "include_documentation": False,
    }
    if not names:
        return {}
    results = client.with_retries(attempt)
    for each in results:
        raise_for_code(int(each.error_code), each.error_message)
    return {each.resource_name: list(each.configs) for each in results}


def alter_configs(
    client: Client, kind: int, name: str, added: Mapping[str, str], dropped: Iterable[str]
) -> None:
    """Changes settings of one topic or broker. Raises KafkaError."""
    configs: list[Fields] = [
        {"name": key, "config_operation": _SET, "value": value} for key, value in added.items()
    ]
    configs += [{"name": key, "config_operation": _DELETE, "value": None} for key in dropped]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    request = {"resources": [resource], "validate_only": False}
    broker_id = int(name) if kind in _OF_ONE_BROKER and name else None
    change(client, ApiKey.INCREMENTAL_ALTER_CONFIGS, request, "responses", broker_id)


def describe_quotas(client: Client, components: Sequence[Fields]) -> list[Any]:
    """The quotas of exactly the entities that a filter names. Raises KafkaError."""
    request = {"components": components, "strict": True}
    answer = client.to_any(ApiKey.DESCRIBE_CLIENT_QUOTAS, request)
    raise_for_code(int(answer.error_code), answer.error_message)
    return list(answer.entries or ())


def alter_quotas(client: Client, entity: Sequence[Fields], operations: Sequence[Fields]) -> None:
    """Changes the quotas of one entity. Raises KafkaError."""
    entry = {"entity": entity, "ops": operations}
    request = {"entries": [entry], "validate_only": False}
    change(client, ApiKey.ALTER_CLIENT_QUOTAS, request, "entries")
