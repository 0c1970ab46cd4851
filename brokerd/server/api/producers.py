"""InitProducerId: an id for each idempotent producer. DescribeProducers: the producers of a log.

A producer that wants transactions gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED, here and where it
asks for their coordinator: the one error that every client takes for final.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from brokerd.cluster.admin.producer_id_manager import ProducerIdManager
from brokerd.cluster.topic_names import check_topic_name
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.producer_state_manager import NO_SEQUENCE
from brokerd.server.api.partition_responses import answer_partitions
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.request_context import Fields, RequestContext, error_part

NO_TRANSACTIONS = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@dataclass(frozen=True, slots=True)
class ProducerHandlers:
    led: LedPartitions
    pending_reads: PendingReads
    producer_ids: ProducerIdManager

    async def init_producer_id(self, context: RequestContext, request: Any) -> Fields:
        """A fresh id with epoch 0; a transactional id is refused until transactions are served."""
        if request.transactional_id is not None:
            code = NO_TRANSACTIONS if request.transactional_id else ErrorCode.INVALID_REQUEST
            return {"error_code": int(code), "producer_id": -1, "producer_epoch": -1}
        return {
            "error_code": 0,
            "producer_id": await self.producer_ids.next_id(),
            "producer_epoch": 0,
        }

    def describe_producers(
        self, context: RequestContext, request: Any
    ) -> Fields | Awaitable[Fields]:
        return answer_partitions(
            self.pending_reads,
            context,
            [(each.name, each.partition_indexes) for each in request.topics],
            self._partition,
        )

    def _partition(self, topic: str, index: int, **_: bool) -> Fields:
        try:
            check_topic_name(topic)
            log = self.led.get_partition_or_error(topic, index).log
            log.prepare_first_use()
            entries = log.producers.entries
        except KafkaError as error:
            return {"partition_index": index, **error_part(error)}
        active = [
            {
                "producer_id": producer_id,
                "producer_epoch": entry.epoch,
                "last_sequence": entry.batches[-1].last_sequence if entry.batches else NO_SEQUENCE,
                "last_timestamp": entry.last_timestamp_ms,
                "coordinator_epoch": entry.coordinator_epoch,
                "current_txn_start_offset": entry.txn_first_offset,
            }
            for producer_id, entry in entries.items()
        ]
        return {"partition_index": index, **error_part(), "active_producers": active}
