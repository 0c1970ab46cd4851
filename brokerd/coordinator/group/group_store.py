"""The durable state of the groups of one partition, as its records, replayed in order, give it
(`replay` of Kafka's GroupMetadataManager and OffsetMetadataManager). A leader replays a record once
the high watermark has passed it.
"""

from collections.abc import Iterable, Set
from typing import NamedTuple

from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupsRecord,
    GroupValue,
    OffsetRecord,
    OffsetValue,
)
from brokerd.topic_partition import TopicPartition


class _Sent(NamedTuple):
    """An offset that a producer sent within its transaction; `number` says in which order."""

    number: int
    record: OffsetRecord


_Key = tuple[str, str, int]
"""Group, topic, partition."""


class GroupStore:
    """Offsets by group, and each group's last record. An offset that was sent within a transaction
    counts from the transaction's commit on, unless a later one was committed meanwhile
    (GroupMetadataManager.doLoadGroupsAndOffsets)."""

    def __init__(self) -> None:
        self.groups: dict[str, GroupValue] = {}
        self.offsets: dict[str, dict[TopicPartition, OffsetValue]] = {}
        self._sent: dict[int, dict[_Key, _Sent]] = {}  # by producer
        self._sent_count = 0

    def replay(self, record: GroupsRecord) -> None:
        """Applies one record, the newest so far."""
        if isinstance(record, GroupRecord):
            if record.value is None:
                self.groups.pop(record.group_id, None)
            else:
                self.groups[record.group_id] = record.value
            return
        self._take(record)
        if self._sent and record.value is not None:
            self._supersede(record, self._sent_count)

    def replay_sent(self, producer_id: int, record: OffsetRecord) -> None:
        """Takes an offset that a producer sent within its transaction, the newest so far."""
        self._sent_count += 1
        sent = self._sent.setdefault(producer_id, {})
        key = (record.group_id, record.topic, record.partition)
        if record.value is None:
            sent.pop(key, None)
        else:
            sent[key] = _Sent(self._sent_count, record)

    def end_transaction(self, producer_id: int, *, commits: bool) -> None:
        sent = self._sent.pop(producer_id, {})
        for number, record in sent.values() if commits else ():
            self._take(record)
            self._supersede(record, number)

    def unstable(self, group_id: str, of: Iterable[TopicPartition]) -> Set[TopicPartition]:
        """Those of the partitions for which an open transaction has an offset."""
        if not self._sent:
            return frozenset()
        keys = {(topic, index) for sent in self._sent.values()
                for group, topic, index in sent if group == group_id}  # fmt: skip
        return keys.intersection(of)

    def _supersede(self, record: OffsetRecord, number: int) -> None:
        """A newer offset was committed: those sent before it do not count any more."""
        key = (record.group_id, record.topic, record.partition)
        for sent in self._sent.values():
            if key in sent and sent[key].number <= number:
                del sent[key]

    def _take(self, record: OffsetRecord) -> None:
        key = (record.topic, record.partition)
        if record.value is not None:
            self.offsets.setdefault(record.group_id, {})[key] = record.value
            return
        offsets = self.offsets.get(record.group_id)
        if offsets is not None:
            offsets.pop(key, None)
            if not offsets:
                del self.offsets[record.group_id]

    def has_open_transaction(self, group_id: str) -> bool:
        """Whether an open transaction has an offset of the group."""
        return any(group == group_id for sent in self._sent.values() for group, _, _ in sent)

    def group_ids(self) -> set[str]:
        """Every group that has a record or an offset, or an offset in an open transaction."""
        awaiting = {group for sent in self._sent.values() for group, _, _ in sent}
        return self.groups.keys() | self.offsets.keys() | awaiting
