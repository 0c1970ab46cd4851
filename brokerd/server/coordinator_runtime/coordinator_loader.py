"""Reads a partition of `__consumer_offsets` into a coordinator (Kafka's CoordinatorLoader): files
in a thread, a slice at a time, records replayed for a few milliseconds at a time. What cannot be
decoded is skipped and logged, so that the other groups of the partition can be served.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator

from brokerd.coordinator.group.group_coordinator_record_serde import OffsetRecord, decode
from brokerd.coordinator.group.group_store import GroupStore
from brokerd.errors import KafkaError
from brokerd.event_loop_turns import in_turns
from brokerd.log.end_transaction_marker import read_marker
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import BatchHeader, Record, iter_batches, iter_records

SLICE_BYTES = 1024 * 1024


logger = logging.getLogger(__name__)


async def load(log: UnifiedLog, start_offset: int, end_offset: int, store: GroupStore) -> None:
    """Replays the records of `log` from `start_offset` to below `end_offset`. Raises KafkaError as
    `log.read`, and OSError, which names the file."""
    offset = start_offset
    while offset < end_offset:
        found = log.read(offset, SLICE_BYTES, up_to=end_offset, min_one_batch=True)
        if found is None:
            return
        try:
            data = await asyncio.to_thread(found.read)
        except OSError as error:
            raise OSError(error.errno, error.strerror, found.path) from error
        finally:
            found.release()
        reached = deque([offset], 1)
        await in_turns(_replay(memoryview(data), offset, store), reached.append)
        if reached[0] <= offset:
            logger.error("group offsets are unreadable from offset %d on", offset)
            return
        offset = reached[0]


def _replay(view: memoryview, offset: int, store: GroupStore) -> Iterator[int]:
    """Replays the whole batches in `view`, one record at a time; gives the offset after the last
    whole batch."""
    try:
        for header, batch in iter_batches(view):
            marker = read_marker(header, batch)
            if marker is not None:
                store.end_transaction(header.producer_id, commits=not marker.is_abort)
            elif not header.is_control:
                for _ in _replay_batch(header, batch, offset, store):
                    yield offset
            offset = header.last_offset + 1
            yield offset
    except KafkaError as error:
        logger.error("group offsets at offset %d are unreadable: %s", offset, error)


def _replay_batch(
    header: BatchHeader, batch: memoryview, offset: int, store: GroupStore
) -> Iterator[None]:
    producer_id = header.producer_id if header.is_transactional else None
    try:
        for record in iter_records(header, batch):
            if record.offset >= offset:
                _replay_one(record, producer_id, store)
            yield
    except KafkaError as error:
        logger.error("group offsets at offset %d are unreadable: %s", header.base_offset, error)


def _replay_one(found: Record, producer_id: int | None, store: GroupStore) -> None:
    try:
        record = decode(found.key, found.value)
    except ValueError as error:
        logger.error("the group record at offset %d is skipped: %s", found.offset, error)
        return
    if producer_id is not None and isinstance(record, OffsetRecord):
        store.replay_sent(producer_id, record)
    elif record is not None:
        store.replay(record)
