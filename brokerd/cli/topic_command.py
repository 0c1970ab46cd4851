"""`brokerd topics`: Kafka's kafka-topics.sh, with its older --zookeeper as well.

--zookeeper only finds the brokers; the requests go to them. As in Kafka, --alter changes settings
only with --zookeeper; `brokerd configs` changes them in both forms.
"""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from brokerd.cli import admin_calls, topic_description
from brokerd.cli.client import Client
from brokerd.cli.error_messages import raise_for_code
from brokerd.cli.options import CliError, OptionParser, Options, UsageError, int32, run
from brokerd.cli.topic_description import REPORTS
from brokerd.cluster.zookeeper.zk_data import parse_topic_id, topic_id_text
from brokerd.config.value_parsers import words
from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT16_MAX
from brokerd.protocol.api_keys import ApiKey

TIMEOUT_MS = 30_000
NO_ID = UUID(int=0)
"""Kafka's Uuid.ZERO_UUID: no id was given."""
_ACTIONS_OF_OPTION = {
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "config": ("create", "alter"),
    "delete-config": ("alter",),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
    "topics-with-overrides": ("describe",),
} | dict.fromkeys(REPORTS, ("describe",))
"""Option → the actions that it goes with."""


def topics(arguments: Sequence[str]) -> int:
    parser = OptionParser("topics", "Create, delete, describe, or change a topic.")
    parser.bootstrap()
    parser.option("zookeeper", "Find the brokers in this ZooKeeper.", "HOST:PORT/CHROOT")
    parser.flag("list", "List all topics.")
    parser.flag("create", "Create a topic.")
    parser.flag("delete", "Delete topics.")
    parser.flag("alter", "Add partitions.")
    parser.flag("describe", "Show partitions and settings.")
    parser.option("topic", "The topic; a regular expression except with --create.", "TOPIC")
    parser.option("topic-id", "With --describe: the topic of this id.", "ID")
    parser.option("partitions", "How many; they only grow.", "N", int32)
    parser.option("replication-factor", "How many replicas each has.", "N", int32)
    parser.option("replica-assignment", "Brokers of each partition.", "1:2,2:3,…")
    parser.option("config", "A setting of the topic; may be repeated.", "NAME=VALUE", many=True)
    parser.option("delete-config", "With --zookeeper: a setting to remove.", "NAME", many=True)
    parser.flag("if-exists", "A missing topic is no error.")
    parser.flag("if-not-exists", "An existing topic is no error.")
    parser.flag("exclude-internal", "Leave out internal topics.")
    parser.flag("topics-with-overrides", "Only topics with settings of their own.")
    for report in REPORTS:
        parser.flag(report, "Only these.")
    limit = "Accepted and ignored: Metadata returns all."
    parser.option("partition-size-limit-per-response", limit, "N", int32)
    return run(parser, _run, arguments, _print_failure)


def _print_failure(error: Exception) -> int:
    print(f"Error while executing topic command : {error}")
    return 1


def _run(options: Options) -> None:
    action = _checked_action(options)
    with admin_calls.connect(options) as client:
        ACTIONS[action](client, options)


def _checked_action(options: Options) -> str:
    action = options.single_action(ACTIONS)
    if action == "describe":
        if options.if_exists and not options.has("topic") and not options.has("topic-id"):
            raise UsageError("--topic or --topic-id is required to describe a topic")
    elif action != "list":
        options.check_required("topic")
    for option, actions in _ACTIONS_OF_OPTION.items():
        options.check_invalid(option, *(each for each in ACTIONS if each not in actions))
    options.check_invalid("topics-with-overrides", *REPORTS)
    if action == "create":
        options.check_invalid("replica-assignment", "partitions", "replication-factor")
    if action == "alter":
        _check_alter(options)
    return action


def _check_alter(options: Options) -> None:
    settings = options.has("config") or options.has("delete-config")
    if settings and not options.has("zookeeper"):
        raise UsageError(
            "Option combination [bootstrap-server],[config] can't be used with option [alter]: use"
            " kafka-configs"
        )
    if not settings:
        options.check_required("partitions")


def _list(client: Client, options: Options) -> None:
    print("\n".join(_matching(client, options)))


def _matching(client: Client, options: Options) -> list[str]:
    found = list(admin_calls.all_topics(client, internal=not options.exclude_internal))
    if options.has("topic"):
        pattern = admin_calls.topic_filter(options.topic)
        found = [each for each in found if pattern.fullmatch(each)]
    return found


def _existing(client: Client, options: Options) -> list[str]:
    """As `_matching`; CliError if --topic matches none, unless --if-exists is given."""
    found = _matching(client, options)
    if options.topic and not found and not options.if_exists:
        raise CliError(f"Topic '{options.topic}' does not exist as expected")
    return found


def _topics_to_describe(client: Client, options: Options) -> list[str]:
    """The topic of --topic-id, else as `_existing`. Raises CliError as there."""
    try:
        wanted = NO_ID if options.topic_id is None else parse_topic_id(options.topic_id)
    except ValueError:
        raise CliError(f"{options.topic_id} is not the id of a topic") from None
    if wanted == NO_ID:
        return _existing(client, options)
    topics = admin_calls.all_topics(client, internal=not options.exclude_internal)
    found = [name for name, topic in topics.items() if getattr(topic, "topic_id", None) == wanted]
    if not found and not options.if_exists:
        raise CliError(f"TopicId '{topic_id_text(wanted)}' does not exist as expected")
    return found


