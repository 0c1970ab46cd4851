"""The records of `__transaction_state`: what a transaction coordinator writes down
(Kafka's TransactionLog).

All numbers are big-endian; a string is an int16 length and UTF-8. A key is its version (int16, 0)
and the transactional id. A value, whose version is 0 up to Apache Kafka 3.9
(TransactionLogValue.json):

    version i16, producerId i64, producerEpoch i16, transactionTimeoutMs i32, transactionStatus i8,
    partitions: i32 count (-1 = none) of (topic string, i32 count of i32 partitions),
    lastUpdateTimestampMs i64, startTimestampMs i64

No value means that the transactional id is forgotten.
"""

import struct
from dataclasses import dataclass
from typing import Final

from brokerd.protocol.internal_value_reader import ValueReader

STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
)  # fmt: skip
"""Kafka's names (TransactionState), by what stands for them in a value."""

_HEAD: Final = struct.Struct(">hqhib")
_TIMES: Final = struct.Struct(">qq")


@dataclass(frozen=True, slots=True)
class TransactionValue:
    """One state of a transactional id; `partitions` is None where it has none yet."""

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: str
    partitions: tuple[tuple[str, tuple[int, ...]], ...] | None
    updated_at_ms: int
    started_at_ms: int


def decode_key(key: bytes) -> str | None:
    """The transactional id; None of a version that is not known. ValueError where it ends early."""
    reader = ValueReader(key)
    return reader.string() if reader.int16() == 0 else None


def decode_value(value: bytes) -> TransactionValue:
    """Raises ValueError on bytes that are not what their version says."""
    reader = ValueReader(value)
    version, producer_id, epoch, timeout_ms, state = reader.numbers(_HEAD)
    if version != 0:
        raise ValueError(f"a transaction's value of version {version} is not known")
    if not 0 <= state < len(STATES):
        raise ValueError(f"{state} is no state of a transaction")
    count = reader.int32()
    partitions = tuple(
        (reader.string(), tuple(reader.int32() for _ in range(reader.int32())))
        for _ in range(count)
    )
    updated_at_ms, started_at_ms = reader.numbers(_TIMES)
    return TransactionValue(
        producer_id, epoch, timeout_ms, STATES[state], None if count < 0 else partitions,
        updated_at_ms, started_at_ms,
    )  # fmt: skip
