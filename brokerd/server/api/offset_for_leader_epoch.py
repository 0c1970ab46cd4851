"""OffsetForLeaderEpoch: where each leader epoch ended, by which followers and consumers find where
their records diverge. Files are read as for ListOffsets (`partition_responses`).
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from brokerd.errors import KafkaError
from brokerd.server.api.partition_responses import answer_partitions
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.request_context import Fields, RequestContext


@dataclass(frozen=True, slots=True)
class OffsetForLeaderEpochHandler:
    led: LedPartitions
    pending_reads: PendingReads

    def offset_for_leader_epoch(
        self, context: RequestContext, request: Any
    ) -> Fields | Awaitable[Fields]:
        """Where each epoch asked for ended in the leader's log."""
        return answer_partitions(
            self.pending_reads,
            context,
            [(each.topic, each.partitions) for each in request.topics],
            self._epoch_end,
            name_field="topic",
        )

    def _epoch_end(self, topic: str, asked: Any, **_: bool) -> Fields:
        try:
            partition = self.led.get_partition_or_error(
                topic, asked.partition, asked.current_leader_epoch
            )
            epoch, end_offset = partition.end_offset_for_epoch(asked.leader_epoch)
        except KafkaError as error:
            return {"partition": asked.partition, "error_code": int(error.code)}
        return {
            "partition": asked.partition,
            "error_code": 0,
            "leader_epoch": epoch,
            "end_offset": end_offset,
        }
