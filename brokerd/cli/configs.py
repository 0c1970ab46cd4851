"""`brokerd configs`: Kafka's kafka-configs.sh for topics and brokers, --zookeeper included."""

import sys
from collections.abc import Sequence

from brokerd.cli import admin, config_lines
from brokerd.cli.client import Client
from brokerd.cli.options import (
    CliError,
    OptionParser,
    Options,
    UsageError,
    exclude,
    has,
    read_properties,
    run,
)
from brokerd.errors import KafkaError

SET, DELETE = 0, 1
_KINDS = {"topics": admin.TOPIC, "brokers": admin.BROKER}


def configs(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = OptionParser("configs", "Show and change the settings of topics and brokers.")
    parser.bootstrap()
    parser.option("zookeeper", "Find the brokers here instead.", "HOST:PORT/CHROOT")
    parser.flag("alter", "Change settings.")
    parser.flag("describe", "Show settings.")
    parser.flag("all", "With --describe: those that nobody has set as well.")
    parser.option("entity-type", "topics or brokers.", "TYPE")
    parser.option("entity-name", "The topic, or the broker's id.", "NAME")
    parser.flag("entity-default", "The default of all brokers.")
    parser.option("topic", "The topic.", "TOPIC")
    parser.option("broker", "The broker's id.", "ID")
    parser.flag("broker-defaults", "The default of all brokers.")
    parser.option("add-config", "Settings: k1=v1,k2=[v1,v2].", "K=V,…")
    parser.option("add-config-file", "A properties file of settings.", "FILE")
    parser.option("delete-config", "Settings to drop.", "K1,K2", many=True)
    parser.flag("force", "Taken and not needed.")
    return run(parser, lambda options: _run(options, " ".join(arguments)), arguments)


def _run(options: Options, line: str) -> int:
    kind, name = _checked(options)
    with admin.connect(options) as client:
        try:
            (_alter if options.alter else _describe)(client, options, kind, name)
        except KafkaError as error:
            what = f"Error while executing config command with args '{line}'"
            raise CliError(f"{what}: {error}") from None
    return 0


def _checked(options: Options) -> tuple[str, str | None]:
    """'topics' or 'brokers', and the name; None = each of them. Raises CliError."""
    if options.alter == options.describe:
        raise UsageError("Command must include exactly one action: --describe, --alter")
    if not has(options, "bootstrap-server") and not has(options, "zookeeper"):
        raise UsageError("One of the required --bootstrap-server or --zookeeper must be specified")
    kind, name = _entity(options)
    if kind == "brokers" and name and not name.isdecimal():
        raise CliError(
            f"The entity name for brokers must be a valid integer broker id, but it is: {name}"
        )
    exclude(options, "add-config", "add-config-file")
    changes = [has(options, each) for each in ("add-config", "add-config-file", "delete-config")]
    if options.alter:
        if name is None:
            raise CliError("an entity name must be specified with --alter of " + kind)
        if not any(changes):
            raise CliError(
                "At least one of --add-config, --add-config-file, or --delete-config must be"
                " specified with --alter"
            )
    elif any(changes):
        raise UsageError('Option "[add-config]" can\'t be used with option "[describe]"')
    return kind, name


def _entity(options: Options) -> tuple[str, str | None]:
    short = [each for each in ("topic", "broker", "broker-defaults") if has(options, each)]
    if short:
        exclude(options, short[0], *short[1:], "entity-type", "entity-name", "entity-default")
        kind = "topics" if options.topic is not None else "brokers"
        return kind, "" if options.broker_defaults else options.topic or options.broker
    if options.entity_type is None:
        raise UsageError("At least one entity type must be specified")
    if options.entity_type not in _KINDS:
        raise CliError(
            f"Invalid entity type {options.entity_type}, the entity type must be one of"
            f" {', '.join(_KINDS)}"
        )
    if options.entity_default:
        exclude(options, "entity-default", "entity-name")
        if options.entity_type == "topics":
            raise CliError("--entity-default must not be specified with --describe of topics")
        return options.entity_type, ""
    return options.entity_type, options.entity_name


def _alter(client: Client, options: Options, kind: str, name: str | None) -> None:
    assert name is not None
    _check_exists(client, kind, name)
    added = read_properties(options.add_config_file)
    if options.add_config:
        added = config_lines.added_configs(options.add_config)
    dropped = [key.strip() for text in options.delete_config or () for key in text.split(",")]
    entries = admin.describe_configs(client, _KINDS[kind], [name])[name]
    known = {each.name for each in entries if each.config_source == _source(kind, name)}
    unknown = [key for key in dropped if key not in known]
    if unknown:
        raise CliError(f"Invalid config(s): {','.join(unknown)}")
    changes: list[tuple[str, int, str | None]] = []
    changes += [(key, SET, value) for key, value in added.items()]
    changes += [(key, DELETE, None) for key in dropped]
    admin.alter_configs(client, _KINDS[kind], name, changes)
    if name:
        print(f"Completed updating config for {kind[:-1]} {name}.")
    else:
        print(f"Completed updating default config for {kind} in the cluster.")


def _check_exists(client: Client, kind: str, name: str) -> None:
    if kind == "brokers" and name and int(name) not in client.brokers:
        raise CliError(f"Broker {name} is not there; these are: {_ids(client)}")


def _ids(client: Client) -> str:
    return ", ".join(map(str, sorted(client.brokers)))


def _describe(client: Client, options: Options, kind: str, name: str | None) -> None:
    everyone = list(admin.all_topics(client)) if kind == "topics" else _brokers(client)
    for each in everyone if name is None else [name]:
        print(config_lines.heading(kind[:-1], each, everything=options.all))
        sys.stdout.flush()
        _check_exists(client, kind, each)
        entries = admin.describe_configs(client, _KINDS[kind], [each])[each]
        for entry in config_lines.wanted(entries, _source(kind, each), everything=options.all):
            print(config_lines.config_line(entry))


def _source(kind: str, name: str) -> int:
    """Where a setting of this very topic or broker comes from; '' is the default of brokers."""
    if kind == "topics":
        return config_lines.DYNAMIC_TOPIC
    return config_lines.DYNAMIC_BROKER if name else config_lines.DYNAMIC_DEFAULT_BROKER


def _brokers(client: Client) -> list[str]:
    """Every broker, and '' for the default of them all."""
    return [*map(str, sorted(client.brokers)), ""]
