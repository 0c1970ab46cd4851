"""ListOffsets: offsets of a log by timestamp, its start and end.

Clients see up to the high watermark, or the last stable offset where they read committed records:
a timestamp's offset at or above it is not known yet. A look-up by time, and the first use of a log,
read files: a little on the loop, of many partitions in turns, and what takes long in threads.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from brokerd.clock import Clock
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import fetch_offset_by_timestamp, inspection
from brokerd.protocol import list_offsets_v0
from brokerd.protocol.fetch_request import READ_COMMITTED
from brokerd.protocol.list_offsets_v0 import RequestedPartition
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

    def list_offsets(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        """One offset per partition, in v0 several; errors are per partition."""
        version = context.api_version
        if version == 0:
            return answer_partitions(
                self.pending_reads, context, request, self._segment_offsets,
                encode=list_offsets_v0.encode_partition,
            )  # fmt: skip
        committed = getattr(request, "isolation_level", 0) == READ_COMMITTED

        def answer(topic: str, asked: Any, *, may_block: bool) -> Fields:
            return self._listed(topic, asked, version, committed, may_block=may_block)

        topics = [(each.name, each.partitions) for each in request.topics]
        return answer_partitions(self.pending_reads, context, topics, answer)

    def _listed(
        self, topic: str, asked: Any, version: int, committed: bool, *, may_block: bool
    ) -> Fields:
        epoch = getattr(asked, "current_leader_epoch", -1)
        try:
            if asked.timestamp < 0 and version < SPECIAL_FROM.get(asked.timestamp, version + 1):
                message = f"version {version} has no special timestamp {asked.timestamp}"
                raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
            partition = self.led.get_partition_or_error(topic, asked.partition_index, epoch)
            offset, timestamp_ms, leader_epoch = _offset_at(
                partition, asked.timestamp, committed, may_block=may_block
            )
        except KafkaError as error:
            return {"partition_index": asked.partition_index, "error_code": int(error.code)}
        return {
            "partition_index": asked.partition_index,
            "error_code": 0,
            "timestamp": timestamp_ms,
            "offset": offset,
            "leader_epoch": leader_epoch,
        }

    def _segment_offsets(self, topic: str, asked: RequestedPartition, **_: bool) -> Fields:
        """The base offsets of segments last written before a time, newest first (Kafka's
        UnifiedLog.legacyFetchOffsetsBefore). Burrow asks for them."""
        try:
            if asked.timestamp < EARLIEST:
                raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
            partition = self.led.get_partition_or_error(topic, asked.partition_index, -1)
            now_ms = self.clock.now_ms()
            points = inspection.segment_times(partition.log, now_ms)
        except KafkaError as error:
            return {"partition_index": asked.partition_index, "error_code": int(error.code)}
        if asked.timestamp == EARLIEST:
            points = points[:1]
        elif asked.timestamp != LATEST:
            while points and points[-1][1] > asked.timestamp:
                points.pop()
        end = partition.high_watermark
        offsets = sorted({min(offset, end) for offset, _ in points}, reverse=True)
        return {
            "partition_index": asked.partition_index,
            "error_code": 0,
            "offsets": offsets[: max(asked.max_num_offsets, 0)],
        }


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
