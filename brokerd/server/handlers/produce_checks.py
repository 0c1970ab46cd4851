"""What is asked of a producer's batch before it may be appended.

Always the header and the CRC. The records inside are looked at only where something depends on
them: on a compacted topic, where a record without a key could never be replaced, and everywhere
with `brokerd.validate.records=all`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.records import BatchHeader, check_batch, iter_records

if TYPE_CHECKING:
    from brokerd.clock import Clock
    from brokerd.config import BrokerConfig
    from brokerd.log.log_config import LogConfig

VALIDATE_ALL = "all"


def opens_batches(broker: BrokerConfig, log: LogConfig) -> bool:
    """Whether batches for a log with these settings are opened."""
    return log.is_compacted or broker.brokerd_validate_records == VALIDATE_ALL


def check(records: memoryview, broker: BrokerConfig, log: LogConfig, clock: Clock) -> None:
    """KafkaError unless `records` is one batch that may be appended as it is."""
    header = check_batch(records, log.max_message_bytes)
    if header.is_transactional:
        raise KafkaError(ErrorCode.INVALID_TXN_STATE, "transactions are not served yet")
    if log.limits_timestamps:
        _check_timestamps(header, log, clock.now_ms())
    if not opens_batches(broker, log):
        return
    for offset, record in enumerate(iter_records(header, records), header.base_offset):
        if record.offset != offset:
            raise KafkaError(
                ErrorCode.INVALID_RECORD,
                f"record {offset - header.base_offset} of the batch says it is record "
                f"{record.offset - header.base_offset}",
            )
        if record.key is None and log.is_compacted:
            raise KafkaError(
                ErrorCode.INVALID_RECORD,
                "a record without a key cannot be kept on a compacted topic",
            )


def _check_timestamps(header: BatchHeader, log: LogConfig, now_ms: int) -> None:
    """By the header's two: that of the first record and the largest. -1 is "none" and passes."""
    earliest = now_ms - log.message_timestamp_before_max_ms
    latest = now_ms + log.message_timestamp_after_max_ms
    for timestamp_ms in (header.base_timestamp, header.max_timestamp):
        if timestamp_ms >= 0 and not earliest <= timestamp_ms <= latest:
            raise KafkaError(
                ErrorCode.INVALID_TIMESTAMP,
                f"timestamp {timestamp_ms} is outside {earliest} to {latest} "
                "(message.timestamp.before.max.ms, message.timestamp.after.max.ms)",
            )
