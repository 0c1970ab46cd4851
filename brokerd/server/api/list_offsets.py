"""ListOffsets: offsets of a log by timestamp, its start and end.

Clients see up to the high watermark, or the last stable offset where they read committed records:
a timestamp's offset at or above it is not known yet. A look-up by time, and the first use of a log,
read files: a little on the loop, of many partitions in turns, and what takes long in threads.
"""

from collections.abc import Awaitable
from dataclasses import dataclass

from brokerd.clock import Clock
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import describe_segments, fetch_offset_by_timestamp
from brokerd.protocol.fetch_request import READ_COMMITTED
from brokerd.protocol.list_offsets import (
    ListOffsetsRequest,
    OffsetsOfPartition,
    RequestedPartition,
    partition_encoder,
)
from brokerd.replication.partition import Partition
from brokerd.server.api.partition_responses import answer_partitions
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.request_context import Fields, RequestContext

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
SPECIAL_FROM = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""The first version of ListOffsets in which a special timestamp has its meaning."""


@dataclass(frozen=True, slots=True)
class ListOffsetsHandlers:
    led: LedPartitions
    clock: Clock
    pending_reads: PendingReads

    def list_offsets(
        self, context: RequestContext, request: ListOffsetsRequest
    ) -> Fields | Awaitable[Fields]:
        """One offset per partition, in v0 several; errors are per partition."""
        version = context.api_version
        committed = request.isolation_level == READ_COMMITTED

        def answer(topic: str, asked: RequestedPartition, *, may_block: bool) -> OffsetsOfPartition:
            try:
                if version == 0:
                    return self._segment_offsets(topic, asked)
                return self._offset(topic, asked, version, committed, may_block=may_block)
            except KafkaError as error:
                return OffsetsOfPartition(asked.partition_index, int(error.code))

        return answer_partitions(
            self.pending_reads, context, request.topics, answer, encode=partition_encoder(version)
        )

    def _offset(
        self,
        topic: str,
        asked: RequestedPartition,
        version: int,
        committed: bool,
        *,
        may_block: bool,
    ) -> OffsetsOfPartition:
        index, epoch, timestamp_ms, _ = asked
        if timestamp_ms < 0 and version < SPECIAL_FROM.get(timestamp_ms, version + 1):
            message = f"version {version} has no special timestamp {timestamp_ms}"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        partition = self.led.get_partition_or_error(topic, index, epoch)
        offset, found_ms, leader_epoch = _offset_at(
            partition, timestamp_ms, committed, may_block=may_block
        )
        return OffsetsOfPartition(index, 0, found_ms, offset, leader_epoch)

    def _segment_offsets(self, topic: str, asked: RequestedPartition) -> OffsetsOfPartition:
        """The base offsets of segments last written before a time, newest first (Kafka's
        UnifiedLog.legacyFetchOffsetsBefore). Burrow asks for them."""
        if asked.timestamp < EARLIEST:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        partition = self.led.get_partition_or_error(topic, asked.partition_index, -1)
        points = describe_segments.segment_times(partition.log, self.clock.now_ms())
        if asked.timestamp == EARLIEST:
            points = points[:1]
        elif asked.timestamp != LATEST:
            while points and points[-1][1] > asked.timestamp:
                points.pop()
        end = partition.high_watermark
        offsets = sorted({min(offset, end) for offset, _ in points}, reverse=True)
        most = max(asked.max_num_offsets, 0)
        return OffsetsOfPartition(asked.partition_index, 0, offsets=offsets[:most])


def _offset_at(
    partition: Partition, timestamp_ms: int, committed: bool, *, may_block: bool
) -> tuple[int, int, int]:
    """(offset, timestamp, leader epoch); all -1 if there is no such record."""
    log = partition.log
    if timestamp_ms in (EARLIEST, EARLIEST_LOCAL):
        return log.log_start_offset, -1, log.epochs.epoch_at(log.log_start_offset)
    if timestamp_ms == LATEST_TIERED:  # nothing is kept elsewhere
        return -1, -1, -1
    if committed:
        log.prepare_first_use()
    else:
        log.check_end()
    end = partition.last_stable_offset if committed else partition.high_watermark
    if timestamp_ms == LATEST:
        return end, -1, partition.leader_epoch
    if timestamp_ms == MAX_TIMESTAMP:
        found = fetch_offset_by_timestamp.largest(log, may_block=may_block)
    else:
        found = fetch_offset_by_timestamp.first_at_or_after(log, timestamp_ms, may_block=may_block)
    if found is None or found[0] >= end:
        return -1, -1, -1
    return found
