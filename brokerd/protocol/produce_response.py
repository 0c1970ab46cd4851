"""Produce responses v0-11, encoded by hand, because every Produce is answered here.

`[topic, [partition i32, error i16, base offset i64, append time i64 (v2+), log start offset i64
(v5+), record errors and message (v8+)]], throttle i32 (v1+)`. Flexible from v9.
"""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from brokerd.protocol.api_keys import ApiKey, is_flexible
from brokerd.protocol.schema_writer import write_count, write_text

_INDEX = Struct(">i")


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
