"""What a Produce that begins like the connection's last one needs no second look at."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.produce import ProduceRequest, ResponseTemplate
from brokerd.protocol.versions import is_flexible
from brokerd.server.handlers.produce_checks import codec_max

if TYPE_CHECKING:
    from brokerd.replication.partition import Partition

_LEGACY_SIZE = Struct(">i")
_FLEXIBLE_TAIL = b"\x00\x00\x00"


class ProduceMemo:
    """A request for one partition up to its records: client, acks, topic, partition, and the reply.

    Good for one generation of the broker's partitions: any change of states or settings ends it, so
    that leadership, in-sync replicas and limits need no check of their own per request.
    """

    __slots__ = (
        "acks", "codec_max", "flexible", "generation", "max_message_bytes", "partition", "prefix",
        "records_at", "template", "timeout_ms", "topic", "version",
    )  # fmt: skip

    def __init__(
        self,
        prefix: bytes,
        version: int,
        generation: int,
        request: ProduceRequest,
        partition: Partition,
    ) -> None:
        self.prefix = prefix
        self.records_at = 12 + len(prefix)
        self.version = version
        self.generation = generation
        self.flexible = is_flexible(ApiKey.PRODUCE, version)
        self.acks = request.acks
        self.timeout_ms = request.timeout_ms
        self.partition = partition
        self.topic = request.partitions[0].topic
        self.max_message_bytes = partition.log.config.max_message_bytes
        self.codec_max = int(codec_max(version))
        self.template = ResponseTemplate(version, self.topic, request.partitions[0].partition)

    def records(
        self, buffer: bytearray, view: memoryview, position: int, end: int
    ) -> memoryview | None:
        """The records of a frame that begins like this memo; None if it goes on differently."""
        start = position + self.records_at
        if not self.flexible:
            size = _LEGACY_SIZE.unpack_from(buffer, start)[0] if start + 4 <= end else -1
            return view[start + 4 : end] if size == end - start - 4 else None
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
            return None
        return view[start:records_end]
