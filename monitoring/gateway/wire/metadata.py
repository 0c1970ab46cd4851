"""Metadata: the brokers and all partitions of a cluster, as arrays.

Version 12 has topic ids; a broker that does not support it is asked for version 7.

A cluster's partitions are rows, sorted by topic and partition. The row number is the index into all
arrays of this package. A topic's rows are `rows_by_topic[topic]`; the row of a partition is
`rows_by_topic[topic].start + partition`. A topic has as many rows as the response has partitions of
it. A partition number that is too high is invalid; a missing one is a row without a leader.

    Metadata v7  = throttle i32, brokers[id i32, host s, port i32, rack s?], cluster_id s?,
                   controller i32, topics[error i16, name s, internal i8, partitions[error i16,
                   index i32, leader i32, epoch i32, replicas[i32], isr[i32], offline[i32]]]
    Metadata v12 = the same, flexible; topics[error i16, name s?, id uuid, internal i8,
                   partitions[…], operations i32]
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from brokerd.protocol import messages
from brokerd.protocol.varint import read_uvarint
from monitoring.error_reason import Reason
from monitoring.gateway.errors import OverLimit
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor
from monitoring.gateway.wire.response_limits import InvalidParts, check_limit, printable

API_KEY = 3
WITH_IDS, WITHOUT_IDS = VERSIONS = (12, 7)
ALL_TOPICS: None = None
TOPIC_LENGTH_MAX = response_limits.TOPIC_LENGTH_MAX
_I32 = Struct(">i")
_PARTITION = Struct(">hiii")  # error, index, leader, epoch

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
    topic_ids: tuple[str, ...]  # of `topics`, as Kafka writes them; "" = the cluster has none
    counts: Longs  # partitions per topic
    rows_by_topic: dict[str, range]
    leaders: Ints  # per row, -1 = none
    replicas: BrokerIdLists
    isr: BrokerIdLists
    invalid: InvalidParts = field(default_factory=InvalidParts)  # invalid parts of the response

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

    def leader_addresses(self, topic: str) -> dict[int, tuple[str, int]]:
        """Partition → host and port of its leader; without partitions that have no leader."""
        addresses = {broker.id: (broker.host, broker.port) for broker in self.brokers}
        rows = self.rows_by_topic.get(topic, range(0))
        leaders = self.leaders[rows.start : rows.stop].tolist()
        return {
            number: addresses[leader]
            for number, leader in enumerate(leaders)
            if leader in addresses
        }


def request(topics: Sequence[str] | None, version: int, correlation_id: int) -> bytes:
    """The request frame for these topics; none are created."""
    named = None if topics is ALL_TOPICS else [{"topic_id": None, "name": name} for name in topics]
    fields = {"topics": named, "allow_auto_topic_creation": False}
    return messages.encode_request(API_KEY, version, fields, correlation_id, CLIENT_ID)


# (leader, replicas, isr) of one partition
_Row = tuple[int, tuple[int, ...], tuple[int, ...]]
_NO_ROW: _Row = (-1, (), ())


class _Topic(NamedTuple):
    id: str
    rows: list[_Row]


def decode(answer: bytes, version: int) -> Metadata:
    """Decode the response, from its correlation id on.

    Raises struct.error or ValueError if it is malformed, OverLimit if it is too large.
    """
    cursor = Cursor(answer, AFTER_CORRELATION_ID, flexible=version == WITH_IDS)
    cursor.skip_tags()
    cursor.skip(4)  # throttle time
    brokers = {}
    check_limit(
        count := cursor.array_length(item_bytes_min=10),
        response_limits.BROKERS_MAX,
        "too_many_brokers",
    )
    for _ in range(count):
        broker = _broker(cursor)
        brokers[broker.id] = broker
    cluster_id, controller_id = cursor.text() or "", cursor.i32()
    check_limit(len(cluster_id), response_limits.TEXT_LENGTH_MAX, "too_long_id")
    check_limit(
        count := cursor.array_length(item_bytes_min=9),
        response_limits.TOPICS_MAX,
        "too_many_topics",
    )
    decoder = _TopicDecoder(cursor)
    topics = dict(decoder.next() for _ in range(count))
    topics.pop("", None)
    sorted_brokers = tuple(sorted(brokers.values(), key=_by_id))
    return _assemble(cluster_id, controller_id, sorted_brokers, topics, decoder.invalid)


def _by_id(broker: Broker) -> int:
    return broker.id


def _broker(cursor: Cursor) -> Broker:
    broker = Broker(cursor.i32(), cursor.text() or "", cursor.i32(), cursor.text())
    cursor.skip_tags()
    if not 0 < broker.port < 65536 or broker.id < 0:
        raise OverLimit(Reason("broker_port", id=broker.id, port=broker.port))
    for text in (broker.host, broker.rack or ""):
        check_limit(len(text), response_limits.TEXT_LENGTH_MAX, "too_long_host")
    return broker


class _TopicDecoder:
    """Decodes topic by topic, with limits for all topics together."""

    def __init__(self, cursor: Cursor) -> None:
        self.invalid = InvalidParts()
        self._cursor = cursor
        self._partitions_read = self._ids_read = 0

    def next(self) -> tuple[str, _Topic]:
        """A topic; its name is "" if it is left out."""
        cursor = self._cursor
        cursor.skip(2)  # error code: a topic with an error has no partitions
        name = cursor.text() or ""
        topic_id = _id_text(cursor.slice(_ID_BYTES)) if cursor.flexible else ""
        cursor.skip(1)  # whether it is internal
        count = cursor.array_length(item_bytes_min=_PARTITION.size + 3)
        self._partitions_read += count
        check_limit(self._partitions_read, response_limits.PARTITIONS_MAX, "too_many_partitions")
        rows = self._rows(name, count)
        if cursor.flexible:
            cursor.skip(4)  # authorized operations
            cursor.skip_tags()
        if not 0 < len(name) <= TOPIC_LENGTH_MAX:
            self.invalid.add(Reason("topic_name", n=len(name), name=printable(name)))
            return "", _Topic("", [])
        return name, _Topic(topic_id, [rows.get(index, _NO_ROW) for index in range(count)])

    def _rows(self, name: str, count: int) -> dict[int, _Row]:
        rows: dict[int, _Row] = {}
        cursor = self._cursor
        data, at, flexible = cursor.data, cursor.at, cursor.flexible
        for _ in range(count):
            _error, index, leader, _epoch = _PARTITION.unpack_from(data, at)
            replicas, at = _ids(data, at + _PARTITION.size, flexible)
            isr, at = _ids(data, at, flexible)
            offline, at = _ids(data, at, flexible)
            if flexible:
                cursor.at = at
                cursor.skip_tags()
                at = cursor.at
            self._ids_read += len(replicas) + len(isr) + len(offline)
            if self._ids_read > response_limits.BROKER_IDS_MAX:
                check_limit(self._ids_read, response_limits.BROKER_IDS_MAX, "too_many_replicas")
            if 0 <= index < count:
                rows[index] = (leader, replicas, isr)
            else:
                parameters = {"topic": printable(name), "partition": index, "count": count}
                self.invalid.add(Reason("topic_partition", **parameters))
        cursor.at = at
        return rows


_ID_BYTES = 16


def _id_text(topic_id: bytes) -> str:
    return base64.urlsafe_b64encode(topic_id).rstrip(b"=").decode() if any(topic_id) else ""


_IDS = tuple(Struct(f">{count}i") for count in range(16))


def _ids(data: bytes, at: int, flexible: bool) -> tuple[tuple[int, ...], int]:
    """A list of broker ids, and where it ends; null is an empty list."""
    if not flexible:
        (count,) = _I32.unpack_from(data, at)
        at += 4
    elif at < len(data) and data[at] < 0x80:
        count, at = data[at] - 1, at + 1
    else:
        count, at = read_uvarint(data, at)
        count -= 1
    if count < 0 or at + 4 * count > len(data):
        if count == -1:
            return (), at
        raise ValueError(f"{count} broker ids with {len(data) - at} bytes left")
    if count > response_limits.BROKERS_MAX:
        check_limit(count, response_limits.BROKERS_MAX, "too_many_replica_brokers")
    layout = _IDS[count] if count < len(_IDS) else Struct(f">{count}i")
    return layout.unpack_from(data, at), at + layout.size


def _assemble(
    cluster_id: str,
    controller_id: int,
    brokers: tuple[Broker, ...],
    topics: dict[str, _Topic],
    invalid: InvalidParts,
) -> Metadata:
    names = tuple(sorted(topics))
    rows = [row for name in names for row in topics[name].rows]
    counts = np.array([len(topics[name].rows) for name in names], dtype=np.int64)
    ends = np.cumsum(counts)
    row_ranges = map(range, (ends - counts).tolist(), ends.tolist())
    replicas = _lists([row[1] for row in rows])
    check_limit(
        len(np.unique(replicas.values)), response_limits.BROKERS_MAX, "too_many_holding_brokers"
    )
    return Metadata(
        cluster_id=cluster_id,
        controller_id=controller_id if controller_id >= 0 else None,
        brokers=brokers,
        topics=names,
        topic_ids=tuple(topics[name].id for name in names),
        counts=counts,
        rows_by_topic=dict(zip(names, row_ranges, strict=True)),
        leaders=np.array([row[0] for row in rows], dtype=np.int32),
        replicas=replicas,
        isr=_lists([row[2] for row in rows]),
        invalid=invalid,
    )


def _lists(lists: list[tuple[int, ...]]) -> BrokerIdLists:
    offsets = np.zeros(len(lists) + 1, dtype=np.int32)
    np.cumsum([len(ids) for ids in lists], out=offsets[1:])
    return BrokerIdLists(offsets, np.array([i for ids in lists for i in ids], dtype=np.int32))
