"""What is believed of the commits and members of groups, and which groups there is room for.

Any client may name any topic and partition, and a web process has to hold all rows: a partition
that its topic does not have is refused, of topics that the cluster does not have few partitions
are believed, and groups whose rows would leave no room for the others are left out whole; the
smaller groups are taken first.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from monitoring.gateway.wire import limits
from monitoring.gateway.wire.commits import TopicCommits
from monitoring.gateway.wire.groups import Member
from monitoring.gateway.wire.limits import Refusals, shown
from monitoring.gateway.wire.metadata import Ints, Metadata
from monitoring.gateway.wire.reads import CoordinatorRead

_ROW_BYTES = 100  # about what a row takes besides its texts
_TOLD_PER_ROW = 4  # how often a partition may be told: by its commit, by its member …
_Kept = slice | np.ndarray


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """One group as its coordinator tells it; None = the coordinator did not tell."""

    group: str
    state: str
    protocol_type: str
    coordinator: int
    member_count: int | None


@dataclass(slots=True)
class Believed:
    """The commits and members of one group, without what was refused."""

    commits: list[TopicCommits] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    unknown: int = 0  # partitions of topics that the cluster does not have

    def size(self, facts: GroupFacts, spans: Mapping[str, range]) -> tuple[int, int]:
        """How many rows the group has at most, and about how many bytes they take."""
        told: dict[str, int] = defaultdict(int)
        text_bytes = 0
        for commits in self.commits:
            told[commits.topic] += len(commits.partitions)
        for member in self.members:
            text = len(member.member_id) + len(member.client_id) + len(member.host)
            for name, partitions in member.assigned:
                told[name] += len(partitions)
                text_bytes += text * len(partitions)
        rows = {
            name: min(count, len(spans[name])) if name in spans else count
            for name, count in told.items()
        }
        count = max(sum(rows.values()), sum(told.values()) // _TOLD_PER_ROW, 1)
        each = _ROW_BYTES + len(facts.group) + len(facts.state) + len(facts.protocol_type)
        text_bytes += sum(len(name) * of_topic for name, of_topic in rows.items())
        return count, count * each + text_bytes


def believed_groups(
    known: Metadata,
    reads: Iterable[CoordinatorRead],
    facts: Mapping[str, GroupFacts],
    refused: Refusals,
) -> dict[str, Believed]:
    """The groups of `facts` for which there is room."""
    found = {name: Believed() for name in facts}
    check = _Check(known.spans, refused)
    for read in reads:
        for commits in read.commits:
            name = commits.group
            if name in found and commits.error == 0:
                group = found[name]
                group.commits += check.commits(name, group, commits.topics)
        for described in read.described:
            name = described.group
            if name in found:
                group = found[name]
                group.members += [check.member(name, group, one) for one in described.members]
    return _with_room(found, facts, known.spans, refused)


def _with_room(
    found: dict[str, Believed],
    facts: Mapping[str, GroupFacts],
    spans: Mapping[str, range],
    refused: Refusals,
) -> dict[str, Believed]:
    sizes = {name: group.size(facts[name], spans) for name, group in found.items()}
    rows_left, bytes_left = limits.GROUP_ROWS_MAX, limits.GROUP_TABLE_BYTES_MAX
    taken = {}
    for name in sorted(sizes, key=lambda name: sizes[name]):
        rows, size_bytes = sizes[name]
        if rows > rows_left or size_bytes > bytes_left:
            refused.add(f"group {shown(name)}: its commits and members, which are too many")
            continue
        rows_left, bytes_left = rows_left - rows, bytes_left - size_bytes
        taken[name] = found[name]
    return taken


class _Check:
    """Which partitions there can be; those that cannot be are refused."""

    def __init__(self, spans: Mapping[str, range], refused: Refusals) -> None:
        self._spans, self._refused = spans, refused
        self._unknown_left = limits.UNKNOWN_PARTITIONS_MAX
        self._said: set[str] = set()  # groups of which it was said that they name unknown topics

    def commits(
        self, name: str, group: Believed, topics: Iterable[TopicCommits]
    ) -> list[TopicCommits]:
        kept = [(topic, self._kept(name, group, topic.topic, topic.partitions)) for topic in topics]
        return [
            TopicCommits(topic.topic, topic.partitions[which], topic.offsets[which])
            for topic, which in kept
            if which is not None
        ]

    def member(self, name: str, group: Believed, member: Member) -> Member:
        kept = [(*part, self._kept(name, group, *part)) for part in member.assigned]
        assigned = ((topic, ps[which]) for topic, ps, which in kept if which is not None)
        return replace(member, assigned=tuple(assigned))

    def _kept(self, name: str, group: Believed, topic: str, partitions: Ints) -> _Kept | None:
        """Which of `partitions` are believed; None = none."""
        span = self._spans.get(topic)
        if span is None:
            return self._of_unknown_topic(name, group, partitions)
        there = (partitions >= 0) & (partitions < len(span))
        if there.all():
            return slice(None)
        self._refused.add(
            f"group {shown(name)}: partitions that topic {shown(topic)} does not have"
        )
        return there if there.any() else None

    def _of_unknown_topic(self, name: str, group: Believed, partitions: Ints) -> _Kept | None:
        room = limits.UNKNOWN_PARTITIONS_PER_GROUP_MAX - group.unknown
        which = np.flatnonzero((partitions >= 0) & (partitions < limits.PARTITIONS_MAX))
        which = which[: max(0, min(room, self._unknown_left))]
        group.unknown += len(which)
        self._unknown_left -= len(which)
        if len(which) < len(partitions) and name not in self._said:
            self._said.add(name)
            self._refused.add(
                f"group {shown(name)}: most partitions of topics that the cluster does not have"
            )
        return which if len(which) else None
