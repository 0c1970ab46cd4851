"""The records of Kafka's internal topics as JSON text. Pure.

Formats: OffsetCommitKey/Value.json, GroupMetadataKey/Value.json and TransactionLogKey/Value.json of
Apache Kafka 3.9. Each key and value starts with its version (int16). The kind of a value follows
from its topic and its key.
"""

import json
from collections.abc import Callable
from struct import Struct
from typing import Any

from brokerd.protocol.internal_value_reader import ValueReader

CONSUMER_OFFSETS, TRANSACTION_STATE = "__consumer_offsets", "__transaction_state"
TOPICS = (CONSUMER_OFFSETS, TRANSACTION_STATE)
_STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
)  # fmt: skip
_COUNT_MAX = 100_000
_INT8 = Struct(">b")


def key(topic: str, data: bytes) -> str:
    """Raises ValueError if the bytes are not a key of this topic."""
    reader = ValueReader(data)
    version = reader.int16()
    if topic == TRANSACTION_STATE:
        _check_version(version, 0)
        return json.dumps({"transactionalId": reader.string()})
    _check_version(version, 2)
    fields: dict[str, Any] = {"group": reader.string()}
    if version < 2:
        fields |= {"topic": reader.string(), "partition": reader.int32()}
    return json.dumps(fields)


def value(topic: str, key_bytes: bytes, data: bytes) -> str:
    """Raises ValueError if the bytes are not a value for this key."""
    reader = ValueReader(data)
    if topic == TRANSACTION_STATE:
        return json.dumps(_transaction(reader))
    is_commit = ValueReader(key_bytes).int16() < 2
    return json.dumps(_commit(reader) if is_commit else _group(reader))


def _commit(reader: ValueReader) -> dict[str, Any]:
    version = reader.int16()
    _check_version(version, 3)
    fields: dict[str, Any] = {"offset": reader.int64()}
    if version == 3:
        fields["leaderEpoch"] = reader.int32()
    fields |= {"metadata": reader.string(), "commitTimestampMs": reader.int64()}
    if version == 1:
        fields["expireTimestampMs"] = reader.int64()
    return fields


def _group(reader: ValueReader) -> dict[str, Any]:
    version = reader.int16()
    _check_version(version, 3)
    fields: dict[str, Any] = {
        "protocolType": reader.string(),
        "generation": reader.int32(),
        "protocol": reader.nullable_string(),
        "leader": reader.nullable_string(),
    }
    if version >= 2:
        fields["currentStateTimestampMs"] = reader.int64()
    return fields | {"members": _list(reader, lambda: _member(reader, version))}


def _member(reader: ValueReader, version: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"memberId": reader.string()}
    if version >= 3:
        fields["groupInstanceId"] = reader.nullable_string()
    fields |= {"clientId": reader.string(), "clientHost": reader.string()}
    if version >= 1:
        fields["rebalanceTimeoutMs"] = reader.int32()
    fields["sessionTimeoutMs"] = reader.int32()
    subscription, assignment = reader.bytes(), reader.bytes()
    return fields | {"subscriptionBytes": len(subscription), "assigned": _assigned(assignment)}


def _assigned(data: bytes) -> Any:
    """The partitions of an assignment in the consumer protocol; else the number of its bytes."""
    reader = ValueReader(data)
    try:
        reader.int16()
        return _partitions(reader)
    except ValueError:
        return {"bytes": len(data)}


def _transaction(reader: ValueReader) -> dict[str, Any]:
    _check_version(reader.int16(), 0)
    fields: dict[str, Any] = {
        "producerId": reader.int64(),
        "producerEpoch": reader.int16(),
        "timeoutMs": reader.int32(),
    }
    (state,) = reader.numbers(_INT8)
    fields["state"] = _STATES[state] if 0 <= state < len(_STATES) else state
    fields["partitions"] = _partitions(reader)
    return fields | {"lastUpdateTimestampMs": reader.int64(), "startTimestampMs": reader.int64()}


def _partitions(reader: ValueReader) -> dict[str, list[int]]:
    return dict(_list(reader, lambda: (reader.string(), _list(reader, reader.int32))))


def _list(reader: ValueReader, read: Callable[[], Any]) -> list[Any]:
    count = reader.int32()  # −1 = null
    if count > _COUNT_MAX:
        raise ValueError(f"a list of {count} elements")
    return [read() for _ in range(count)]


def _check_version(version: int, newest: int) -> None:
    if not 0 <= version <= newest:
        raise ValueError(f"version {version} is not known")
