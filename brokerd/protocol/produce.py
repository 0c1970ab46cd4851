"""Produce, by hand, because every record passes here: requests v0-11 in, responses v0-11 out.

Request: `transactional id (v3+), acks i16, timeout i32, [topic, [partition i32, records]]`.
Response: `[topic, [partition i32, error i16, base offset i64, append time i64 (v2+),
log start offset i64 (v5+), record errors and message (v8+)]], throttle i32 (v1+)`. Flexible from
v9.
Records are slices of the receive buffer, valid until the next receive.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from brokerd.protocol.advertised_versions import is_flexible
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import malformed
from brokerd.protocol.request_reader import RequestReader
from brokerd.protocol.schema_writer import write_count, write_text

_ACKS_TIMEOUT = Struct(">hi")
_INDEX = Struct(">i")


class PartitionRecords(NamedTuple):
    """What is to be appended to one partition; `records` None was sent as null."""

    topic: str
    partition: int
    records: memoryview | None

    @property
    def size_bytes(self) -> int:
        return 0 if self.records is None else len(self.records)


@dataclass(frozen=True, slots=True)
class ProduceRequest:
    """A whole Produce. `prefix_end` is where the only partition's records length starts, -1 when
    there is more than one partition or a transactional id: then there is nothing to memoise."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    partitions: list[PartitionRecords]
    prefix_end: int


class PartitionReply(NamedTuple):
    """How one partition's append went; -1 stands for what is not known."""

    topic: str
    partition: int
    error: int
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None
    record_errors: Sequence[tuple[int, str]] = ()
    """(index in the batch, why) of single records that were refused."""


def decode_produce(view: memoryview, position: int, version: int) -> ProduceRequest:
    """The request whose body starts at `position` of a frame; KafkaError if it does not parse."""
    reader = RequestReader(view, position, is_flexible(ApiKey.PRODUCE, version))
    transactional_id = reader.text() if version >= 3 else None
    acks, timeout_ms = reader.struct(_ACKS_TIMEOUT)
    partitions: list[PartitionRecords] = []
    prefix_end = -1
    for _ in range(reader.count()):
        topic = reader.text()
        if topic is None:
            raise malformed("a topic has no name")
        for _ in range(reader.count()):
            (index,) = reader.struct(_INDEX)
            prefix_end = reader.position
            partitions.append(PartitionRecords(topic, index, reader.records()))
            reader.tags()
        reader.tags()
    reader.tags()
    if len(partitions) != 1 or transactional_id is not None:
        prefix_end = -1
    return ProduceRequest(transactional_id, acks, timeout_ms, partitions, prefix_end)


def encode_produce_response(version: int, replies: list[PartitionReply]) -> bytes:
    """The response's body. Replies of one topic must follow each other."""
    flexible = is_flexible(ApiKey.PRODUCE, version)
    out = bytearray()
    groups: list[list[PartitionReply]] = []
    for reply in replies:
        if groups and groups[-1][0].topic == reply.topic:
            groups[-1].append(reply)
        else:
            groups.append([reply])
    write_count(out, len(groups), flexible)
    for group in groups:
        write_text(out, group[0].topic, flexible)
        write_count(out, len(group), flexible)
        for reply in group:
            _partition(out, reply, version, flexible)
        if flexible:
            out.append(0)
    if version >= 1:
        out += bytes(4)  # throttle time
    if flexible:
        out.append(0)
    return bytes(out)


_REPLY = Struct(">ihq")
_LONG = Struct(">q")


def _partition(out: bytearray, reply: PartitionReply, version: int, flexible: bool) -> None:
    out += _REPLY.pack(reply.partition, reply.error, reply.base_offset)
    if version >= 2:
        out += _LONG.pack(reply.log_append_time_ms)
    if version >= 5:
        out += _LONG.pack(reply.log_start_offset)
    if version >= 8:
        write_count(out, len(reply.record_errors), flexible)
        for index, why in reply.record_errors:
            out += _INDEX.pack(index)
            write_text(out, why, flexible)
            if flexible:
                out.append(0)
        write_text(out, reply.message, flexible)
    if flexible:
        out.append(0)


class ResponseTemplate:
    """A successful response for one partition, of which only four numbers change: with it a reply
    costs one `pack`."""

    __slots__ = ("_head", "_pack", "_size", "_tail")

    def __init__(self, version: int, topic: str, partition: int) -> None:
        body = encode_produce_response(version, [PartitionReply(topic, partition, 0)])
        if is_flexible(ApiKey.PRODUCE, version):
            body = b"\x00" + body  # the response header's tagged fields
        numbers = 3 if version >= 5 else 2
        start = body.index(_INDEX.pack(partition) + b"\x00\x00" + b"\xff" * 8) + 6
        end = start + 8 * numbers
        self._head, self._tail = body[:start], body[end:]
        self._size = len(body) + 4
        layout = Struct(f">ii{start}s{'q' * numbers}{len(body) - end}s")
        if numbers == 3:
            self._pack = layout.pack
        else:
            self._pack = lambda *values: layout.pack(*values[:5], values[6])

    def frame(
        self, correlation_id: int, base_offset: int, log_append_time_ms: int, log_start_offset: int
    ) -> bytes:
        return self._pack(
            self._size, correlation_id, self._head,
            base_offset, log_append_time_ms, log_start_offset, self._tail,
        )  # fmt: skip
