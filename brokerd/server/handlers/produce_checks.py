"""What is asked of a producer's batch before it may be appended.

Always the header and the CRC. The records inside are looked at only where something depends on
them: on a compacted topic, where a record without a key could never be replaced, and everywhere
with `brokerd.validate.records=all`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.records import check_batch, iter_records

if TYPE_CHECKING:
    from brokerd.config import BrokerConfig
    from brokerd.log.log_config import LogConfig

VALIDATE_ALL = "all"


def opens_batches(broker: BrokerConfig, log: LogConfig) -> bool:
    """Whether batches for a log with these settings are opened."""
    return log.is_compacted or broker.brokerd_validate_records == VALIDATE_ALL


def check(records: memoryview, broker: BrokerConfig, log: LogConfig) -> None:
    """KafkaError unless `records` is one batch that may be appended as it is."""
    header = check_batch(records, log.max_message_bytes)
    if header.is_transactional:
        raise KafkaError(ErrorCode.INVALID_TXN_STATE, "transactions are not served yet")
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
