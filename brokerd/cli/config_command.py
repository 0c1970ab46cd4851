"""`brokerd configs`: Kafka's kafka-configs.sh, --zookeeper included. Settings of topics, brokers
and their loggers; quotas of users, clients and addresses; SCRAM credentials."""

import secrets
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from brokerd.cli import admin_calls, config_command_quotas, config_entities, scram_credentials
from brokerd.cli.client import Client
from brokerd.cli.config_entities import BROKERS, CLIENTS, IPS, LOGGERS, TOPICS, USERS, Entities
from brokerd.cli.error_messages import raise_for_code
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    UsageError,
    check_are_set,
    parse_added_configs,
    read_properties,
    run,
)
from brokerd.config.value_parsers import ConfigSource, words
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey

SALT_BYTES = 16
RESOURCES = {
    TOPICS: admin_calls.TOPIC,
    BROKERS: admin_calls.BROKER,
    LOGGERS: admin_calls.BROKER_LOGGER,
}


def configs(arguments: Sequence[str]) -> int:
    about = "Show and change settings of topics, brokers and loggers, quotas and credentials."
    parser = OptionParser("configs", about)
    parser.bootstrap()
    parser.option("zookeeper", "Find the brokers in this ZooKeeper.", "HOST:PORT/CHROOT")
    parser.flag("alter", "Change settings.")
    parser.flag("describe", "Show settings.")
    parser.flag("all", "With --describe: also those that were never set.")
    config_entities.add_options(parser)
    parser.option("add-config", "Settings: k1=v1,k2=[v1,v2].", "K=V,…")
    parser.option("add-config-file", "A properties file of settings.", "FILE")
    parser.option("delete-config", "Settings to remove.", "K1,K2", many=True)
    parser.flag("force", "Accepted and ignored.")
    return run(parser, _run, arguments, lambda error: _print_failure(error, arguments))


def _print_failure(error: Exception, arguments: Sequence[str]) -> int:
    if isinstance(error, KafkaError):
        print(f"Error while executing config command with args '{' '.join(arguments)}'", end=": ",
              file=sys.stderr)  # fmt: skip
    print(error, file=sys.stderr)
    return 1


def _run(options: Options) -> None:
    entities = _checked_entities(options)
    if not _try_in_zookeeper(options, entities):
        with admin_calls.connect(options) as client:
            (_alter if options.alter else _describe)(client, options, entities)
    if options.alter:
        if entities.name:
            print(f"Completed updating config for {entities.kind[:-1]} {entities.name}.")
        else:
            print(f"Completed updating default config for {entities.kind} in the cluster.")


def _try_in_zookeeper(options: Options, entities: Entities) -> bool:
    """Serves --zookeeper of a broker that does not run; returns whether it was that."""
    name = entities.name
    if not options.has("zookeeper") or entities.kind != BROKERS or name is None:
        return False
    # Imports all settings of a broker, which only this needs.
    from brokerd.cli import config_of_stopped_broker

    with config_of_stopped_broker.stopped_broker(options.zookeeper, name) as broker:
        if broker is None:
            return False
        if options.alter:
            broker.alter(*_changes(options))
            return True
        print(_heading("broker", name, everything=options.all))
        for setting in broker.settings(_source(BROKERS, name)):
            print(_config_line(setting))
    return True


def _checked_entities(options: Options) -> Entities:
    """The entities that the options name. Raises CliError."""
    options.single_action(("describe", "alter"))
    if not options.has("bootstrap-server") and not options.has("zookeeper"):
        raise UsageError("One of the required --bootstrap-server or --zookeeper must be specified")
    changes = [options.has(each) for each in ("add-config", "add-config-file", "delete-config")]
    if options.describe and any(changes):
        raise UsageError('Option "[add-config]" can\'t be used with option "[describe]"')
    entities = config_entities.read_entities(options)
    if options.describe:
        entities.check_describable()
        return entities
    entities.check_alterable()
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
    """The settings to set, and the names of those to remove. Raises CliError."""
    added: dict[str, str] = {}
    if options.has("add-config"):
        added = parse_added_configs(options.add_config)
    elif options.has("add-config-file"):
        added = read_properties(options.add_config_file)
    return added, list(words(",".join(options.delete_config or ())))


