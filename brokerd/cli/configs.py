"""`brokerd configs`: Kafka's kafka-configs.sh, --zookeeper included.

Settings of topics, brokers and their loggers; quotas of users, clients and addresses; SCRAM
credentials of users.
"""

import secrets
import sys
from collections.abc import Mapping, Sequence

from brokerd.cli import admin, config_lines, quota_lines, scram, stopped_brokers
from brokerd.cli.client import Client
from brokerd.cli.config_entities import (
    BROKERS,
    CLIENTS,
    DEFAULTS,
    IPS,
    LOGGERS,
    NAMED,
    TOPICS,
    USERS,
    Entities,
    check_alterable,
    check_describable,
    read_entities,
)
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    UsageError,
    has,
    one_of,
    read_properties,
    run,
)
from brokerd.cli.words import check
from brokerd.config.values import words
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey

SALT_BYTES = 16
SILENT_S = 5.0
"""For a broker that runs to answer, before its settings are changed without it."""
RESOURCES = {TOPICS: admin.TOPIC, BROKERS: admin.BROKER, LOGGERS: admin.BROKER_LOGGER}


def configs(arguments: Sequence[str]) -> int:
    """Runs the command."""
    about = "Show and change settings of topics, brokers and loggers, quotas and credentials."
    parser = OptionParser("configs", about)
    parser.bootstrap()
    parser.option("zookeeper", "Find the brokers here instead.", "HOST:PORT/CHROOT")
    parser.flag("alter", "Change settings.")
    parser.flag("describe", "Show settings.")
    parser.flag("all", "With --describe: those that nobody has set as well.")
    kinds = "topics, brokers, broker-loggers, users, clients or ips."
    parser.option("entity-type", kinds, "TYPE", many=True, into="entity_types")
    names = "The topic, the broker's id, the user, client id or address."
    parser.option("entity-name", names, "NAME", many=True, into="entity_names")
    parser.flag("entity-default", "The default of all of a type.", empty_in="entity_names")
    for short, kind in NAMED:
        parser.option(short, f"One of the {kind}.", "NAME")
    for short, kind in DEFAULTS:
        parser.flag(short, f"The default of all {kind}.")
    parser.option("add-config", "Settings: k1=v1,k2=[v1,v2].", "K=V,…")
    parser.option("add-config-file", "A properties file of settings.", "FILE")
    parser.option("delete-config", "Settings to drop.", "K1,K2", many=True)
    parser.flag("force", "Taken and not needed.")
    return run(parser, _run, arguments, lambda error: _failed(error, arguments))


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    if isinstance(error, KafkaError):
        print(f"Error while executing config command with args '{' '.join(arguments)}'", end=": ",
              file=sys.stderr)  # fmt: skip
    print(error, file=sys.stderr)
    return 1


def _run(options: Options) -> None:
    entities = _checked(options)
    if not _is_done_in_zookeeper(options, entities):
        with admin.connect(options) as client:
            (_alter if options.alter else _describe)(client, options, entities)
    if options.alter:
        if entities.name:
            print(f"Completed updating config for {entities.kind[:-1]} {entities.name}.")
        else:
            print(f"Completed updating default config for {entities.kind} in the cluster.")


def _is_done_in_zookeeper(options: Options, entities: Entities) -> bool:
    """Settings of a broker that does not run, or cannot be asked, are looked up and changed there,
    if it is named."""
    name = entities.name
    if not has(options, "zookeeper") or entities.kind != BROKERS or name is None:
        return False
    with stopped_brokers.stopped(
        options.zookeeper, name, lambda: _is_silent(options, name)
    ) as broker:
        if broker is None:
            return False
        if options.alter:
            broker.alter(*_changes(options))
            return True
        print(config_lines.heading("broker", name, everything=options.all))
        for setting in broker.settings(_source(BROKERS, name)):
            print(config_lines.config_line(setting))
    return True


def _is_silent(options: Options, name: str) -> bool:
    """Whether the broker that would change its settings ('': the controller) cannot be asked, as
    where what was set lets nobody connect."""
    with admin.connect(options, SILENT_S) as client:
        try:
            client.retrying(lambda: _ask(client, name))
        except (CliError, KafkaError) as error:
            print(f"{error}. Going by ZooKeeper alone.", file=sys.stderr)
            return True
    return False


def _ask(client: Client, name: str) -> None:
    fields = {"topics": [], "allow_auto_topic_creation": False}
    if name:
        client.to(int(name), ApiKey.METADATA, fields)
    else:
        client.to_controller(ApiKey.METADATA, fields)


