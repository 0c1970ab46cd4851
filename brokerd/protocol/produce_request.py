"""Produce requests v0-11, decoded by hand, because every record passes here.

`transactional id (v3+), acks i16, timeout i32, [topic, [partition i32, records]]`. Flexible from
v9. Records are slices of the receive buffer, valid until the next receive.
"""

from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from brokerd.protocol.api_keys import ApiKey, is_flexible
from brokerd.protocol.framing import malformed
from brokerd.protocol.request_reader import RequestReader

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
