"""Metadata v7: the brokers and all partitions of a cluster, as arrays.

A cluster's partitions are rows, sorted by topic and partition. The row number is the index into all
arrays of this package. A topic's rows are `spans[topic]`; the row of a partition is
`spans[topic].start + partition`. A topic has as many rows as the response has partitions of it. A
partition number that is too high is refused; a missing one is a row without a leader.

    Metadata v7 = throttle i32, brokers[id i32, host s, port i32, rack s?], cluster_id s?,
                  controller i32, topics[error i16, name s, internal i8, partitions[error i16,
                  index i32, leader i32, epoch i32, replicas[i32], isr[i32], offline[i32]]]
"""

from dataclasses import dataclass, field
from struct import Struct

import numpy as np
import numpy.typing as npt

from monitoring.gateway.errors import OverLimit
from monitoring.gateway.wire import limits
from monitoring.gateway.wire.cursor import Cursor
from monitoring.gateway.wire.limits import Refusals, check_limit, printable
from monitoring.reasons import Reason

API_KEY, VERSION = 3, 7
# topics = null (all of them), allow_auto_topic_creation = false
REQUEST_BODY = b"\xff\xff\xff\xff\x00"
NO_TOPICS_BODY = b"\x00\x00\x00\x00\x00"  # only brokers and cluster id
TOPIC_LENGTH_MAX = limits.TOPIC_LENGTH_MAX
_I16, _I32 = Struct(">h"), Struct(">i")
_PARTITION = Struct(">hiiii")  # error, index, leader, epoch, count of replicas

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Broker:
    id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True, eq=False)
class BrokerIdLists:
    """Lists of broker ids, one per row, in Arrow's list layout."""

    offsets: Ints  # row count + 1
    values: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Metadata:
    """The metadata of a cluster. Compared by identity: unchanged metadata keeps its object."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[Broker, ...]
    topics: tuple[str, ...]  # sorted
    counts: Longs  # partitions per topic
    spans: dict[str, range]  # topic → its rows
    leaders: Ints  # per row, -1 = none
    replicas: BrokerIdLists
    isr: BrokerIdLists
    refused: Refusals = field(default_factory=Refusals)  # invalid parts of the response

    @property
    def row_count(self) -> int:
        return len(self.leaders)

    def topic_of_row(self) -> Ints:
        """Index into `topics`, per row."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), self.counts)

    def partition_of_row(self) -> Ints:
        """Partition number, per row."""
        first = np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return (np.arange(self.row_count) - first).astype(np.int32)


def body_of_topic(name: str) -> bytes:
    """The request body for one topic, without creating it."""
    encoded = name.encode()
    return _I32.pack(1) + _I16.pack(len(encoded)) + encoded + b"\x00"


# (leader, replicas, isr) of one partition
_Row = tuple[int, tuple[int, ...], tuple[int, ...]]
_NO_ROW: _Row = (-1, (), ())


def decode(answer: bytes) -> Metadata:
    """Decode the response, from its correlation id on.

    Raises struct.error or ValueError if it is malformed, OverLimit if it is too large.
    """
    cursor = Cursor(answer, 8)
    brokers = {}
    check_limit(count := cursor.array_length(12), limits.BROKERS_MAX, "too_many_brokers")
    for _ in range(count):
        broker = _broker(cursor)
        brokers[broker.id] = broker
    cluster_id, controller_id = cursor.text() or "", cursor.i32()
    check_limit(len(cluster_id), limits.TEXT_LENGTH_MAX, "too_long_id")
    check_limit(count := cursor.array_length(9), limits.TOPICS_MAX, "too_many_topics")
    decoder = _TopicDecoder(cursor)
    topics = dict(decoder.next() for _ in range(count))
    topics.pop("", None)
    sorted_brokers = tuple(sorted(brokers.values(), key=_by_id))
    return _assemble(cluster_id, controller_id, sorted_brokers, topics, decoder.refused)


def _by_id(broker: Broker) -> int:
    return broker.id


