"""consumer-groups --reset-offsets: plans which partitions are reset and to which offsets, prints
the plan, and commits it with --execute."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from brokerd.cli import admin_calls, group_calls, group_description, parse_reset_arguments
from brokerd.cli.client import Client
from brokerd.cli.options import CliError, OptionParser, Options, UsageError, int64, read_text
from brokerd.cli.parse_reset_arguments import Plan
from brokerd.topic_partition import TopicPartition

SCENARIOS = (
    "to-offset", "shift-by", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current",
    "from-file",
)  # fmt: skip


def add_options(parser: OptionParser) -> None:
    parser.flag("dry-run", "With --reset-offsets: only show the outcome (the default).")
    parser.flag("execute", "With --reset-offsets: set the offsets.")
    parser.flag("export", "With --reset-offsets: show the outcome as CSV.")
    parser.option("to-offset", "To this offset.", "OFFSET", int64)
    parser.option("shift-by", "By this much from the committed offset.", "N", int64)
    parser.option("to-datetime", "To the first record since.", "YYYY-MM-DDTHH:mm:SS.sss")
    parser.option("by-duration", "To the first record of this long ago.", "PnDTnHnMnS")
    parser.flag("to-earliest", "To the first record.")
    parser.flag("to-latest", "Behind the last record.")
    parser.flag("to-current", "To the committed offset.")
    parser.option("from-file", "To the offsets of a file that --export wrote.", "FILE")


def check_options(options: Options, scoped: bool) -> None:
    """Checks that need no broker; `scoped`: groups are named. Raises UsageError."""
    if options.dry_run and options.execute:
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not options.dry_run and not options.execute:
        missing = "WARN: No action will be performed as the --execute option is missing."
        print(missing, file=sys.stderr)
    if not scoped:
        raise UsageError("Option [reset-offsets] takes one of these options: [all-groups], [group]")
    for each in SCENARIOS:
        options.check_invalid(each, *(other for other in SCENARIOS if other != each))


def reset(client: Client, options: Options, groups: Sequence[str]) -> None:
    """Resets groups without members, if --execute is given; prints the plans. Raises CliError,
    KafkaError."""
    plans: dict[str, Plan] = {}
    for group in groups:
        state = group_calls.describe_group(client, group).state
        plans[group] = {}
        if state not in ("Empty", "Dead"):
            print(
                f"\nError: Assignments can only be reset if the group '{group}' is inactive, but"
                f" the current state is {state}."
            )
            continue
        plans[group] = _plan(client, options, group)
        if options.execute:
            group_calls.commit_offsets(client, group, plans[group])
    if options.export:
        print(*parse_reset_arguments.csv_lines(plans, single=len(groups) == 1), "", sep="\n")
    else:
        print(*group_description.reset_table(plans), sep="\n")


def _plan(client: Client, options: Options, group: str) -> Plan:
    """The new offsets of the group. Raises CliError, KafkaError."""
    partitions = _partitions_in_scope(client, options, group)
    if options.has("from-file"):
        plans = parse_reset_arguments.parse_plans(read_text(options.from_file), options.group or [])
        if group not in plans:
            print(f"\nError: No reset plan for group {group} found")
            return {}
        return _clamped(client, plans[group])
    if not any(options.has(each) for each in SCENARIOS):
        names = ", ".join(f"[{each}]" for each in SCENARIOS)
        raise UsageError(
            f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]"
        )
    if options.to_offset is not None:
        return _clamped(client, dict.fromkeys(partitions, options.to_offset))
    if options.shift_by is not None:
        return _clamped(client, _shifted(client, group, partitions, options.shift_by))
    if options.to_datetime is not None:
        since_ms = parse_reset_arguments.parse_datetime(options.to_datetime)
        return _offsets_since(client, partitions, since_ms)
    if options.by_duration is not None:
        ago_ms = parse_reset_arguments.parse_duration(options.by_duration)
        return _offsets_since(client, partitions, round(time.time() * 1000) - ago_ms)
    if options.to_current:
        committed = group_calls.committed_offsets(client, group)
        missing = _offsets(client, [each for each in partitions if each not in committed])
        return {each: (committed | missing)[each] for each in partitions}
    which = admin_calls.EARLIEST if options.to_earliest else admin_calls.LATEST
    return _offsets(client, partitions, which)


def _partitions_in_scope(client: Client, options: Options, group: str) -> list[TopicPartition]:
    if options.all_topics:
        return sorted(group_calls.committed_offsets(client, group))
    if not options.has("topic"):
        if options.has("from-file"):
            return []
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    return group_calls.named_partitions(client, options.topic)


def _shifted(
    client: Client, group: str, partitions: Iterable[TopicPartition], by: int
) -> dict[TopicPartition, int]:
    committed = group_calls.committed_offsets(client, group)
    for topic, index in partitions:
        if (topic, index) not in committed:
            raise UsageError(
                f"Cannot shift offset for partition {topic}-{index} since there is no current"
                " committed offset"
            )
    return {each: committed[each] + by for each in partitions}


def _clamped(client: Client, wanted: Mapping[TopicPartition, int]) -> Plan:
    """The offsets, those outside of the log moved to its start or end, with a warning for each."""
    starts = _offsets(client, wanted, admin_calls.EARLIEST)
    ends = _offsets(client, wanted, admin_calls.LATEST)
    plan: Plan = {}
    for each, offset in wanted.items():
        end, start = ends.get(each), starts.get(each)
        plan[each] = offset
        if end is not None and offset > end:
            plan[each], bound = end, "higher than latest"
        elif start is not None and offset < start:
            plan[each], bound = start, "lower than earliest"
        else:
            continue
        print(
            f"WARN New offset ({offset}) is {bound} offset for topic partition {each[0]}-{each[1]}."
            f" Value will be set to {plan[each]}",
            file=sys.stderr,
        )
    return plan


def _offsets_since(client: Client, partitions: Iterable[TopicPartition], timestamp_ms: int) -> Plan:
    if timestamp_ms < 0:
        raise CliError("a moment before 1970 has no offset")
    found = _offsets(client, partitions, timestamp_ms)
    later = [each for each, offset in found.items() if offset < 0]
    for topic, index in later:
        print(
            f"\nWarn: Partition {index} from topic {topic} is empty. Falling back to latest known"
            " offset."
        )
    return found | _offsets(client, later)


def _offsets(
    client: Client, partitions: Iterable[TopicPartition], which: int = admin_calls.LATEST
) -> Plan:
    """The offset of each partition. Raises the KafkaError of the first partition that has one."""
    found: Plan = {}
    for each, answer in admin_calls.list_offsets(client, dict.fromkeys(partitions, which)).items():
        if not isinstance(answer, int):
            raise answer
        found[each] = answer
    return found
