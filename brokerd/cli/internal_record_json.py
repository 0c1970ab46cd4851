"""Records of `__consumer_offsets` and `__transaction_state` as JSON, with Kafka's names and order,
and Kafka's formatters of them for console-consumer, which skip records of other kinds. Pure."""

import json
from base64 import b64encode
from typing import Any

from brokerd.cli.consumer_protocol import assignment_json, subscription_json
from brokerd.cli.options import CliError
from brokerd.cli.record_text import ConsumedRecord
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupsRecord,
    GroupValue,
    MemberValue,
    OffsetRecord,
    OffsetValue,
    decode,
)
from brokerd.coordinator.transaction.transaction_log import (
    STATES,
    TransactionValue,
    decode_key,
    decode_value,
)

_CONSUMER = "consumer"


def version_of(data: bytes | None) -> int:
    """The int16 at the start of a key or a value; 0 without data."""
    return int.from_bytes((data or b"")[:2], signed=True)


def to_json(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def offset_fields(value: OffsetValue, version: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"offset": value.offset}
    if version >= 3:
        fields["leaderEpoch"] = value.leader_epoch
    fields |= {"metadata": value.metadata, "commitTimestamp": value.committed_at_ms}
    if version == 1:
        fields["expireTimestamp"] = -1 if value.expire_at_ms is None else value.expire_at_ms
    return fields


def group_fields(value: GroupValue, version: int, *, decode_members: bool) -> dict[str, Any]:
    """The fields of a group value of that version. `decode_members`: show subscriptions and
    assignments of consumers decoded instead of as base64."""
    fields: dict[str, Any] = {
        "protocolType": value.protocol_type,
        "generation": value.generation,
        "protocol": value.protocol,
        "leader": value.leader,
    }
    if version >= 2:
        fields["currentStateTimestamp"] = value.state_since_ms
    is_consumer = decode_members and value.protocol_type == _CONSUMER
    fields["members"] = [_member(member, version, is_consumer) for member in value.members]
    return fields


def _member(member: MemberValue, version: int, is_consumer: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"memberId": member.member_id}
    if version >= 3:
        fields["groupInstanceId"] = member.instance_id
    fields |= {"clientId": member.client_id, "clientHost": member.client_host}
    if version >= 1:
        fields["rebalanceTimeout"] = member.rebalance_timeout_ms
    fields["sessionTimeout"] = member.session_timeout_ms
    for name, data, read in (
        ("subscription", member.subscription, subscription_json),
        ("assignment", member.assignment, assignment_json),
    ):
        fields[name] = b64encode(data).decode()
        if is_consumer:
            try:
                fields[name] = read(data)
            except ValueError:  # of another protocol: it stays base64
                continue
    return fields


def transaction_fields(value: TransactionValue) -> dict[str, Any]:
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


def offsets(record: ConsumedRecord) -> bytes:
    """OffsetsMessageFormatter."""
    decoded = _decoded(record)
    if not isinstance(decoded, OffsetRecord):
        return b""
    key = {"group": decoded.group_id, "topic": decoded.topic, "partition": decoded.partition}
    value = decoded.value and offset_fields(decoded.value, version_of(record.value))
    return _json(record, key, value)


def groups(record: ConsumedRecord) -> bytes:
    """GroupMetadataMessageFormatter."""
    decoded = _decoded(record)
    if not isinstance(decoded, GroupRecord):
        return b""
    version = version_of(record.value)
    value = decoded.value and group_fields(decoded.value, version, decode_members=False)
    return _json(record, {"group": decoded.group_id}, value)


def transactions(record: ConsumedRecord) -> bytes:
    """TransactionLogMessageFormatter."""
    try:
        name = decode_key(record.key) if record.key is not None else None
        value = None if record.value is None else transaction_fields(decode_value(record.value))
    except ValueError as error:
        raise _damaged(record, error) from None
    return b"" if name is None else _json(record, {"transactionalId": name}, value)


def _decoded(record: ConsumedRecord) -> GroupsRecord | None:
    try:
        return None if record.key is None else decode(record.key, record.value)
    except ValueError as error:
        raise _damaged(record, error) from None


def _damaged(record: ConsumedRecord, error: ValueError) -> CliError:
    place = f"offset {record.offset} of partition {record.partition}"
    return CliError(f"The record at {place} is not one of the formatter's topic: {error}")


def _json(record: ConsumedRecord, key: Any, value: Any) -> bytes:
    fields = {"key": {"version": version_of(record.key), "data": key}, "value": value}
    if value is not None:
        fields["value"] = {"version": version_of(record.value), "data": value}
    return to_json(fields).encode()
