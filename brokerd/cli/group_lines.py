"""The tables of consumer-groups, in the words and widths of Kafka's ConsumerGroupCommand."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from brokerd.topic_partition import TopicPartition

MISSING = "-"
REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning",
          "Reconciling")  # fmt: skip
Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group, with what it was given."""

    member_id: str
    instance_id: str
    host: str
    client_id: str
    assignment: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its coordinator describes it."""

    group_id: str
    state: str
    assignor: str
    coordinator: str
    members: tuple[Member, ...]


Row = tuple[str, ...]


def group_table(rows: Sequence[tuple[str, str, str]], *, types: bool, states: bool) -> list[str]:
    """The groups of --list with --state or --type."""
    width = max((max(15, len(name)) for name, _, _ in rows), default=15) + 10
    shown = [True, types, states]
    lines = []
    for row in (("GROUP", "TYPE", "STATE"), *rows):
        first, *rest = (text for text, is_shown in zip(row, shown, strict=True) if is_shown)
        lines.append(" ".join([first.ljust(width), *(text.ljust(20) for text in rest)]))
    return lines


def offset_rows(group: Group, committed: Offsets, ends: Mapping[TopicPartition, int]) -> list[Row]:
    """A row for each partition that is owned or was committed, owners with most of them first, and
    of those with equally many the one that owns the first."""
    rows: list[Row] = []
    owned: set[TopicPartition] = set()
    members = [each for each in group.members if each.assignment]
    for member in sorted(members, key=lambda each: (-len(each.assignment), min(each.assignment))):
        owned.update(member.assignment)
        who = (member.member_id, member.host, member.client_id)
        rows += _partition_rows(group.group_id, member.assignment, committed, ends, who)
    left = [each for each in committed if each not in owned]
    nobody = (MISSING, MISSING, MISSING)
    return rows + _partition_rows(group.group_id, left, committed, ends, nobody)


def _partition_rows(
    group_id: str,
    partitions: Iterable[TopicPartition],
    committed: Offsets,
    ends: Mapping[TopicPartition, int],
    who: tuple[str, str, str],
) -> list[Row]:
    rows: list[Row] = []
    for each in sorted(partitions):
        offset, end = committed.get(each), ends.get(each)
        lag = None if offset is None or end is None else end - offset
        numbers = (_text(offset), _text(end), _text(lag))
        rows.append((group_id, each[0], str(each[1]), *numbers, *who))
    return rows


def offset_table(rows: Sequence[Row]) -> list[str]:
    """The table of --describe; an empty line goes before it."""
    head = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
            "CONSUMER-ID", "HOST", "CLIENT-ID")  # fmt: skip
    group, topic, consumer, host = (
        max((len(row[column]) for row in rows), default=0) for column in (0, 1, 6, 7)
    )
    widths = (group, topic, 10, 15, 15, 15, consumer, host, 0)
    least = (15, 15, 10, 15, 15, 15, 15, 15, 0)
    columns = [max(pair) for pair in zip(widths, least, strict=True)]
    return ["", *(_columns(row, columns) for row in (head, *rows))]


def member_table(group: Group, *, verbose: bool) -> list[str]:
    """The table of --describe --members."""
    with_instance = any(each.instance_id for each in group.members)
    head = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    table = [head] + [
        [group.group_id, each.member_id, each.instance_id, each.host, each.client_id,
         str(len(each.assignment))]
        for each in group.members
    ]  # fmt: skip
    last = ["ASSIGNMENT"] + [_assignment_text(each.assignment) for each in group.members]
    least = (15, 15, 17, 15, 15, 15)
    rows = table[1:]
    widths = [
        max(minimum, *(len(row[column]) for row in rows), 0) if column < 5 else minimum
        for column, minimum in enumerate(least)
    ]
    if not with_instance:
        table = [row[:2] + row[3:] for row in table]
        widths = widths[:2] + widths[3:]
    return [""] + [
        _columns(row, widths) + " " + (text if verbose else "")
        for row, text in zip(table, last, strict=True)
    ]


def _assignment_text(partitions: Sequence[TopicPartition]) -> str:
    """The partitions of each topic, whose name Kafka 3.9 leaves out and whose numbers it sorts as
    text."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, index in partitions:
        by_topic[topic].append(index)
    shown = [f"({','.join(sorted(map(str, indexes)))})" for indexes in by_topic.values()]
    return ", ".join(sorted(shown)) or MISSING


def state_table(group: Group) -> list[str]:
    """The table of --describe --state."""
    head = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    row = (
        group.group_id, group.coordinator, group.assignor, group.state, str(len(group.members))
    )  # fmt: skip
    widths = (max(25, len(group.coordinator)), 25, 20, 15, 0)
    return ["", *(_columns(each, widths) for each in (head, row))]


def reset_table(plans: Mapping[str, Offsets]) -> list[str]:
    """What --reset-offsets sets, or would set."""
    rows = [
        (group_id, topic, str(index), str(offset))
        for group_id, plan in plans.items()
        for (topic, index), offset in sorted(plan.items())
    ]
    head = ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
    widths = (30, 30, 10, 15)
    return ["", *(_columns(each, widths) for each in (head, *rows))] if plans else []


def deleted_table(results: Mapping[TopicPartition, str]) -> list[str]:
    """The outcome of --delete-offsets by partition; -1 is a topic that is not there."""
    rows = [
        (topic, str(index) if index >= 0 else "Not Provided", said)
        for (topic, index), said in sorted(results.items())
    ]
    widths = (30, 15, 15)
    return ["", *(_columns(each, widths) for each in (("TOPIC", "PARTITION", "STATUS"), *rows))]


def _columns(row: Sequence[str], widths: Sequence[int]) -> str:
    """Left-aligned columns; the last one is padded as well where its width says so."""
    return " ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))


def _text(number: int | None) -> str:
    return MISSING if number is None else str(number)
