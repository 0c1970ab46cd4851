"""What the answer of a Produce needs (Kafka's ProduceMetadata); the results of its partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from brokerd.errors import KafkaError
from brokerd.log.assign_offsets import AppendResult
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import RequestHeader
from brokerd.protocol.messages import response_frame
from brokerd.protocol.produce_request import PartitionRecords, ProduceRequest
from brokerd.protocol.produce_response import PartitionReply, encode_produce_response
from brokerd.replication.partition import Partition
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import Slot
from brokerd.server.produce.append_queues import AppendFuture

ACKS_ALL = -1
PARTITION_BYTES = 500
"""What a request that waits counts as for each partition but the first: its answer, and what it
waits for."""


class PartitionResult(NamedTuple):
    """The result of one partition, or its future. `partition` is None if it is not led here."""

    partition: Partition | None
    outcome: AppendResult | KafkaError | AppendFuture


class PartitionRequest(NamedTuple):
    """One partition of a request without its records: `size_bytes` is their size."""

    topic: str
    partition: int
    size_bytes: int


@dataclass(slots=True, eq=False)
class ProduceMetadata:
    """What the answer of a Produce needs, until it is sent."""

    version: int
    correlation_id: int
    acks: int
    timeout_ms: int
    wanted: Sequence[PartitionRecords | PartitionRequest]

    @classmethod
    def of(cls, header: RequestHeader, request: ProduceRequest) -> "ProduceMetadata":
        """That of a request before any of its records are appended."""
        return cls(
            header.api_version, header.correlation_id, request.acks, request.timeout_ms,
            request.partitions,
        )  # fmt: skip

    def forget_records(self) -> None:
        """The records are appended or copied, and the request waits: it must not hold its frame,
        whose memory is counted nowhere by then."""
        self.wanted = [
            PartitionRequest(each.topic, each.partition, each.size_bytes) for each in self.wanted
        ]

    def reserve(self, connection: Connection) -> Slot:
        """Reserves the place of the answer, which counts as the memory that the request holds."""
        return connection.output.reserve(PARTITION_BYTES * (len(self.wanted) - 1))

    def frame(self, replies: list[PartitionReply]) -> bytes:
        """The response with its length, as it goes to the client."""
        body = encode_produce_response(self.version, replies)
        return response_frame(ApiKey.PRODUCE, self.version, self.correlation_id, body)
