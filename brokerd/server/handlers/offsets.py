"""ListOffsets and OffsetForLeaderEpoch: where a partition's log begins and ends, and at what time.

Clients see up to the high watermark, or the last stable offset where they read committed records:
a timestamp's offset at or above it is not known yet. A look-up by time, and the first use of a log,
read files: a little on the loop, of many partitions in turns, and what takes long in threads.
"""

from __future__ import annotations

from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import READ_COMMITTED
from brokerd.server.context import ColdHandler, Fields, RequestContext
from brokerd.server.handlers.partition_answers import answer_partitions
from brokerd.turns import at_once_or_in_turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from brokerd.replication.partition import Partition
    from brokerd.server.broker import Broker

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
SPECIAL_FROM = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""The version from which on each stands for what it does."""


def list_offsets(
    broker: Broker, context: RequestContext, request: Any
) -> Fields | Awaitable[Fields]:
    """One offset per partition asked for; errors are per partition."""
    version = context.api_version
    committed = getattr(request, "isolation_level", 0) == READ_COMMITTED
    once: set[tuple[str, int]] = set()
    twice: set[tuple[str, int]] = set()

    def note(key: tuple[str, int]) -> None:
        (twice if key in once else once).add(key)

    def answer(topic: str, asked: Any, *, patient: bool) -> Fields:
        if (topic, asked.partition_index) in twice:
            return _refused(asked, ErrorCode.INVALID_REQUEST)
        return _listed(broker, topic, asked, version, committed, patient=patient)

    def answer_all() -> Fields | Awaitable[Fields]:
        topics = [(each.name, each.partitions) for each in request.topics]
        return answer_partitions(broker.cold_reads, context, topics, answer)

    keys = ((t.name, each.partition_index) for t in request.topics for each in t.partitions)
    noted = at_once_or_in_turns(keys, note, None)
    return answer_all() if noted is None else _behind(noted, answer_all)


async def _behind(
    noted: Awaitable[None], answer_all: Callable[[], Fields | Awaitable[Fields]]
) -> Fields:
    await noted
    answer = answer_all()
    return await answer if isawaitable(answer) else answer


def _listed(
    broker: Broker, topic: str, asked: Any, version: int, committed: bool, *, patient: bool
) -> Fields:
    epoch = getattr(asked, "current_leader_epoch", -1)
    try:
        if asked.timestamp < 0 and version < SPECIAL_FROM.get(asked.timestamp, version + 1):
            message = f"version {version} has no special timestamp {asked.timestamp}"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)
        partition = broker.leader_of(topic, asked.partition_index, epoch)
        offset, timestamp_ms, leader_epoch = _offset_at(
            partition, asked.timestamp, committed, patient=patient
        )
    except KafkaError as error:
        return _refused(asked, error.code)
    return {
        "partition_index": asked.partition_index,
        "error_code": 0,
        "timestamp": timestamp_ms,
        "offset": offset,
        "leader_epoch": leader_epoch,
    }


def _refused(asked: Any, code: ErrorCode) -> Fields:
    return {"partition_index": asked.partition_index, "error_code": int(code)}


def _offset_at(
    partition: Partition, timestamp_ms: int, committed: bool, *, patient: bool
) -> tuple[int, int, int]:
    """(offset, timestamp, leader epoch); all -1 where there is no such record."""
    log = partition.log
    if timestamp_ms in (EARLIEST, EARLIEST_LOCAL):
        log.check_epochs(patient=patient)
        return log.log_start_offset, -1, log.epoch_at_start
    if timestamp_ms == LATEST_TIERED:  # nothing is kept elsewhere
        return -1, -1, -1
    if committed:
        log.load(patient=patient)
    else:
        log.check_end(patient=patient)
    end = partition.last_stable_offset if committed else partition.high_watermark
    if timestamp_ms == LATEST:
        return end, -1, partition.leader_epoch
    if timestamp_ms == MAX_TIMESTAMP:
        found = log.max_timestamp_offset(patient=patient)
    else:
        found = log.offset_for_timestamp(timestamp_ms, patient=patient)
    if found is None or found[0] >= end:
        return -1, -1, -1
    return found


def offset_for_leader_epoch(
    broker: Broker, context: RequestContext, request: Any
) -> Fields | Awaitable[Fields]:
    """Where each epoch asked for ended in the leader's log."""
    return answer_partitions(
        broker.cold_reads,
        context,
        [(each.topic, each.partitions) for each in request.topics],
        partial(_epoch_end, broker),
        name_field="topic",
    )


def _epoch_end(broker: Broker, topic: str, asked: Any, *, patient: bool) -> Fields:
    try:
        partition = broker.leader_of(topic, asked.partition, asked.current_leader_epoch)
        epoch, end_offset = partition.end_offset_for_epoch(asked.leader_epoch, patient=patient)
    except KafkaError as error:
        return {"partition": asked.partition, "error_code": int(error.code)}
    return {
        "partition": asked.partition,
        "error_code": 0,
        "leader_epoch": epoch,
        "end_offset": end_offset,
    }


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.LIST_OFFSETS: list_offsets,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch,
}