def _checked(options: Options) -> Entities:
    """Whose settings are meant. Raises CliError."""
    one_of(options, ("describe", "alter"))
    if not has(options, "bootstrap-server") and not has(options, "zookeeper"):
        raise UsageError("One of the required --bootstrap-server or --zookeeper must be specified")
    changes = [has(options, each) for each in ("add-config", "add-config-file", "delete-config")]
    if options.describe and any(changes):
        raise UsageError('Option "[add-config]" can\'t be used with option "[describe]"')
    entities = read_entities(options)
    if options.describe:
        check_describable(entities)
        return entities
    check_alterable(entities)
    if changes[0] and changes[1]:
        raise CliError("Only one of --add-config or --add-config-file must be specified")
    if not any(changes):
        raise CliError(
            "At least one of --add-config, --add-config-file, or --delete-config must be"
            " specified with --alter"
        )
    return entities


# -- alter ------------------------------------------------------------------------------------


def _changes(options: Options) -> tuple[dict[str, str], list[str]]:
    """What is to be set, and what to be dropped. Raises CliError."""
    added: dict[str, str] = {}
    if has(options, "add-config"):
        added = config_lines.added_configs(options.add_config)
    elif has(options, "add-config-file"):
        added = read_properties(options.add_config_file)
    return added, list(words(",".join(options.delete_config or ())))


def _alter(client: Client, options: Options, entities: Entities) -> None:
    added, dropped = _changes(options)
    if entities.kind in RESOURCES:
        _alter_resource(client, entities, added, dropped)
    elif quota_lines.check_credentials(entities, (*added, *dropped)):
        salt = secrets.token_hex(SALT_BYTES).encode()
        request = scram.alteration(entities.name or "", added, dropped, salt)
        admin.change(client, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request, "results")
    else:
        _alter_quotas(client, entities, added, dropped)


def _alter_resource(
    client: Client, entities: Entities, added: Mapping[str, str], dropped: Sequence[str]
) -> None:
    kind, name = entities.kind, entities.name or ""
    _check_exists(client, kind, name)
    entries = admin.describe_configs(client, RESOURCES[kind], [name])[name]
    if kind == LOGGERS:
        held = {each.name for each in entries}
        config_lines.check_held((*dropped, *added), held, "broker logger(s)")
    else:
        own = _source(kind, name)
        config_lines.check_held(dropped, {e.name for e in entries if e.config_source == own})
    admin.alter_configs(client, RESOURCES[kind], name, added, dropped)


def _alter_quotas(
    client: Client, entities: Entities, added: Mapping[str, str], dropped: Sequence[str]
) -> None:
    held = {
        each.key
        for entry in admin.describe_quotas(client, quota_lines.components(entities))
        for each in entry.values
    }
    config_lines.check_held(dropped, held)
    operations = quota_lines.operations(added, dropped)
    admin.alter_quotas(client, quota_lines.entity(entities), operations)


def _check_exists(client: Client, kind: str, name: str) -> None:
    if kind in (BROKERS, LOGGERS) and name and int(name) not in client.brokers:
        known = ", ".join(map(str, sorted(client.brokers)))
        raise CliError(f"Broker {name} is not there; these are: {known}")


# -- describe ---------------------------------------------------------------------------------


def _describe(client: Client, options: Options, entities: Entities) -> None:
    if entities.kind in (USERS, CLIENTS, IPS):
        _describe_quotas(client, entities)
        return
    kind = entities.kind
    if entities.name is not None:
        names = [entities.name]
    elif kind == TOPICS:
        names = list(admin.all_topics(client))
    else:  # '' is the default of all brokers
        names = [*map(str, sorted(client.brokers)), ""]
    for each in names:
        print(config_lines.heading(kind[:-1], each, everything=options.all))
        sys.stdout.flush()
        _check_exists(client, kind, each)
        entries = admin.describe_configs(client, RESOURCES[kind], [each])[each]
        everything = options.all or kind == LOGGERS
        for entry in config_lines.wanted(entries, _source(kind, each), everything=everything):
            print(config_lines.config_line(entry))


def _source(kind: str, name: str) -> int:
    """Where a setting of this very topic or broker comes from; '' is the default of brokers."""
    if kind == TOPICS:
        return config_lines.DYNAMIC_TOPIC
    return config_lines.DYNAMIC_BROKER if name else config_lines.DYNAMIC_DEFAULT_BROKER


def _describe_quotas(client: Client, entities: Entities) -> None:
    for entry in admin.describe_quotas(client, quota_lines.components(entities)):
        print(quota_lines.quota_line(entry))
    if CLIENTS in entities.types or IPS in entities.types or "" in entities.names:
        return
    users = [{"name": name} for name in entities.names] or None
    answer = client.any(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, {"users": users})
    check(int(answer.error_code), answer.error_message)
    for result in answer.results:
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            continue
        check(int(result.error_code), result.error_message)
        print(scram.line(result))
