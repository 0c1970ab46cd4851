"""The lines of dump-log, as Kafka's DumpLogSegments. Pure."""

import struct

from brokerd.log.producer_state_manager import NO_SEQUENCE, ProducerEntry, last_sequence_of
from brokerd.protocol.compression import codec_name
from brokerd.protocol.records import DELETE_HORIZON, BatchHeader, Record

_CONTROL = struct.Struct(">hh")
_END_TXN = struct.Struct(">hi")
_CONTROL_TYPES = {0: "ABORT", 1: "COMMIT"}


def batch_line(header: BatchHeader, position: int, valid: bool) -> str:
    horizon = header.base_timestamp if header.attributes & DELETE_HORIZON else None
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset}"
        f" count: {header.count} baseSequence: {header.base_sequence}"
        f" lastSequence: {sequence_of(header, header.last_offset_delta)}"
        f" producerId: {header.producer_id} producerEpoch: {header.producer_epoch}"
        f" partitionLeaderEpoch: {header.leader_epoch}"
        f" isTransactional: {_boolean(header.is_transactional)}"
        f" isControl: {_boolean(header.is_control)} deleteHorizonMs: {_optional(horizon)}"
        f" position: {position} {timestamp_type(header)}: {header.max_timestamp}"
        f" size: {header.size_bytes} magic: {header.magic}"
        f" compresscodec: {codec_name(header.codec)} crc: {header.crc}"
        f" isvalid: {_boolean(valid)}"
    )


def record_line(header: BatchHeader, record: Record) -> str:
    """The line of a record without key and value."""
    sequence = sequence_of(header, record.offset - header.base_offset)
    keys = ",".join(name for name, _ in record.headers)
    line = (
        f"| offset: {record.offset} {timestamp_type(header)}: {record.timestamp_ms}"
        f" keySize: {_size(record.key)} valueSize: {_size(record.value)}"
        f" sequence: {sequence} headerKeys: [{keys}]"
    )
    return line + control_text(record) if header.is_control else line


def contents_text(prefix: str, key: str | None, value: str | None) -> str:
    """Key and payload; `prefix` goes before the key."""
    shown = "" if key is None else f"{prefix}key: {key}"
    return shown if value is None else f"{shown} payload: {value}"


def control_text(record: Record) -> str:
    try:
        _, number = _CONTROL.unpack_from(record.key or b"")
        name = _CONTROL_TYPES.get(number, "UNKNOWN")
        if number > 1:
            return f" controlType: {name}({number})"
        _, epoch = _END_TXN.unpack_from(record.value or b"")
    except struct.error:
        return " controlType: UNKNOWN(-1)"
    return f" endTxnMarker: {name} coordinatorEpoch: {epoch}"


def producer_line(producer_id: int, entry: ProducerEntry) -> str:
    first_offset = entry.txn_first_offset if entry.txn_first_offset >= 0 else None
    line = (
        f"producerId: {producer_id} producerEpoch: {entry.epoch}"
        f" coordinatorEpoch: {entry.coordinator_epoch}"
        f" currentTxnFirstOffset: {_optional(first_offset)}"
        f" lastTimestamp: {entry.last_timestamp_ms} "
    )
    for batch in entry.batches[:1]:
        line += (
            f"firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence}"
            f" lastOffset: {batch.last_offset} offsetDelta: {batch.last_offset - batch.base_offset}"
            f" timestamp: {batch.timestamp_ms}"
        )
    return line


def aborted_line(version: int, producer_id: int, first: int, last: int, stable: int) -> str:
    return (
        f"version: {version} producerId: {producer_id} firstOffset: {first} lastOffset: {last}"
        f" lastStableOffset: {stable}"
    )


def sequence_of(header: BatchHeader, offset_delta: int) -> int:
    """The sequence number of a record; -1 in a batch without."""
    if header.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return last_sequence_of(header.base_sequence, offset_delta)


def timestamp_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.is_log_append_time else "CreateTime"


def _boolean(value: bool) -> str:
    return str(value).lower()


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)
