"""How console-consumer shows `__transaction_state`: Kafka's formatters, the newer one in JSON, one
object after the other with nothing between, the older one in lines. Pure.
"""

import json
from typing import Any

from brokerd.cli.dump_decoders import partitions_of
from brokerd.cli.options import CliError
from brokerd.cli.record_text import Shown
from brokerd.transactions.records import STATES, TransactionValue, decode_key, decode_value

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
        told = {"key": {"version": _version(record.key), "data": key}, "value": None}
        if record.value is not None:
            version = _version(record.value)
            value: Any = UNKNOWN if version != VERSION else _fields(_value(record))
            told["value"] = {"version": version, "data": value}
        return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


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
        raise _none(record, error) from None


def _value(record: Shown) -> TransactionValue:
    try:
        return decode_value(record.value or b"")
    except ValueError as error:
        raise _none(record, error) from None


def _none(record: Shown, error: ValueError) -> CliError:
    place = f"offset {record.offset} of partition {record.partition}"
    return CliError(f"The record at {place} is none of __transaction_state: {error}")


def _version(data: bytes) -> int:
    return int.from_bytes(data[:2], signed=True)
