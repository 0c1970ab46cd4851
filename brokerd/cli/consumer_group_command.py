"""`brokerd consumer-groups`: Kafka's kafka-consumer-groups.sh. As there, an error of the cluster is
printed to standard output, after `Error:`, and the exit code is 0."""

import sys
from collections.abc import Sequence

from brokerd.cli import admin_calls, group_calls, group_description, reset_offsets
from brokerd.cli.client import Client
from brokerd.cli.group_description import Group
from brokerd.cli.options import CliError, OptionParser, Options, UsageError, int64, run
from brokerd.config.value_parsers import words
from brokerd.errors import KafkaError

TIMEOUT_MS = 5000
GROUP_TYPES = ("consumer", "classic")
_ACTIONS_OF_OPTION = {
    "members": ("describe",), "verbose": ("describe",), "offsets": ("describe",),
    "state": ("describe", "list"), "type": ("list",),
}  # fmt: skip
"""Option → the actions with which it may be used."""


def consumer_groups(arguments: Sequence[str]) -> int:
    parser = OptionParser(
        "consumer-groups",
        "List all consumer groups, describe a consumer group, delete consumer group info, or reset"
        " consumer group offsets.",
    )
    parser.bootstrap()
    parser.flag("list", "List the groups.")
    parser.flag("describe", "Show what a group has read, and how far it is behind.")
    parser.flag("delete", "Delete groups that have no members.")
    parser.flag("reset-offsets", "Set offsets of a group without members.")
    parser.flag("delete-offsets", "Delete offsets of a group.")
    parser.option("group", "The group; may be repeated.", "GROUP", many=True)
    parser.flag("all-groups", "Every group.")
    parser.option("topic", "A topic, or topic:0,1; may be repeated.", "TOPIC", many=True)
    parser.flag("all-topics", "Every topic that the group has committed.")
    parser.option("timeout", "How long to wait, in ms.", "MS", int64, default=TIMEOUT_MS)
    parser.flag("members", "With --describe: the members.")
    parser.flag("offsets", "With --describe: offsets and lag (the default).")
    parser.flag("verbose", "With --describe --members: their partitions.")
    parser.optional("state", "With --describe or --list: the state.", "STATE,…")
    parser.optional("type", "With --list: the type.", "TYPE,…")
    reset_offsets.add_options(parser)
    return run(parser, _run, arguments, _print_failure)


def _print_failure(error: Exception) -> int:
    _print_error(f"Executing consumer group command failed due to {error}")
    return 0


def _run(options: Options) -> None:
    action = _checked_action(options)
    if options.timeout <= 0:
        raise CliError("--timeout must be more than 0")
    with admin_calls.connect(options, options.timeout / 1000) as client:
        ACTIONS[action](client, options)


def _print_error(line: str) -> None:
    print(f"\nError: {line}")


def _checked_action(options: Options) -> str:
    """The action. The checks are those of Kafka's ConsumerGroupCommandOptions, in its order."""
    options.check_available(_ACTIONS_OF_OPTION)
    options.check_required("bootstrap-server")
    scoped = options.has("group") or options.has("all-groups")
    if options.describe:
        _check_describe(options, scoped)
    if options.delete:
        if not scoped:
            raise UsageError("Option [delete] takes one of these options: [all-groups], [group]")
        if options.has("topic"):
            raise UsageError(
                "The consumer does not support topic-specific offset deletion from a consumer"
                " group."
            )
    if options.delete_offsets and not (options.has("group") and options.has("topic")):
        raise UsageError("Option [delete-offsets] takes the following options: [topic], [group]")
    if options.reset_offsets:
        reset_offsets.check_options(options, scoped)
    options.check_invalid("group", "all-groups", "list")
    options.check_invalid("topic", "list", "describe")
    return options.single_action(ACTIONS)


def _check_describe(options: Options, scoped: bool) -> None:
    if not scoped:
        raise UsageError("Option [describe] takes one of these options: [all-groups], [group]")
    if sum(options.has(view) for view in ("members", "offsets", "state")) > 1:
        raise UsageError(
            "Option [describe] takes at most one of these options: [members], [offsets], [state]"
        )
    if options.optional_value("state") is not None:
        raise UsageError("Option [describe] does not take a value for [state]")


