"""The durable state of the groups of one partition: what its records, replayed in order, say.

`replay` is the only thing that changes it. On a leader a record is replayed once the high watermark
has passed it, on load (and on a follower) as it is read; either way the outcome is the log's.
"""

from brokerd.groups.messages import TopicPartition
from brokerd.groups.records import GroupRecord, GroupsRecord, GroupValue, OffsetValue


class GroupStore:
    """Offsets by group, and each group's last record."""

    __slots__ = ("groups", "offsets")

    def __init__(self) -> None:
        self.groups: dict[str, GroupValue] = {}
        self.offsets: dict[str, dict[TopicPartition, OffsetValue]] = {}

    def replay(self, record: GroupsRecord) -> None:
        """Take over one record, the newest so far."""
        if isinstance(record, GroupRecord):
            if record.value is None:
                self.groups.pop(record.group_id, None)
            else:
                self.groups[record.group_id] = record.value
            return
        key = (record.topic, record.partition)
        if record.value is not None:
            self.offsets.setdefault(record.group_id, {})[key] = record.value
            return
        offsets = self.offsets.get(record.group_id)
        if offsets is not None:
            offsets.pop(key, None)
            if not offsets:
                del self.offsets[record.group_id]

    def group_ids(self) -> set[str]:
        """Every group that has a record or an offset."""
        return self.groups.keys() | self.offsets.keys()
