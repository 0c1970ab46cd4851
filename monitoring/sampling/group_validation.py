"""Validates commits and members of groups, and limits the size of a tick's group table.

Clients can commit to any topic and partition, and a web process keeps all rows in memory. So
partitions that a topic does not have are invalid. Of topics that do not exist, only a few
partitions are kept. If all groups together are too large, the largest groups are left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from monitoring.error_reason import Reason
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.answers import CoordinatorAnswers
from monitoring.gateway.wire.groups import Member
from monitoring.gateway.wire.metadata import Ints, Metadata
from monitoring.gateway.wire.offset_fetch import TopicCommits
from monitoring.gateway.wire.response_limits import InvalidParts, printable

_ROW_BYTES = 100  # the approximate size of a row without its texts
# A partition can occur several times, in commits and in assignments of members: so many of these
# entries take the memory of a row.
_ENTRIES_PER_ROW = 4
_Selection = slice | np.ndarray


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group as its coordinator describes it; None = unknown."""

    group: str
    state: str
    protocol_type: str
    coordinator: int
    member_count: int | None


@dataclass(slots=True)
class ValidatedGroup:
    """The valid commits and members of one group."""

    commits: list[TopicCommits] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    unknown_count: int = 0  # partitions of topics that the cluster does not have

    def size(self, facts: GroupFacts, rows_by_topic: Mapping[str, range]) -> tuple[int, int]:
        """The maximum number of the group's rows, and their approximate size in bytes."""
        counts: dict[str, int] = defaultdict(int)
        text_bytes = 0
        for commits in self.commits:
            counts[commits.topic] += len(commits.partitions)
        for member in self.members:
            text = len(member.member_id) + len(member.client_id) + len(member.host)
            for name, partitions in member.assigned:
                counts[name] += len(partitions)
                text_bytes += text * len(partitions)
        rows = dict(counts)
        for name, count in counts.items():
            if name in rows_by_topic:
                # A group without members has rows for all partitions of its topics.
                exist = len(rows_by_topic[name])
                rows[name] = exist if facts.member_count == 0 else min(count, exist)
        row_count = max(sum(rows.values()), sum(counts.values()) // _ENTRIES_PER_ROW, 1)
        row_bytes = _ROW_BYTES + len(facts.group) + len(facts.state) + len(facts.protocol_type)
        text_bytes += sum(len(name) * count for name, count in rows.items())
        return row_count, row_count * row_bytes + text_bytes


def validated_groups(
    metadata: Metadata,
    coordinators: Iterable[CoordinatorAnswers],
    facts: Mapping[str, GroupFacts],
    invalid: InvalidParts,
) -> dict[str, ValidatedGroup]:
    """The groups of `facts` whose rows fit into the table."""
    groups = {name: ValidatedGroup() for name in facts}
    check = _PartitionCheck(metadata.rows_by_topic, invalid)
    for coordinator in coordinators:
        for commits in coordinator.commits:
            name = commits.group
            if name in groups and commits.error == 0:
                group = groups[name]
                group.commits += check.valid_commits(name, group, commits.topics)
        for described in coordinator.described:
            name = described.group
            if name in groups:
                group = groups[name]
                group.members += [
                    check.valid_member(name, group, member) for member in described.members
                ]
    return _fitting_groups(groups, facts, metadata.rows_by_topic, invalid)


def _fitting_groups(
    groups: dict[str, ValidatedGroup],
    facts: Mapping[str, GroupFacts],
    rows_by_topic: Mapping[str, range],
    invalid: InvalidParts,
) -> dict[str, ValidatedGroup]:
    sizes = {name: group.size(facts[name], rows_by_topic) for name, group in groups.items()}
    rows_left, bytes_left = response_limits.GROUP_ROWS_MAX, response_limits.GROUP_TABLE_BYTES_MAX
    fitting = {}
    for name in sorted(sizes, key=lambda name: sizes[name]):
        rows, size_bytes = sizes[name]
        if rows > rows_left or size_bytes > bytes_left:
            invalid.add(Reason("group_too_large", group=printable(name)))
            continue
        rows_left, bytes_left = rows_left - rows, bytes_left - size_bytes
        fitting[name] = groups[name]
    return fitting


class _PartitionCheck:
    """Selects the partitions that can exist, and reports the others as invalid."""

    def __init__(self, rows_by_topic: Mapping[str, range], invalid: InvalidParts) -> None:
        self._rows_by_topic, self._invalid = rows_by_topic, invalid
        self._unknown_left = response_limits.UNKNOWN_PARTITIONS_MAX
        self._reported: set[str] = set()  # groups with unknown topics that were reported

    def valid_commits(
        self, name: str, group: ValidatedGroup, topics: Iterable[TopicCommits]
    ) -> list[TopicCommits]:
        selected = [
            (topic, self._valid_selection(name, group, topic.topic, topic.partitions))
            for topic in topics
        ]
        return [
            TopicCommits(topic.topic, topic.partitions[selection], topic.offsets[selection])
            for topic, selection in selected
            if selection is not None
        ]

    def valid_member(self, name: str, group: ValidatedGroup, member: Member) -> Member:
        assigned = []
        for topic, partitions in member.assigned:
            selection = self._valid_selection(name, group, topic, partitions)
            if selection is not None:
                assigned.append((topic, partitions[selection]))
        return replace(member, assigned=tuple(assigned))

    def _valid_selection(
        self, name: str, group: ValidatedGroup, topic: str, partitions: Ints
    ) -> _Selection | None:
        """An index that selects the valid ones of `partitions`; None = none is valid."""
        rows = self._rows_by_topic.get(topic)
        if rows is None:
            return self._selection_of_unknown_topic(name, group, partitions)
        exists = (partitions >= 0) & (partitions < len(rows))
        if exists.all():
            return slice(None)
        names = {"group": printable(name), "topic": printable(topic)}
        self._invalid.add(Reason("group_partitions", **names))
        return exists if exists.any() else None

    def _selection_of_unknown_topic(
        self, name: str, group: ValidatedGroup, partitions: Ints
    ) -> _Selection | None:
        left = response_limits.UNKNOWN_PARTITIONS_PER_GROUP_MAX - group.unknown_count
        selection = np.flatnonzero(
            (partitions >= 0) & (partitions < response_limits.PARTITIONS_MAX)
        )
        selection = selection[: max(0, min(left, self._unknown_left))]
        group.unknown_count += len(selection)
        self._unknown_left -= len(selection)
        if len(selection) < len(partitions) and name not in self._reported:
            self._reported.add(name)
            self._invalid.add(Reason("group_unknown_topics", group=printable(name)))
        return selection if len(selection) else None
