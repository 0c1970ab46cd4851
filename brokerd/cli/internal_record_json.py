"""Values of `__consumer_offsets` and `__transaction_state` as JSON, with the names and in the order
of Kafka's tools. Pure."""

import json
from base64 import b64encode
from typing import Any

from brokerd.cli.consumer_protocol import assignment_json, subscription_json
from brokerd.coordinator.group.records import GroupValue, MemberValue, OffsetValue
from brokerd.coordinator.transaction.records import STATES, TransactionValue

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