def _alter(client: Client, options: Options, entities: Entities) -> None:
    added, dropped = _changes(options)
    if entities.kind in RESOURCES:
        _alter_resource(client, entities, added, dropped)
    elif scram_credentials.are_credentials(entities, (*added, *dropped)):
        salt = secrets.token_hex(SALT_BYTES).encode()
        request = scram_credentials.alter_request(entities.name or "", added, dropped, salt)
        admin_calls.change(client, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request, "results")
    else:
        _alter_quotas(client, entities, added, dropped)


def _alter_resource(
    client: Client, entities: Entities, added: Mapping[str, str], dropped: Sequence[str]
) -> None:
    kind, name = entities.kind, entities.name or ""
    _check_exists(client, kind, name)
    entries = admin_calls.describe_configs(client, RESOURCES[kind], [name])[name]
    if kind == LOGGERS:
        current = {each.name for each in entries}
        check_are_set((*dropped, *added), current, "broker logger(s)")
    else:
        own = _source(kind, name)
        check_are_set(dropped, {e.name for e in entries if e.config_source == own})
    admin_calls.alter_configs(client, RESOURCES[kind], name, added, dropped)


def _alter_quotas(
    client: Client, entities: Entities, added: Mapping[str, str], dropped: Sequence[str]
) -> None:
    current = {
        each.key
        for entry in admin_calls.describe_quotas(
            client, config_command_quotas.entity_filter(entities)
        )
        for each in entry.values
    }
    check_are_set(dropped, current)
    operations = config_command_quotas.quota_alterations(added, dropped)
    admin_calls.alter_quotas(client, config_command_quotas.entity(entities), operations)


def _check_exists(client: Client, kind: str, name: str) -> None:
    if kind in (BROKERS, LOGGERS) and name and int(name) not in client.brokers:
        known = ", ".join(map(str, sorted(client.brokers)))
        raise CliError(f"Broker {name} is not live; the live brokers are: {known}")


# -- describe ---------------------------------------------------------------------------------


def _describe(client: Client, options: Options, entities: Entities) -> None:
    if entities.kind in (USERS, CLIENTS, IPS):
        _describe_quotas(client, entities)
        return
    kind = entities.kind
    if entities.name is not None:
        names = [entities.name]
    elif kind == TOPICS:
        names = list(admin_calls.all_topics(client))
    else:  # '' is the default of all brokers
        names = [*map(str, sorted(client.brokers)), ""]
    for each in names:
        print(_heading(kind[:-1], each, everything=options.all))
        sys.stdout.flush()
        _check_exists(client, kind, each)
        entries = admin_calls.describe_configs(client, RESOURCES[kind], [each])[each]
        everything = options.all or kind == LOGGERS
        for entry in _entries_to_show(entries, _source(kind, each), everything=everything):
            print(_config_line(entry))


def _source(kind: str, name: str) -> ConfigSource:
    """The source of a setting of exactly this topic or broker; '' is the default of brokers."""
    if kind == TOPICS:
        return ConfigSource.DYNAMIC_TOPIC_CONFIG
    if name:
        return ConfigSource.DYNAMIC_BROKER_CONFIG
    return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG


def _describe_quotas(client: Client, entities: Entities) -> None:
    for entry in admin_calls.describe_quotas(client, config_command_quotas.entity_filter(entities)):
        print(config_command_quotas.quota_line(entry))
    if CLIENTS in entities.types or IPS in entities.types or "" in entities.names:
        return
    users = [{"name": name} for name in entities.names] or None
    answer = client.to_any(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, {"users": users})
    raise_for_code(int(answer.error_code), answer.error_message)
    for result in answer.results:
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            continue
        raise_for_code(int(result.error_code), result.error_message)
        print(scram_credentials.credentials_line(result))


def _heading(kind: str, name: str, *, everything: bool) -> str:
    """The line above the settings of a topic or broker; '' is the default of all brokers."""
    if not name:
        return f"Default configs for {kind}s in the cluster are:"
    return f"{'All' if everything else 'Dynamic'} configs for {kind} {name} are:"


def _config_line(entry: Any) -> str:
    synonyms = ", ".join(
        f"{ConfigSource(each.source).name}:{each.name}={_value_text(each.value)}"
        for each in entry.synonyms
    )
    sensitive = "true" if entry.is_sensitive else "false"
    return (
        f"  {entry.name}={_value_text(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"
    )


def _entries_to_show(entries: Sequence[Any], source: int, *, everything: bool) -> list[Any]:
    """The settings that --describe shows, sorted by name: all, or those of one source."""
    shown = [each for each in entries if everything or each.config_source == source]
    return sorted(shown, key=lambda each: str(each.name))


def _value_text(value: str | None) -> str:
    return "null" if value is None else value
