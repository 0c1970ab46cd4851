"""One fetch session (KIP-227): what it requests, what it was answered, and what it has to read.

Only `dirty` partitions are read: a read with nothing to answer takes a partition out of them, and
the session listens to the replica, which puts it back when it moves. A partition that had records
goes behind the others, so that all get their turn. For a topic that is requested by id, the session
keeps its first name, since Kafka's later errors depend on the name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final

from brokerd.protocol.fetch_request import NO_TOPIC_ID, FetchPartition, TopicIdPartition
from brokerd.protocol.fetch_response import FetchReply
from brokerd.replication.partition import Partition

NAME_CHARS: Final = 64
"""A partition whose topic has a longer name counts once more for each further NAME_CHARS."""

Names = Mapping[bytes, str]
partition_key = itemgetter(*map(FetchPartition._fields.index, ("topic", "topic_id", "partition")))
"""FetchPartition.key, several times as fast."""


class _Partition:
    """One partition of a session: its request and its last answer; a listener of its replica.
    `name` is the name of a topic that is requested by id, None as long as it is unknown."""

    __slots__ = ("_replica", "_session", "high_watermark", "log_start_offset", "name", "wanted")

    def __init__(self, session: "Session", wanted: FetchPartition) -> None:
        self._session: Session | None = session
        self._replica: Partition | None = None
        self.wanted = wanted
        self.name: str | None = None
        self.high_watermark = -1
        self.log_start_offset = -1

    def __call__(self, replica: Partition) -> None:
        if not replica.is_leader:  # and it may be here no more
            self.ignore()
        if self._session is not None:
            self._session.moved(self, replica)

    def listen_to(self, replica: Partition) -> None:
        if self._replica is not replica:
            self.ignore()
            self._replica = replica
            replica.listeners[self] = None

    def ignore(self) -> None:
        if self._replica is not None:
            self._replica.listeners.pop(self, None)
            self._replica = None

    def leave(self) -> None:
        """The session has ended. It refers to itself in no cycle from now on: those are left to the
        garbage collector, which does not look at what was frozen."""
        self.ignore()
        self._session = None

    def has_news(self, reply: FetchReply) -> bool:
        return (
            reply.records is not None
            or reply.high_watermark != self.high_watermark
            or reply.log_start_offset != self.log_start_offset
            or reply.diverging is not None
        )

    def update(self, reply: FetchReply) -> bool:
        """Store an answer; returns whether it differs from the answer before."""
        has_news = self.has_news(reply)
        self.high_watermark = reply.high_watermark
        self.log_start_offset = reply.log_start_offset
        if reply.error:
            self.high_watermark = -1  # so that the next answer without an error is sent, too
            return True
        return has_news


class Session:
    """See the module. `listeners` are the requests that wait: called when a partition moved."""

    __slots__ = (
        "_unnamed", "created_ms", "dirty", "epoch", "id", "is_open", "listeners", "moves",
        "partitions", "size", "used_ms", "uses_topic_ids",
    )  # fmt: skip

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.epoch = 1
        self.created_ms = self.used_ms = now_ms
        self.partitions: dict[TopicIdPartition, _Partition] = {}
        self.dirty: dict[TopicIdPartition, _Partition] = {}
        """Those to be read, in this order."""
        self.listeners: dict[Callable[[Partition], None], None] = {}
        self.moves = 0
        self.is_open = True
        self.size = 0
        """What it counts as against `fetch_session_cache.PARTITIONS_MAX`."""
        self._unnamed: dict[TopicIdPartition, _Partition] = {}

    def update(
        self, changed: Iterable[FetchPartition], forgotten: Iterable[TopicIdPartition], names: Names
    ) -> None:
        """Adds and removes partitions; `names` are the current names of topics by id."""
        if self._unnamed:
            for key, each in tuple(self._unnamed.items()):
                self._name(key, each, names)
        for wanted in changed:
            key = partition_key(wanted)
            known = self.partitions.get(key)
            if known is None:
                self.partitions[key] = known = _Partition(self, wanted)
                self.size += size_of(key)
                if self.uses_topic_ids:
                    self._name(key, known, names)
            else:
                known.wanted = wanted
            self.dirty.setdefault(key, known)
        for key in forgotten:
            known = self.partitions.pop(key, None)
            if known is not None:
                known.ignore()
                self.size -= size_of(key)
            self.dirty.pop(key, None)
            self._unnamed.pop(key, None)

    def close(self) -> None:
        self.is_open = False
        for each in self.partitions.values():
            each.leave()

    def moved(self, partition: _Partition, replica: Partition) -> None:
        """A partition may have something new."""
        self.moves += 1
        self.dirty.setdefault(partition_key(partition.wanted), partition)
        for listener in tuple(self.listeners):
            listener(replica)

    def note_read(self, wanted: FetchPartition, replica: Partition, reply: FetchReply) -> None:
        """One of the dirty partitions was read: it is listened to, and is clean if there was
        nothing new."""
        key = partition_key(wanted)
        known = self.partitions.get(key)
        if known is None or known.wanted is not wanted or not self.is_open:
            return
        known.listen_to(replica)
        if wanted.offset >= reply.high_watermark and not known.has_news(reply):
            self.dirty.pop(key, None)

    def wanted_of(self, replica: Partition) -> FetchPartition | None:
        """What is requested of a partition of this broker."""
        name, topic_id = (
            ("", replica.log.topic_id.bytes)
            if self.uses_topic_ids
            else (replica.topic, NO_TOPIC_ID)
        )
        known = self.partitions.get((name, topic_id, replica.index))
        return None if known is None else known.wanted

    def _name(self, key: TopicIdPartition, partition: _Partition, names: Names) -> None:
        partition.name = names.get(partition.wanted.topic_id)
        if partition.name is None:
            self._unnamed[key] = partition
        else:
            self._unnamed.pop(key, None)

    def take_answers(self, replies: Sequence[FetchReply]) -> list[FetchReply]:
        """The replies that differ from the last answer, which they replace; partitions with records
        are read last next time."""
        changed = []
        for reply in replies:
            key = (reply.topic, reply.topic_id, reply.partition)
            known = self.partitions.get(key)
            if known is None or known.update(reply):
                changed.append(reply)
            if known is not None and reply.records is not None:
                self.dirty.pop(key, None)
                self.dirty[key] = known
        return changed


def size_of(key: TopicIdPartition) -> int:
    return 1 + len(key[0]) // NAME_CHARS
