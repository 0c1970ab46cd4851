"""DeleteRecords: moves the log starts of partitions, durably before it is answered.

The low watermark of the answer is this leader's log start: there are no followers to wait for.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from brokerd.cluster.topic_names import INTERNAL_TOPICS
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import in_turns, map_in_turns_awaited
from brokerd.log.unified_log import UnifiedLog
from brokerd.server.background.log_start_checkpoints import LogStartCheckpoints
from brokerd.server.background.pending_reads import load_log
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.request_context import Fields, RequestContext
from brokerd.topic_partition import TopicPartition

NO_LOW_WATERMARK = -1


@dataclass(frozen=True, slots=True)
class DeleteRecordsHandler:
    led: LedPartitions
    log_starts: LogStartCheckpoints

    async def delete_records(self, context: RequestContext, request: Any) -> Fields:
        """Each partition has a result of its own; one or two writes to disk serve them all."""
        deletions = _Deletions(self.led, self.log_starts)
        rows = ((topic.name, each) for topic in request.topics for each in topic.partitions)
        await in_turns(rows, deletions.note)
        await in_turns(deletions.logs, load_log)
        await in_turns(deletions.wanted.items(), deletions.delete)
        await map_in_turns_awaited(deletions.deleted, deletions.answer)
        topics = deletions.topics
        return {"topics": [{"name": name, "partitions": rows} for name, rows in topics.items()]}


class _Deletions:
    """One request: the offsets of each partition, and the results so far."""

    def __init__(self, led: LedPartitions, log_starts: LogStartCheckpoints) -> None:
        self._led = led
        self._log_starts = log_starts
        self.wanted: dict[TopicPartition, int] = {}
        self.logs: list[UnifiedLog] = []
        self.deleted: list[tuple[Fields, asyncio.Future[None]]] = []
        self.topics: dict[str, list[Fields]] = {}

    def note(self, row: tuple[str, Any]) -> None:
        topic, asked = row
        index = int(asked.partition_index)
        if (topic, index) not in self.wanted:
            with suppress(KafkaError):  # said for each
                self.logs.append(self._led.get_partition_or_error(topic, index).log)
        self.wanted[topic, index] = int(asked.offset)

    def delete(self, asked: tuple[TopicPartition, int]) -> None:
        (topic, index), offset = asked
        row: Fields = {
            "partition_index": index, "low_watermark": NO_LOW_WATERMARK, "error_code": 0
        }  # fmt: skip
        self.topics.setdefault(topic, []).append(row)
        try:
            if topic in INTERNAL_TOPICS:
                message = f"Cannot delete records of internal topic {topic}."
                raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
            low_watermark = self._led.get_partition_or_error(topic, index).delete_records(offset)
            saved = self._log_starts.save(topic, index)
        except KafkaError as error:
            row["error_code"] = int(error.code)
            return
        row["low_watermark"] = low_watermark
        self.deleted.append((row, saved))

    async def answer(self, deleted: tuple[Fields, asyncio.Future[None]]) -> None:
        row, saved = deleted
        try:
            await asyncio.shield(saved)
        except KafkaError as error:
            row.update(low_watermark=NO_LOW_WATERMARK, error_code=int(error.code))
