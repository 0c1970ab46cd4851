"""Fetch, by hand, because every record leaves here: requests v4-12 in, responses v4-12 out.

A response is a list of parts, bytes and record ranges in turn, so that records go from the file to
the socket without passing through the interpreter: the encoder only needs their sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any, NamedTuple

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import Reader, malformed
from brokerd.protocol.schema_writer import write_uvarint
from brokerd.protocol.versions import is_flexible

_HEAD = Struct(">iiiib")
_SESSION = Struct(">ii")
_INDEX = Struct(">i")
_INT16 = Struct(">h")
_PARTITION_V4 = Struct(">iqi")
_PARTITION_V5 = Struct(">iqqi")
_PARTITION_V9 = Struct(">iiqqi")
_PARTITION_V12 = Struct(">iiqiqi")


class FetchPartition(NamedTuple):
    """One partition to read from; `leader_epoch` and `last_fetched_epoch` are -1 if not sent."""

    topic: str
    partition: int
    offset: int
    max_bytes: int
    leader_epoch: int
    last_fetched_epoch: int


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A whole Fetch. A session epoch of -1 or 0 is a full request, any other an incremental one."""

    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    partitions: list[FetchPartition]


class FetchReply(NamedTuple):
    """One partition's answer. `records` is anything with `size_bytes`, or None for no records."""

    topic: str
    partition: int
    error: int
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: Any = None


def decode_fetch(view: memoryview, position: int, version: int) -> FetchRequest:
    """The request whose body starts at `position` of a frame; KafkaError if it does not parse."""
    reader = Reader(view, position, is_flexible(ApiKey.FETCH, version))
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = reader.struct(_HEAD)
    session_id, session_epoch = reader.struct(_SESSION) if version >= 7 else (0, -1)
    partitions: list[FetchPartition] = []
    for _ in range(reader.count()):
        topic = reader.text()
        if topic is None:
            raise malformed("a topic has no name")
        for _ in range(reader.count()):
            partitions.append(_partition(reader, topic, version))
            reader.tags()
        reader.tags()
    return FetchRequest(
        replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level,
        session_id, session_epoch, partitions,
    )  # fmt: skip


def _partition(reader: Reader, topic: str, version: int) -> FetchPartition:
    epoch = last_epoch = -1
    if version >= 12:
        index, epoch, offset, last_epoch, _, size = reader.struct(_PARTITION_V12)
    elif version >= 9:
        index, epoch, offset, _, size = reader.struct(_PARTITION_V9)
    elif version >= 5:
        index, offset, _, size = reader.struct(_PARTITION_V5)
    else:
        index, offset, size = reader.struct(_PARTITION_V4)
    return FetchPartition(topic, index, offset, size, epoch, last_epoch)


_REPLY_V4 = Struct(">ihqqi")
_REPLY_V5 = Struct(">ihqqqi")
_REPLY_V11 = Struct(">ihqqqii")
_REPLY_V12 = Struct(">ihqqqBi")
_NO_PREFERRED_REPLICA = -1


def _reply_head(reply: FetchReply, version: int) -> bytes:
    """Everything before the records: aborted transactions are null, no replica is preferred."""
    index, error = reply.partition, reply.error
    high, stable, start = reply.high_watermark, reply.last_stable_offset, reply.log_start_offset
    if version >= 12:
        return _REPLY_V12.pack(index, error, high, stable, start, 0, _NO_PREFERRED_REPLICA)
    if version >= 11:
        return _REPLY_V11.pack(index, error, high, stable, start, -1, _NO_PREFERRED_REPLICA)
    if version >= 5:
        return _REPLY_V5.pack(index, error, high, stable, start, -1)
    return _REPLY_V4.pack(index, error, high, stable, -1)


def encode_fetch_response(
    version: int, correlation_id: int, error: int, replies: Sequence[FetchReply]
) -> list[Any]:
    """The whole frame as parts: bytes, records, bytes … Replies of one topic follow each other."""
    flexible = is_flexible(ApiKey.FETCH, version)
    parts: list[Any] = []
    out = bytearray(8)
    if flexible:
        out.append(0)
    out += bytes(4)  # throttle time
    if version >= 7:
        out += _INT16.pack(error) + _INDEX.pack(0)  # session id 0: no session is offered
    runs = _runs(replies)
    _count(out, len(runs), flexible)
    size = 0
    for run in runs:
        _topic(out, run[0].topic, len(run), flexible)
        for reply in run:
            records = reply.records
            count = 0 if records is None else records.size_bytes
            out += _reply_head(reply, version)
            _count(out, count, flexible)
            if records is not None:
                parts += (out, records)
                size += len(out) + count
                out = bytearray()
            if flexible:
                out.append(0)
        if flexible:
            out.append(0)
    if flexible:
        out.append(0)
    if out:
        parts.append(out)
    size += len(out)
    _SESSION.pack_into(parts[0], 0, size - 4, correlation_id)
    return parts


def _runs(replies: Sequence[FetchReply]) -> list[list[FetchReply]]:
    runs: list[list[FetchReply]] = []
    for reply in replies:
        if runs and runs[-1][0].topic == reply.topic:
            runs[-1].append(reply)
        else:
            runs.append([reply])
    return runs


def _topic(out: bytearray, topic: str, partitions: int, flexible: bool) -> None:
    name = topic.encode()
    if flexible:
        write_uvarint(out, len(name) + 1)
    else:
        out += _INT16.pack(len(name))
    out += name
    _count(out, partitions, flexible)


def _count(out: bytearray, number: int, flexible: bool) -> None:
    if flexible:
        write_uvarint(out, number + 1)
    else:
        out += _INDEX.pack(number)
