"""DeleteRecords: the log starts of partitions moved up, for good once it is answered.

The low watermark that is answered is this leader's log start: followers hold no records yet that
would have to be waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from brokerd.cluster.names import INTERNAL_TOPICS
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext

if TYPE_CHECKING:
    from brokerd.log.partition_log import PartitionLog
    from brokerd.server.broker import Broker

NO_LOW_WATERMARK = -1


async def delete_records(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Each partition for itself; one write to disk serves them all."""
    wanted = {
        (topic.name, int(asked.partition_index)): int(asked.offset)
        for topic in request.topics
        for asked in topic.partitions
    }
    await broker.cold_reads.load(list(_logs(broker, wanted)))
    outcomes = dict(
        zip(
            wanted,
            await asyncio.gather(
                *(_delete(broker, *key, offset) for key, offset in wanted.items())
            ),
            strict=True,
        )
    )
    by_topic: dict[str, list[Fields]] = {}
    for (topic, index), outcome in outcomes.items():
        by_topic.setdefault(topic, []).append({"partition_index": index, **outcome})
    return {"topics": [{"name": name, "partitions": rows} for name, rows in by_topic.items()]}


def _logs(broker: Broker, keys: Iterable[tuple[str, int]]) -> Iterator[PartitionLog]:
    for key in keys:
        with suppress(KafkaError):  # said for each
            yield broker.leader_of(*key).log


async def _delete(broker: Broker, topic: str, index: int, offset: int) -> Fields:
    try:
        if topic in INTERNAL_TOPICS:
            message = f"Cannot delete records of internal topic {topic}."
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
        low_watermark = broker.leader_of(topic, index).delete_records(offset)
        await broker.log_starts.save(topic, index)
    except KafkaError as error:
        return {"low_watermark": NO_LOW_WATERMARK, "error_code": int(error.code)}
    return {"low_watermark": low_watermark, "error_code": 0}


HANDLERS: dict[ApiKey, ColdHandler] = {ApiKey.DELETE_RECORDS: delete_records}
