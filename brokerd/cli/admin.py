"""What several tools ask of a cluster, in one call each."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from brokerd.cli import client_tls
from brokerd.cli.addresses import bootstrap_addresses
from brokerd.cli.client import CALL_TIMEOUT_S, LEADER_MOVED, Client, Fields
from brokerd.cli.options import CliError, Options, read_properties
from brokerd.cli.words import check, refusal
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.topic_partition import TopicPartition

T = TypeVar("T")
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
_OF_ONE_BROKER = (BROKER, BROKER_LOGGER)


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


def all_topics(client: Client, *, internal: bool = True) -> dict[str, Any]:
    """Every topic by name, sorted, as Metadata answers it."""
    found = {each.name: each for each in client.metadata(None).topics}
    return {name: found[name] for name in sorted(found) if internal or not found[name].is_internal}


def topics_named(client: Client, names: Sequence[str]) -> dict[str, Any]:
    """These topics, sorted. Raises KafkaError for the first that is not there."""
    if not names:
        return {}
    found = {each.name: each for each in client.metadata(sorted(names)).topics}
    for topic in found.values():
        if topic.error_code != ErrorCode.LEADER_NOT_AVAILABLE:
            check(int(topic.error_code))
    return found


def partitions_of(topics: Mapping[str, Any]) -> list[TopicPartition]:
    """Every partition, in order."""
    return [
        (name, index)
        for name, topic in topics.items()
        for index in sorted(each.partition_index for each in topic.partitions)
    ]


def list_offsets(
    client: Client, wanted: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | KafkaError]:
    """The offset of each partition at a timestamp (or LATEST …), -1 where there is none."""

    def request(partitions: Sequence[TopicPartition]) -> Fields:
        return _offsets_request(partitions, wanted)

    def results(answer: Any) -> dict[TopicPartition, int | KafkaError]:
        return by_partition(answer, "offset")

    return ask_leaders(client, wanted, ApiKey.LIST_OFFSETS, request, results)


def by_partition(answer: Any, field: str) -> dict[TopicPartition, int | KafkaError]:
    """One field of each partition in an answer, or why there is none."""
    return {
        (topic.name, each.partition_index): refusal(int(each.error_code))
        if each.error_code
        else getattr(each, field)
        for topic in answer.topics
        for each in topic.partitions
    }


def ask_leaders(
    client: Client,
    partitions: Iterable[TopicPartition],
    api: ApiKey,
    request: Callable[[Sequence[TopicPartition]], Fields],
    results: Callable[[Any], dict[TopicPartition, T | KafkaError]],
) -> dict[TopicPartition, T | KafkaError]:
    """Asks the leader of each partition; those that have moved are asked for again."""
    wanted = list(partitions)
    found: dict[TopicPartition, T | KafkaError] = {}

    def attempt() -> None:
        left = [each for each in wanted if each not in found]
        leaders, missing = _by_leader(client, left)
        found.update(missing)
        moved: KafkaError | None = None
        for leader, led in leaders.items():
            for each, result in results(client.to(leader, api, request(led))).items():
                if isinstance(result, KafkaError) and result.code in LEADER_MOVED:
                    moved = result
                else:
                    found[each] = result
        if moved is not None:
            raise moved

    try:
        client.retrying(attempt)
    except KafkaError as error:
        for each in wanted:
            found.setdefault(each, error)
    return found


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
            missing[name, index] = refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif partitions[index].leader_id < 0:
            missing[name, index] = refusal(ErrorCode.LEADER_NOT_AVAILABLE)
        else:
            leaders[partitions[index].leader_id].append((name, index))
    return leaders, missing


def _offsets_request(
    partitions: Sequence[TopicPartition], times: Mapping[TopicPartition, int]
) -> Fields:
    topics: dict[str, list[dict[str, int]]] = defaultdict(list)
    for name, index in partitions:
        entry = {"partition_index": index, "current_leader_epoch": -1}
        topics[name].append(entry | {"timestamp": times[name, index]})
    return {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [{"name": name, "partitions": entries} for name, entries in topics.items()],
    }


def describe_configs(client: Client, kind: int, names: Sequence[str]) -> dict[str, list[Any]]:
    """The settings of topics or brokers, with synonyms. Raises KafkaError."""

    def attempt() -> list[Any]:
        if kind in _OF_ONE_BROKER and names[0]:
            broker_id = int(names[0])
            return list(client.to(broker_id, ApiKey.DESCRIBE_CONFIGS, request).results)
        return list(client.any(ApiKey.DESCRIBE_CONFIGS, request).results)

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
    results = client.retrying(attempt)
    for each in results:
        check(int(each.error_code), each.error_message)
    return {each.resource_name: list(each.configs) for each in results}


def alter_configs(
    client: Client, kind: int, name: str, changes: Sequence[tuple[str, int, str | None]]
) -> None:
    """Changes of one topic or broker: (setting, operation, value). Raises KafkaError."""
    configs = [
        {"name": key, "config_operation": operation, "value": value}
        for key, operation, value in changes
    ]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    request = {"resources": [resource], "validate_only": False}

    def attempt() -> None:
        api = ApiKey.INCREMENTAL_ALTER_CONFIGS
        if kind in _OF_ONE_BROKER and name:
            answer = client.to(int(name), api, request)
        else:
            answer = client.to_controller(api, request)
        for each in answer.responses:
            check(int(each.error_code), each.error_message)

    client.retrying(attempt)


def describe_quotas(client: Client, components: Sequence[Fields]) -> list[Any]:
    """The quotas of exactly the entities that a filter names. Raises KafkaError."""
    request = {"components": components, "strict": True}
    answer = client.any(ApiKey.DESCRIBE_CLIENT_QUOTAS, request)
    check(int(answer.error_code), answer.error_message)
    return list(answer.entries or ())


def alter_quotas(client: Client, entity: Sequence[Fields], operations: Sequence[Fields]) -> None:
    """Changes the quotas of one entity. Raises KafkaError."""
    entry = {"entity": entity, "ops": operations}
    request = {"entries": [entry], "validate_only": False}
    for each in client.any(ApiKey.ALTER_CLIENT_QUOTAS, request).entries:
        check(int(each.error_code), each.error_message)


def alter_credentials(client: Client, request: Fields) -> None:
    """Sets and deletes SCRAM credentials of users. Raises KafkaError."""

    def attempt() -> None:
        answer = client.to_controller(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request)
        for each in answer.results:
            check(int(each.error_code), each.error_message)

    client.retrying(attempt)
