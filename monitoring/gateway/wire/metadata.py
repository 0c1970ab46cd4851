"""Metadata v7: the brokers and every partition of a cluster, as arrays.

A cluster's partitions become rows, sorted by topic and partition; a row number is the index into
every array that the other readers of this package fill. A topic's rows are `spans[topic]`, the
row of a partition is `spans[topic].start + partition`; a partition that the answer leaves out is
a row without leader.

    Metadata v7 = throttle i32, brokers[id i32, host s, port i32, rack s?], cluster_id s?,
                  controller i32, topics[error i16, name s, internal i8, partitions[error i16,
                  index i32, leader i32, epoch i32, replicas[i32], isr[i32], offline[i32]]]
"""

from dataclasses import dataclass
from struct import Struct

import numpy as np
import numpy.typing as npt

API_KEY, VERSION = 3, 7
# topics = null (all of them), allow_auto_topic_creation = false
REQUEST_BODY = b"\xff\xff\xff\xff\x00"
TOPIC_LENGTH_MAX = 249  # Kafka's own
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
class Lists:
    """Lists of broker ids, one per row, as Arrow lays them out."""

    offsets: Ints  # row count + 1
    values: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Metadata:
    """One cluster at one moment; compare by identity (an unchanged cluster keeps its object)."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[Broker, ...]
    topics: tuple[str, ...]  # sorted
    counts: Longs  # partitions per topic
    spans: dict[str, range]  # topic → its rows
    leaders: Ints  # per row, -1 = none
    replicas: Lists
    isr: Lists

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
    """The request that asks for one topic alone, and creates none."""
    encoded = name.encode()
    return _I32.pack(1) + _I16.pack(len(encoded)) + encoded + b"\x00"


class _Cursor:
    """Reads forward through an answer; running off its end is a struct.error."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def i32(self) -> int:
        (value,) = _I32.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def text(self) -> str | None:
        (size,) = _I16.unpack_from(self.data, self.at)
        self.at += 2
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size : self.at].decode()


# (leader, replicas, isr) of one partition
_Row = tuple[int, tuple[int, ...], tuple[int, ...]]
_NO_ROW: _Row = (-1, (), ())


def decode(answer: bytes) -> Metadata:
    """The answer (from its correlation id on) as Metadata. Raises struct.error if torn."""
    cursor = _Cursor(answer, 8)
    brokers = []
    for _ in range(cursor.i32()):
        broker_id, host, port = cursor.i32(), cursor.text() or "", cursor.i32()
        brokers.append(Broker(broker_id, host, port, cursor.text()))
    cluster_id, controller_id = cursor.text() or "", cursor.i32()
    topics = dict(_topic(cursor) for _ in range(cursor.i32()))
    return _assemble(cluster_id, controller_id, tuple(sorted(brokers, key=_by_id)), topics)


def _by_id(broker: Broker) -> int:
    return broker.id


def _topic(cursor: _Cursor) -> tuple[str, list[_Row]]:
    cursor.at += 2  # an error shows as a topic without partitions
    name = cursor.text() or ""
    cursor.at += 1
    found: dict[int, _Row] = {}
    data, at = cursor.data, cursor.at + 4
    for _ in range(_I32.unpack_from(data, cursor.at)[0]):
        _error, index, leader, _epoch, count = _PARTITION.unpack_from(data, at)
        replicas, at = _ids(data, at + 18, count)
        isr, at = _ids(data, at + 4, _I32.unpack_from(data, at)[0])
        at += 4 + 4 * _I32.unpack_from(data, at)[0]  # offline replicas
        found[index] = (leader, replicas, isr)
    cursor.at = at
    return name, [found.get(index, _NO_ROW) for index in range(max(found, default=-1) + 1)]


_IDS = tuple(Struct(f">{count}i") for count in range(16))


def _ids(data: bytes, at: int, count: int) -> tuple[tuple[int, ...], int]:
    layout = _IDS[count] if 0 <= count < len(_IDS) else Struct(f">{max(count, 0)}i")
    return layout.unpack_from(data, at), at + layout.size


def _assemble(
    cluster_id: str, controller_id: int, brokers: tuple[Broker, ...], topics: dict[str, list[_Row]]
) -> Metadata:
    names = tuple(sorted(topics))
    rows = [row for name in names for row in topics[name]]
    counts = np.array([len(topics[name]) for name in names], dtype=np.int64)
    ends = np.cumsum(counts)
    spans = map(range, (ends - counts).tolist(), ends.tolist())
    return Metadata(
        cluster_id=cluster_id,
        controller_id=controller_id if controller_id >= 0 else None,
        brokers=brokers,
        topics=names,
        counts=counts,
        spans=dict(zip(names, spans, strict=True)),
        leaders=np.array([row[0] for row in rows], dtype=np.int32),
        replicas=_lists([row[1] for row in rows]),
        isr=_lists([row[2] for row in rows]),
    )


def _lists(lists: list[tuple[int, ...]]) -> Lists:
    offsets = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum([len(ids) for ids in lists], out=offsets[1:])
    return Lists(offsets, np.array([i for ids in lists for i in ids], dtype=np.int32))
