"""Makes the rows of a tick's group table: joins commits with assignments.

A row is one (group, topic, partition) with a commit, an assigned member, or both. A group without
members has no assignments: it has a row for every partition of the topics in its commits. A group
with neither commits nor assignments has one row without a topic. The join sorts packed keys:

    group index (19 bits) | topic index (20 bits) | partition (24 bits)

group_validation.py validates the input and limits its size.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from monitoring.gateway.wire.answers import CoordinatorAnswers
from monitoring.gateway.wire.groups import Member
from monitoring.gateway.wire.metadata import Ints, Longs, Metadata
from monitoring.gateway.wire.response_limits import InvalidParts
from monitoring.sampling.group_validation import GroupFacts, validated_groups

_TOPIC_BITS, _PARTITION_BITS = 20, 24
_TOPIC_MASK, _PARTITION_MASK = (1 << _TOPIC_BITS) - 1, (1 << _PARTITION_BITS) - 1
_NO_TOPIC = _TOPIC_MASK  # the topic index of a row without a topic


@dataclass(frozen=True, slots=True, eq=False)
class JoinedGroups:
    """Sorted by group, topic and partition; indices into `groups`, `topics`, `members`."""

    groups: list[GroupFacts]
    topics: list[str]
    members: list[Member]
    group_index: Ints
    topic_index: Ints  # −1 = none
    partition: Ints  # −1 = none
    committed: Longs  # −1 = no commit
    member_index: Ints  # −1 = no member
    invalid: InvalidParts
    left_out_count: int  # groups that did not fit into the table


def join_groups(metadata: Metadata, coordinators: Sequence[CoordinatorAnswers]) -> JoinedGroups:
    """Join commits and assignments of all listed groups."""
    facts = {group.group: group for group in _group_facts(coordinators)}
    invalid = InvalidParts()
    validated = validated_groups(metadata, coordinators, facts, invalid)
    groups = [facts[name] for name in sorted(validated)]
    topics = _TopicIndex(metadata.topics)
    committed, assigned, members = _PackedKeys(), _PackedKeys(), list[Member]()
    empty_group_keys: list[Longs] = []  # of all partitions of their topics
    for group_index, group in enumerate(groups):
        for commits in validated[group.group].commits:
            committed.add(group_index, topics[commits.topic], commits.partitions, commits.offsets)
            count = len(metadata.rows_by_topic.get(commits.topic, ()))
            if group.member_count == 0 and len(commits.partitions) < count:
                all_partitions = np.arange(count, dtype=np.int64)
                empty_group_keys.append(_pack(group_index, topics[commits.topic]) | all_partitions)
        for member in validated[group.group].members:
            for name, partitions in member.assigned:
                owner = np.full(len(partitions), len(members), dtype=np.int64)
                assigned.add(group_index, topics[name], partitions, owner)
            members.append(member)
    left_out_count = len(facts) - len(groups)
    return _join(
        groups,
        topics.names,
        members,
        committed,
        assigned,
        empty_group_keys,
        invalid,
        left_out_count,
    )


def _group_facts(coordinators: Sequence[CoordinatorAnswers]) -> Iterable[GroupFacts]:
    """Each listed group once; while a group moves, two coordinators may list it."""
    listed_names: set[str] = set()
    for coordinator in coordinators:
        described_groups = {
            group.group: group for group in coordinator.described if group.error == 0
        }
        for group in coordinator.listed:
            if group.group in listed_names:
                continue
            listed_names.add(group.group)
            described = described_groups.get(group.group)
            empty = group.state in ("Empty", "Dead")
            yield GroupFacts(
                group=group.group,
                state=described.state if described else group.state,
                protocol_type=group.protocol_type,
                coordinator=coordinator.broker_id,
                member_count=len(described.members) if described else (0 if empty else None),
            )


class _TopicIndex:
    """Topic → index: the cluster's topics, then topics that occur only in commits."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self._indices = {name: index for index, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> int:
        index = self._indices.get(name)
        if index is None:
            index = self._indices[name] = len(self.names)
            self.names.append(name)
        return index


class _PackedKeys:
    """Packed keys with one value each, collected in chunks."""

    def __init__(self) -> None:
        self._bases: list[int] = []
        self._partitions: list[Ints] = []
        self._values: list[Longs] = []

    def add(self, group: int, topic: int, partitions: Ints, values: Longs) -> None:
        self._bases.append(_pack(group, topic))
        self._partitions.append(partitions)
        self._values.append(values)

    def arrays(self) -> tuple[Longs, Longs]:
        """(keys, values) of all entries that have a value ≥ 0."""
        if not self._bases:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        lengths = [len(partitions) for partitions in self._partitions]
        partitions = np.concatenate(self._partitions).astype(np.int64)
        values = np.concatenate(self._values)
        keys = np.repeat(np.array(self._bases, dtype=np.int64), lengths) | partitions
        has_value = values >= 0
        return keys[has_value], values[has_value]


def _pack(group: int, topic: int) -> int:
    return (group << (_TOPIC_BITS + _PARTITION_BITS)) | (topic << _PARTITION_BITS)


def _join(
    groups: list[GroupFacts],
    topics: list[str],
    members: list[Member],
    committed: _PackedKeys,
    assigned: _PackedKeys,
    empty_group_keys: list[Longs],
    invalid: InvalidParts,
    left_out_count: int,
) -> JoinedGroups:
    commit_keys, offsets = committed.arrays()
    owner_keys, owners = assigned.arrays()
    present = np.unique(np.concatenate((commit_keys, owner_keys, *empty_group_keys)))
    shift = _TOPIC_BITS + _PARTITION_BITS
    without_rows = np.setdiff1d(np.arange(len(groups), dtype=np.int64), present >> shift)
    no_topic = np.int64(_NO_TOPIC << _PARTITION_BITS)
    keys = np.union1d(present, (without_rows << shift) | no_topic)
    offset_of_row = np.full(len(keys), -1, dtype=np.int64)
    offset_of_row[np.searchsorted(keys, commit_keys)] = offsets
    owner_of_row = np.full(len(keys), -1, dtype=np.int32)
    owner_of_row[np.searchsorted(keys, owner_keys)] = owners
    topic_index = ((keys >> _PARTITION_BITS) & _TOPIC_MASK).astype(np.int32)
    partition = (keys & _PARTITION_MASK).astype(np.int32)
    has_no_topic = topic_index == _NO_TOPIC
    topic_index[has_no_topic] = partition[has_no_topic] = -1
    return JoinedGroups(
        groups=groups,
        topics=topics,
        members=members,
        group_index=(keys >> shift).astype(np.int32),
        topic_index=topic_index,
        partition=partition,
        committed=offset_of_row,
        member_index=owner_of_row,
        invalid=invalid,
        left_out_count=left_out_count,
    )
