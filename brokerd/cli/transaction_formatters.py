"""How console-consumer shows `__transaction_state`: Kafka's formatters, the newer one in JSON, one
object after the other with nothing between, the older one in lines. Pure.
"""

from typing import Any

from brokerd.cli.dump_decoders import partitions_of
from brokerd.cli.internal_records import damaged, version_of, versioned_json
from brokerd.cli.record_text import Shown
from brokerd.coordinator.transaction.records import (
    STATES,
    TransactionValue,
    decode_key,
    decode_value,
)

VERSION = 0
UNKNOWN = "unknown"


class TransactionsFormatter:
    """org.apache.kafka.tools.consumer.TransactionLogMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as JSON; nothing for one without a key."""
        if record.key is None:
            return b""
        name = _name(record)
        key: Any = UNKNOWN if name is None else {"transactionalId": name}
        value: Any = None
        if record.value is not None:
            known = version_of(record.value) == VERSION
            value = _fields(_value(record)) if known else UNKNOWN
        return versioned_json(record, key, value)


class TransactionLinesFormatter:
    """kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as a line; nothing for one of another kind."""
        name = None if record.key is None else _name(record)
        if name is None:
            return b""
        if record.value is None:
            return f"{name}::NULL\n".encode()
        value = _value(record)
        return (
            f"{name}::TransactionMetadata(transactionalId={name}, producerId={value.producer_id},"
            f" producerEpoch={value.producer_epoch}, txnTimeoutMs={value.timeout_ms},"
            f" state={value.state}, pendingState=None,"
            f" topicPartitions=HashSet({', '.join(partitions_of(value))}),"
            f" txnStartTimestamp={value.started_at_ms},"
            f" txnLastUpdateTimestamp={value.updated_at_ms})\n"
        ).encode()


def _fields(value: TransactionValue) -> dict[str, Any]:
    partitions = None
    if value.partitions is not None:
        partitions = [
            {"topic": topic, "partitionIds": list(indexes)} for topic, indexes in value.partitions
        ]
    return {
        "producerId": value.producer_id,
        "producerEpoch": value.producer_epoch,
        "transactionTimeoutMs": value.timeout_ms,
        "transactionStatus": STATES.index(value.state),
        "transactionPartitions": partitions,
        "transactionLastUpdateTimestampMs": value.updated_at_ms,
        "transactionStartTimestampMs": value.started_at_ms,
    }


def _name(record: Shown) -> str | None:
    try:
        return decode_key(record.key or b"")
    except ValueError as error:
        raise damaged(record, "__transaction_state", error) from None


def _value(record: Shown) -> TransactionValue:
    try:
        return decode_value(record.value or b"")
    except ValueError as error:
        raise damaged(record, "__transaction_state", error) from None