def _create(client: Client, options: Options) -> None:
    assignment, settings = _assignment(options.replica_assignment), _settings(options.config)
    if "." in options.topic or "_" in options.topic:
        print(
            "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore"
            " ('_') could collide. To avoid issues it is best to use either, but not both."
        )
    factor, count = options.replication_factor, options.partitions
    if factor is not None and not 1 <= factor <= INT16_MAX:
        raise CliError(f"The replication factor must be between 1 and {INT16_MAX} inclusive")
    if count is not None and count < 1:
        raise CliError("The partitions must be greater than 0")
    topic = {
        "name": options.topic,
        "num_partitions": -1 if assignment or count is None else count,
        "replication_factor": -1 if assignment or factor is None else factor,
        "assignments": [
            {"partition_index": index, "broker_ids": brokers}
            for index, brokers in enumerate(assignment)
        ],
        "configs": [{"name": key, "value": value} for key, value in settings],
    }
    request = {"topics": [topic], "timeout": TIMEOUT_MS, "validate_only": False}
    try:
        admin_calls.change(client, ApiKey.CREATE_TOPICS, request, "topics")
    except KafkaError as error:
        if error.code == ErrorCode.TOPIC_ALREADY_EXISTS and options.if_not_exists:
            return
        raise
    print(f"Created topic {options.topic}.")


def _settings(given: list[str] | None) -> list[tuple[str, str]]:
    pairs = [each.split("=") for each in given or ()]
    if any(len(pair) != 2 for pair in pairs):
        raise CliError(
            "requirement failed: Invalid topic config: all configs to be added must be in the"
            ' format "key=val".'
        )
    return [(key.strip(), value.strip()) for key, value in pairs]


def _assignment(text: str | None) -> list[list[int]]:
    """`1:2,2:3` as lists of broker ids. Raises CliError."""
    lists: list[list[int]] = []
    for index, each in enumerate(words(text or "")):
        try:
            brokers = [int32(broker) for broker in each.split(":")]
        except ValueError as error:
            raise CliError(f"{error}: {each} is not a list of broker ids, as 1:2:3") from None
        if len(set(brokers)) < len(brokers):
            raise CliError(f"Partition replica lists may not contain duplicate entries: {each}")
        lists.append(brokers)
        if len(brokers) != len(lists[0]):
            raise CliError(f"Partition {index} has different replication factor: {brokers}")
    return lists


def _alter(client: Client, options: Options) -> None:
    names = _existing(client, options)
    if options.zookeeper and names:
        _alter_settings(client, options, names)
    if options.partitions is None or not names:
        return
    assignment = _assignment(options.replica_assignment)
    found = admin_calls.topics_named(client, names)
    wanted = [
        {
            "name": name,
            "count": options.partitions,
            "assignments": [
                {"broker_ids": brokers} for brokers in assignment[len(found[name].partitions) :]
            ]
            if assignment
            else None,
        }
        for name in names
    ]
    request = {"topics": wanted, "timeout": TIMEOUT_MS, "validate_only": False}
    admin_calls.change(client, ApiKey.CREATE_PARTITIONS, request, "results")


def _alter_settings(client: Client, options: Options, names: list[str]) -> None:
    added, dropped = dict(_settings(options.config)), options.delete_config or ()
    for name in names if added or dropped else ():
        admin_calls.alter_configs(client, admin_calls.TOPIC, name, added, dropped)
        print(f"Updated config for topic {name}.")


def _delete(client: Client, options: Options) -> None:
    names = _existing(client, options)
    request = {"topic_names": names, "timeout": TIMEOUT_MS}
    if names:
        admin_calls.change(client, ApiKey.DELETE_TOPICS, request, "responses")


def _describe(client: Client, options: Options) -> None:
    names = _topics_to_describe(client, options)
    found = admin_calls.topics_named(client, names)
    configs = admin_calls.describe_configs(client, admin_calls.TOPIC, names)
    moving = _reassignments(client)
    live = set(client.brokers)
    reports = {report for report in REPORTS if options.has(report)}
    for name in names:
        topic, settings = found[name], configs[name]
        has_overrides = topic_description.has_overrides(settings)
        if not reports and (has_overrides or not options.topics_with_overrides):
            print(topic_description.topic_line(topic, settings, moving[name]))
        if not options.topics_with_overrides:
            for line in topic_description.partition_lines(
                topic, settings, moving[name], reports, live
            ):
                print(line)


def _reassignments(client: Client) -> dict[str, dict[int, topic_description.Reassignment]]:
    """Reassignments under way, by topic; none if the brokers do not serve the API."""
    moving: dict[str, dict[int, topic_description.Reassignment]] = defaultdict(dict)
    request = {"timeout": TIMEOUT_MS, "topics": None}
    api = ApiKey.LIST_PARTITION_REASSIGNMENTS
    try:
        answer = client.with_retries(lambda: client.to_controller(api, request))
    except KafkaError as error:
        if error.code == ErrorCode.UNSUPPORTED_VERSION:
            return moving
        raise
    raise_for_code(int(answer.error_code), answer.error_message)
    for topic in answer.topics:
        for each in topic.partitions:
            moving[topic.name][each.partition_index] = topic_description.Reassignment(
                tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
            )
    return moving


ACTIONS = {
    "list": _list, "describe": _describe, "create": _create, "alter": _alter, "delete": _delete,
}  # fmt: skip
