"""The tables that consumer-groups prints, as Kafka's ConsumerGroupCommand. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from brokerd.cli.error_messages import error_of
from brokerd.topic_partition import TopicPartition

MISSING = "-"
_WIDTH = 15  # of a column, at least
REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning",
          "Reconciling")  # fmt: skip
Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Member:
    member_id: str
    instance_id: str
    host: str
    client_id: str
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Group:
    group_id: str
    state: str
    assignor: str
    coordinator: str
    members: tuple[Member, ...]


Row = tuple[str, ...]


def table(*rows: Sequence[str]) -> list[str]:
    """The lines of a table, after an empty one: columns as wide as their longest text."""
    widths = [max(_WIDTH, *map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "",
        *(
            " ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ),
    ]


def group_table(rows: Sequence[Row], *, types: bool, states: bool) -> list[str]:
    shown = (True, types, states)
    return table(*(list(compress(row, shown)) for row in (("GROUP", "TYPE", "STATE"), *rows)))[1:]


def offset_rows(group: Group, committed: Offsets, ends: Offsets) -> list[Row]:
    """A row for each partition that is assigned or has a committed offset: first the members with
    most partitions; of members with equally many, the one with the first partition."""
    members = [each for each in group.members if each.assignment]
    members.sort(key=lambda each: (-len(each.assignment), min(each.assignment)))
    owners = [
        (partition, (member.member_id, member.host, member.client_id))
        for member in members
        for partition in sorted(member.assignment)
    ]
    left = committed.keys() - {partition for partition, _ in owners}
    owners += [(partition, (MISSING, MISSING, MISSING)) for partition in sorted(left)]
    rows: list[Row] = []
    for (topic, index), who in owners:
        offset, end = committed.get((topic, index)), ends.get((topic, index))
        lag = None if offset is None or end is None else end - offset
        numbers = map(_number_text, (offset, end, lag))
        rows.append((group.group_id, topic, str(index), *numbers, *who))
    return rows


def offset_table(rows: Sequence[Row]) -> list[str]:
    head = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
            "CONSUMER-ID", "HOST", "CLIENT-ID")  # fmt: skip
    return table(head, *rows)


def member_table(group: Group, *, verbose: bool) -> list[str]:
    with_instance = any(each.instance_id for each in group.members)
    head = ("GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS",
            "ASSIGNMENT")  # fmt: skip
    rows = [
        (group.group_id, each.member_id, each.instance_id, each.host, each.client_id,
         str(len(each.assignment)), _assignment_text(each.assignment))
        for each in group.members
    ]  # fmt: skip
    shown = (True, True, with_instance, True, True, True, verbose)
    return table(*(list(compress(row, shown)) for row in (head, *rows)))


def _assignment_text(partitions: Sequence[TopicPartition]) -> str:
    """The partitions of each topic. As in Kafka 3.9 without its name, sorted as text."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, index in partitions:
        by_topic[topic].append(index)
    shown = [f"({','.join(sorted(map(str, indexes)))})" for indexes in by_topic.values()]
    return ", ".join(sorted(shown)) or MISSING


def state_table(group: Group) -> list[str]:
    head = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    row = (
        group.group_id, group.coordinator, group.assignor, group.state, str(len(group.members))
    )  # fmt: skip
    return table(head, row)


def reset_table(plans: Mapping[str, Offsets]) -> list[str]:
    """What --reset-offsets sets, or would set."""
    rows = [
        (group_id, topic, str(index), str(offset))
        for group_id, plan in plans.items()
        for (topic, index), offset in sorted(plan.items())
    ]
    head = ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
    return table(head, *rows) if plans else []


def deleted_table(codes: Mapping[TopicPartition, int]) -> list[str]:
    """The outcome of --delete-offsets: the error code of each partition."""
    rows = [
        (topic, str(index), f"Error: {error_of(code)}" if code else "Successful")
        for (topic, index), code in sorted(codes.items())
    ]
    return table(("TOPIC", "PARTITION", "STATUS"), *rows)


def _number_text(number: int | None) -> str:
    return MISSING if number is None else str(number)