def _broker(cursor: Cursor) -> Broker:
    broker = Broker(cursor.i32(), cursor.text() or "", cursor.i32(), cursor.text())
    if not 0 < broker.port < 65536 or broker.id < 0:
        raise OverLimit(Reason("broker_port", id=broker.id, port=broker.port))
    for text in (broker.host, broker.rack or ""):
        check_limit(len(text), limits.TEXT_LENGTH_MAX, "too_long_host")
    return broker


class _TopicDecoder:
    """Decodes topic by topic, with limits for all topics together."""

    def __init__(self, cursor: Cursor) -> None:
        self.refused = Refusals()
        self._cursor = cursor
        self._partitions_read = self._ids_read = 0

    def next(self) -> tuple[str, list[_Row]]:
        """A topic and its rows; "" for a topic that is left out."""
        cursor = self._cursor
        cursor.skip(2)  # error code: a topic with an error has no partitions
        name = cursor.text() or ""
        cursor.skip(1)
        count = cursor.array_length(_PARTITION.size + 8)
        self._partitions_read += count
        check_limit(self._partitions_read, limits.PARTITIONS_MAX, "too_many_partitions")
        rows: dict[int, _Row] = {}
        data, at = cursor.data, cursor.at
        for _ in range(count):
            _error, index, leader, _epoch, ids = _PARTITION.unpack_from(data, at)
            replicas, at = _ids(data, at + _PARTITION.size, ids)
            isr, at = _ids(data, at + 4, _I32.unpack_from(data, at)[0])
            offline, at = _ids(data, at + 4, _I32.unpack_from(data, at)[0])
            self._ids_read += len(replicas) + len(isr) + len(offline)
            if self._ids_read > limits.BROKER_IDS_MAX:
                check_limit(self._ids_read, limits.BROKER_IDS_MAX, "too_many_replicas")
            if 0 <= index < count:
                rows[index] = (leader, replicas, isr)
            else:
                parameters = {"topic": printable(name), "partition": index, "count": count}
                self.refused.add(Reason("topic_partition", **parameters))
        cursor.at = at
        if not 0 < len(name) <= TOPIC_LENGTH_MAX:
            self.refused.add(Reason("topic_name", n=len(name), name=printable(name)))
            return "", []
        return name, [rows.get(index, _NO_ROW) for index in range(count)]


_IDS = tuple(Struct(f">{count}i") for count in range(16))


def _ids(data: bytes, at: int, count: int) -> tuple[tuple[int, ...], int]:
    if count < 0 or at + 4 * count > len(data):
        if count == -1:
            return (), at  # null
        raise ValueError(f"{count} broker ids with {len(data) - at} bytes left")
    if count > limits.BROKERS_MAX:
        check_limit(count, limits.BROKERS_MAX, "too_many_replica_brokers")
    layout = _IDS[count] if count < len(_IDS) else Struct(f">{count}i")
    return layout.unpack_from(data, at), at + layout.size


def _assemble(
    cluster_id: str,
    controller_id: int,
    brokers: tuple[Broker, ...],
    topics: dict[str, list[_Row]],
    refused: Refusals,
) -> Metadata:
    names = tuple(sorted(topics))
    rows = [row for name in names for row in topics[name]]
    counts = np.array([len(topics[name]) for name in names], dtype=np.int64)
    ends = np.cumsum(counts)
    spans = map(range, (ends - counts).tolist(), ends.tolist())
    replicas = _lists([row[1] for row in rows])
    check_limit(len(np.unique(replicas.values)), limits.BROKERS_MAX, "too_many_holding_brokers")
    return Metadata(
        cluster_id=cluster_id,
        controller_id=controller_id if controller_id >= 0 else None,
        brokers=brokers,
        topics=names,
        counts=counts,
        spans=dict(zip(names, spans, strict=True)),
        leaders=np.array([row[0] for row in rows], dtype=np.int32),
        replicas=replicas,
        isr=_lists([row[2] for row in rows]),
        refused=refused,
    )


def _lists(lists: list[tuple[int, ...]]) -> BrokerIdLists:
    offsets = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum([len(ids) for ids in lists], out=offsets[1:])
    return BrokerIdLists(offsets, np.array([i for ids in lists for i in ids], dtype=np.int32))
