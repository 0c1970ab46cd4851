"""Fetch responses v4-17, by hand, since they are hot. A topic has its name up to v12, its id from
v13. A response is a list of parts, bytes and record ranges in turn, so that records go from the
file to the socket without passing through the interpreter.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Any, NamedTuple

from brokerd.protocol.api_keys import ApiKey, is_flexible
from brokerd.protocol.fetch_request import NO_SESSION, NO_TOPIC_ID, TOPIC_IDS_FROM
from brokerd.protocol.schema_writer import write_count, write_text, write_uvarint

LEADERS_FROM = 16
"""The first version whose answer may name another leader, and where it is."""

_DIVERGING_TAG = 0
_LEADER_TAG = 1
_ENDPOINTS_TAG = 0
_INDEX = Struct(">i")


class FetchReply(NamedTuple):
    """One partition's answer. `records` is anything with `size_bytes`, or None for no records.
    `aborted` are (producer id, first offset) of aborted transactions, None where they were not
    asked for; `diverging` is (epoch, end offset) where the asker's log left the leader's, and
    `leader` (broker id, epoch) of the one to ask instead."""

    topic: str
    partition: int
    error: int
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: Any = None
    topic_id: bytes = NO_TOPIC_ID
    aborted: Sequence[tuple[int, int]] | None = None
    diverging: tuple[int, int] | None = None
    leader: tuple[int, int] | None = None


class Endpoint(NamedTuple):
    broker_id: int
    host: str
    port: int
    rack: str | None


_REPLY_V4 = Struct(">ihqqi")
_REPLY_V5 = Struct(">ihqqqi")
_REPLY_V11 = Struct(">ihqqqii")
_REPLY_V12 = Struct(">ihqqqBi")
_ABORTED = Struct(">qq")
_ABORTED_V12 = Struct(">qqx")
_EPOCH_END = Struct(">iq")
_LEADER = Struct(">ii")
_SESSION = Struct(">hi")
_FRAME = Struct(">ii")
_NO_PREFERRED_REPLICA = -1


def _reply_head(reply: FetchReply, version: int) -> bytes:
    """Everything before the records; no replica is preferred."""
    index, error = reply.partition, reply.error
    high, stable, start = reply.high_watermark, reply.last_stable_offset, reply.log_start_offset
    aborted = reply.aborted
    if aborted:
        return _reply_head_aborted(reply, version)
    count = -1 if aborted is None else 0
    if version >= 12:
        return _REPLY_V12.pack(index, error, high, stable, start, count + 1, _NO_PREFERRED_REPLICA)
    if version >= 11:
        return _REPLY_V11.pack(index, error, high, stable, start, count, _NO_PREFERRED_REPLICA)
    if version >= 5:
        return _REPLY_V5.pack(index, error, high, stable, start, count)
    return _REPLY_V4.pack(index, error, high, stable, count)


def _reply_head_aborted(reply: FetchReply, version: int) -> bytes:
    aborted = reply.aborted or ()
    flexible = version >= 12
    plain = _reply_head(reply._replace(aborted=None), version)
    tail = b"" if version < 11 else _INDEX.pack(_NO_PREFERRED_REPLICA)
    null_bytes = 1 if flexible else 4
    out = bytearray(plain[: len(plain) - len(tail) - null_bytes])
    write_count(out, len(aborted), flexible)
    layout = _ABORTED_V12 if flexible else _ABORTED
    for producer_id, first_offset in aborted:
        out += layout.pack(producer_id, first_offset)
    return bytes(out + tail)


def encode_fetch_response(
    version: int,
    correlation_id: int,
    error: int,
    replies: Sequence[FetchReply],
    session_id: int = NO_SESSION,
    endpoints: Sequence[Endpoint] = (),
) -> list[Any]:
    """The whole frame as parts: bytes, records, bytes … Replies of one topic follow each other."""
    flexible = is_flexible(ApiKey.FETCH, version)
    parts: list[Any] = []
    out = bytearray(13 if flexible else 12)  # frame head, header tags, throttle time
    if version >= 7:
        out += _SESSION.pack(error, session_id)
    runs: list[list[FetchReply]] = []
    for reply in replies:
        if runs and reply.topic == runs[-1][0].topic and reply.topic_id == runs[-1][0].topic_id:
            runs[-1].append(reply)
        else:
            runs.append([reply])
    write_count(out, len(runs), flexible)
    size = 0
    for run in runs:
        _topic(out, run[0], len(run), version)
        for reply in run:
            records = reply.records
            count = 0 if records is None else records.size_bytes
            out += _reply_head(reply, version)
            write_count(out, count, flexible)
            if records is not None:
                parts += (out, records)
                size += len(out) + count
                out = bytearray()
            if flexible:
                _reply_tags(out, reply)
        if flexible:
            out.append(0)
    if flexible:
        _endpoints(out, endpoints if version >= LEADERS_FROM else ())
    if out:
        parts.append(out)
    size += len(out)
    _FRAME.pack_into(parts[0], 0, size - 4, correlation_id)
    return parts


class ResponseTemplate:
    """What answers to one partition of one topic have in common: all but the numbers."""

    __slots__ = ("_flexible", "_index", "_prefix", "_tail", "_version")

    def __init__(self, version: int, topic: str, topic_id: bytes, partition: int) -> None:
        self._version = version
        self._index = partition
        self._flexible = is_flexible(ApiKey.FETCH, version)
        reply = FetchReply(topic, partition, 0, topic_id=topic_id)
        (whole,) = encode_fetch_response(version, 0, 0, [reply])
        # Behind the reply's head: no records, and the ends of the partition, topic and response.
        self._tail = bytes(3) if self._flexible else b""
        behind = len(_reply_head(reply, version)) + (1 if self._flexible else 4) + len(self._tail)
        self._prefix = bytes(whole[: len(whole) - behind])

    def parts(
        self,
        correlation_id: int,
        high_watermark: int,
        last_stable_offset: int,
        log_start_offset: int,
        aborted: Sequence[tuple[int, int]] | None,
        records: Any,
    ) -> list[Any]:
        version = self._version
        size = records.size_bytes
        out = bytearray(self._prefix)
        if version >= 11 and not aborted:
            none = -1 if aborted is None else 0
            layout, none = (_REPLY_V12, none + 1) if self._flexible else (_REPLY_V11, none)
            out += layout.pack(
                self._index, 0, high_watermark, last_stable_offset, log_start_offset, none,
                _NO_PREFERRED_REPLICA,
            )  # fmt: skip
        else:
            reply = FetchReply(
                "", self._index, 0, high_watermark, last_stable_offset, log_start_offset,
                aborted=aborted,
            )  # fmt: skip
            out += _reply_head(reply, version)
        tail = self._tail
        if self._flexible:
            write_uvarint(out, size + 1)
        else:
            out += _INDEX.pack(size)
        _FRAME.pack_into(out, 0, len(out) + size + len(tail) - 4, correlation_id)
        return [out, records, tail] if tail else [out, records]


def _topic(out: bytearray, reply: FetchReply, partitions: int, version: int) -> None:
    if version >= TOPIC_IDS_FROM:
        out += reply.topic_id
    else:
        write_text(out, reply.topic, version >= 12)
    write_count(out, partitions, version >= 12)


def _reply_tags(out: bytearray, reply: FetchReply) -> None:
    if reply.diverging is None and reply.leader is None:
        out.append(0)
        return
    fields = []
    if reply.diverging is not None:
        fields.append((_DIVERGING_TAG, _EPOCH_END.pack(*reply.diverging) + b"\x00"))
    if reply.leader is not None:
        fields.append((_LEADER_TAG, _LEADER.pack(*reply.leader) + b"\x00"))
    out.append(len(fields))
    for tag, data in fields:
        out += bytes((tag, len(data))) + data


def _endpoints(out: bytearray, endpoints: Sequence[Endpoint]) -> None:
    if not endpoints:
        out.append(0)
        return
    data = bytearray()
    write_uvarint(data, len(endpoints) + 1)
    for broker_id, host, port, rack in endpoints:
        data += _INDEX.pack(broker_id)
        write_text(data, host, flexible=True)
        data += _INDEX.pack(port)
        write_text(data, rack, flexible=True)
        data.append(0)
    out += bytes((1, _ENDPOINTS_TAG))
    write_uvarint(out, len(data))
    out += data
