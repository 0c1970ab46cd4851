"""How console-consumer shows `__consumer_offsets`: Kafka's formatters of offsets and of groups.

The newer ones write JSON, one object after the other with nothing between, as Kafka 3.9's do; the
older ones write lines. Each passes over the records of the other kind. Pure.
"""

from brokerd.cli.dump_decoders import group_fields, offset_fields
from brokerd.cli.internal_records import damaged, version_of, versioned_json
from brokerd.cli.java_hash_order import scala_map_order
from brokerd.cli.record_text import Shown
from brokerd.coordinator.group.records import (
    GroupRecord,
    GroupsRecord,
    MemberValue,
    OffsetRecord,
    decode,
)


class OffsetsFormatter:
    """org.apache.kafka.tools.consumer.OffsetsMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as JSON; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, OffsetRecord):
            return b""
        key = {"group": decoded.group_id, "topic": decoded.topic, "partition": decoded.partition}
        version, value = version_of(record.value), decoded.value
        fields = None if value is None else offset_fields(value, version)
        return versioned_json(record, key, fields)


class GroupsFormatter:
    """org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as JSON; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, GroupRecord):
            return b""
        version, value = version_of(record.value), decoded.value
        fields = None if value is None else group_fields(value, version, opened=False)
        return versioned_json(record, {"group": decoded.group_id}, fields)


class OffsetLinesFormatter:
    """kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as a line; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, OffsetRecord):
            return b""
        name = f"[{decoded.group_id},{decoded.topic},{decoded.partition}]"
        value = decoded.value
        if value is None:
            return f"{name}::NULL\n".encode()
        epoch = "Optional.empty" if value.leader_epoch < 0 else f"Optional[{value.leader_epoch}]"
        expiry = "None" if value.expire_at_ms is None else f"Some({value.expire_at_ms})"
        return (
            f"{name}::OffsetAndMetadata(offset={value.offset}, leaderEpoch={epoch},"
            f" metadata={value.metadata}, commitTimestamp={value.committed_at_ms},"
            f" expireTimestamp={expiry})\n"
        ).encode()


class GroupLinesFormatter:
    """kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as a line; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, GroupRecord):
            return b""
        name, value = decoded.group_id, decoded.value
        if value is None:
            return f"{name}::NULL\n".encode()
        by_id = {member.member_id: member for member in value.members}
        members = ", ".join(
            f"{each} -> {_member(by_id[each], value.protocol)}" for each in scala_map_order(by_id)
        )
        return (
            f"{name}::GroupMetadata(groupId={name}, generation={value.generation},"
            f" protocolType={_option(value.protocol_type or None)},"
            f" currentState={'Stable' if by_id else 'Empty'}, members=HashMap({members}))\n"
        ).encode()


def _member(member: MemberValue, protocol: str | None) -> str:
    return (
        f"MemberMetadata(memberId={member.member_id},"
        f" groupInstanceId={_option(member.instance_id)}, clientId={member.client_id},"
        f" clientHost={member.client_host}, sessionTimeoutMs={member.session_timeout_ms},"
        f" rebalanceTimeoutMs={member.rebalance_timeout_ms},"
        f" supportedProtocols=List({'null' if protocol is None else protocol}))"
    )


def _option(text: str | None) -> str:
    return "None" if text is None else f"Some({text})"


def _decoded(record: Shown) -> GroupsRecord | None:
    """None also for what is not of `__consumer_offsets`. Raises CliError for what is damaged."""
    if record.key is None:
        return None
    try:
        return decode(record.key, record.value)
    except ValueError as error:
        raise damaged(record, "__consumer_offsets", error) from None
