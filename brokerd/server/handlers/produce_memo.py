"""What a Produce that begins like an earlier one needs no second look at."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.produce import ProduceRequest, ResponseTemplate
from brokerd.protocol.records import is_plain
from brokerd.protocol.versions import is_flexible
from brokerd.server.handlers.produce_checks import codec_max

if TYPE_CHECKING:
    from brokerd.replication.partition import Partition

_LEGACY_SIZE = Struct(">i")
_unpack_head = Struct(">ihhi").unpack_from
_unpack_size = _LEGACY_SIZE.unpack_from
_FLEXIBLE_TAIL = b"\x00\x00\x00"


class ProduceMemo:
    """A request for one partition up to its records: client, acks, topic, partition, and the reply.

    Good for one generation of the broker's partitions: any change of states or settings ends it, so
    that leadership, in-sync replicas and limits need no check of their own per request.
    """

    __slots__ = (
        "acks", "codec_max", "flexible", "generation", "max_message_bytes", "opens", "partition",
        "prefix", "records_at", "template", "timeout_ms", "topic", "topic_partition", "version",
    )  # fmt: skip

    def __init__(
        self,
        prefix: bytes,
        version: int,
        generation: int,
        request: ProduceRequest,
        partition: Partition,
        opens: bool,
    ) -> None:
        """`opens`: whether its batches are looked into, or may be."""
        self.prefix = prefix
        self.records_at = 12 + len(prefix)
        self.version = version
        self.generation = generation
        self.flexible = is_flexible(ApiKey.PRODUCE, version)
        self.acks = request.acks
        self.timeout_ms = request.timeout_ms
        self.partition = partition
        self.opens = opens
        self.topic = request.partitions[0].topic
        self.topic_partition = f"{self.topic}-{partition.index}"
        self.max_message_bytes = partition.log.config.max_message_bytes
        self.codec_max = int(codec_max(version))
        self.template = ResponseTemplate(version, self.topic, request.partitions[0].partition)

    def take(
        self,
        buffer: bytearray,
        view: memoryview,
        position: int,
        end: int,
        batches: list[memoryview],
    ) -> tuple[int, list[int]]:
        """Adds the batches of whole frames that begin like this memo and need no second look.

        Returns the position behind the last of them, and their correlation ids. Each is told apart
        in one step: size, API, version and prefix, then where its records are, then their header.
        """
        prefix, version, flexible = self.prefix, self.version, self.flexible
        records_at, head_bytes = self.records_at, self.records_at + _LEGACY_SIZE.size
        max_message_bytes, codec_max = self.max_message_bytes, self.codec_max
        ids: list[int] = []
        while end - position >= head_bytes:
            size, api_key, found, correlation_id = _unpack_head(buffer, position)
            frame_end = position + 4 + size
            if (
                api_key
                or found != version
                or frame_end > end
                or not buffer.startswith(prefix, position + 12, frame_end)
            ):
                break
            if flexible:
                records = _compact_records(buffer, view, position + records_at, frame_end)
            else:
                start = position + head_bytes
                if start > frame_end or _unpack_size(buffer, start - 4)[0] != frame_end - start:
                    break
                records = view[start:frame_end]
            if not is_plain(records, max_message_bytes, codec_max):
                break  # said by the general way
            batches.append(records)
            ids.append(correlation_id)
            position = frame_end
        return position, ids


def _compact_records(buffer: bytearray, view: memoryview, start: int, end: int) -> memoryview:
    """The records of a flexible frame; none if it does not end with them and no tagged fields."""
    size = shift = 0
    while start < end and shift <= 28:
        byte = buffer[start]
        start += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    records_end = start + size - 1
    if records_end + 3 != end or buffer[records_end:end] != _FLEXIBLE_TAIL:
        return view[:0]
    return view[start:records_end]