def _list(client: Client, options: Options) -> None:
    types, states = options.has("type"), options.has("state")
    wanted_types = words(options.optional_value("type") or "")
    if any(each.lower() not in GROUP_TYPES for each in wanted_types):
        raise UsageError(f"Invalid types list '{options.type}'. Valid types are: Consumer, Classic")
    found = group_calls.list_groups(client, _states(options.optional_value("state")), wanted_types)
    table = group_description.group_table(found, types=types, states=states)
    for line in table if types or states else [name for name, _, _ in found]:
        print(line)


def _states(text: str | None) -> list[str]:
    known = {each.lower(): each for each in group_description.STATES}
    wanted = [each.replace("_", "").lower() for each in words(text or "")]
    if any(each not in known for each in wanted):
        states = ", ".join(group_description.STATES)
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {states}")
    return [known[each] for each in wanted]


def group_names(client: Client, options: Options) -> list[str]:
    if options.all_groups:
        return [name for name, _, _ in group_calls.list_groups(client)]
    return list(dict.fromkeys(options.group))


def _describe(client: Client, options: Options) -> None:
    for name in sorted(group_names(client, options)):
        group = group_calls.describe_group(client, name)
        if group.state == "Dead":
            _print_error(f"Consumer group '{name}' does not exist.")
            continue
        _print_state(group)
        if options.has("members"):
            print(*group_description.member_table(group, verbose=options.verbose), sep="\n")
        elif options.has("state"):
            print(*group_description.state_table(group), sep="\n")
        elif rows := _offset_rows(client, group):
            print(*group_description.offset_table(rows), sep="\n")


def _offset_rows(client: Client, group: Group) -> list[group_description.Row]:
    committed = group_calls.committed_offsets(client, group.group_id)
    partitions = {*committed, *(each for member in group.members for each in member.assignment)}
    offsets = admin_calls.list_offsets(client, dict.fromkeys(partitions, admin_calls.LATEST))
    ends = {each: end for each, end in offsets.items() if isinstance(end, int)}
    return group_description.offset_rows(group, committed, ends)


def _print_state(group: Group) -> None:
    """Prints a line if the group has no members or is rebalancing."""
    name = group.group_id
    sys.stdout.flush()
    if group.state == "Empty":
        print(f"\nConsumer group '{name}' has no active members.", file=sys.stderr)
    elif group.state in group_description.REBALANCING:
        print(f"\nWarning: Consumer group '{name}' is rebalancing.", file=sys.stderr)


def _delete(client: Client, options: Options) -> None:
    failed: dict[str, KafkaError] = {}
    names = group_names(client, options)
    for name in names:
        try:
            group_calls.delete_group(client, name)
        except KafkaError as error:
            failed[name] = error
    deleted = [name for name in names if name not in failed]
    if not failed:
        shown = ", ".join(f"'{name}'" for name in deleted)
        print(f"Deletion of requested consumer groups ({shown}) was successful.")
        return
    _print_error("Deletion of some consumer groups failed:")
    for name, why in failed.items():
        print(f"* Group '{name}' could not be deleted due to: {why}")
    if deleted:
        shown = ", ".join(f"'{name}'" for name in deleted)
        print(f"\nThese consumer groups were deleted successfully: {shown}")


def _reset(client: Client, options: Options) -> None:
    reset_offsets.reset(client, options, group_names(client, options))


def _delete_offsets(client: Client, options: Options) -> None:
    name = options.group[0]
    partitions = group_calls.named_partitions(client, options.topic)
    codes = group_calls.delete_offsets(client, name, partitions)
    if any(codes.values()):
        _print_error("Encounter some partition level error, see the follow-up details:")
    else:
        topics = ", ".join(options.topic)
        print(f"Request succeed for deleting offsets with topic {topics} group {name}")
    print(*group_description.deleted_table(codes), sep="\n")


ACTIONS = {
    "list": _list, "describe": _describe, "delete": _delete, "reset-offsets": _reset,
    "delete-offsets": _delete_offsets,
}  # fmt: skip
