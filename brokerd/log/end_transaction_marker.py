"""Control batches: the markers that end a transaction.

A control batch holds one record. Its key is int16 version, int16 type (0 abort, 1 commit; others
are no business of a transaction's), its value int16 version, int32 epoch of the coordinator.
"""

import struct
from typing import Final, NamedTuple

from brokerd.errors import KafkaError
from brokerd.protocol.records import BatchHeader, iter_records

ABORT: Final = 0
COMMIT: Final = 1
NO_COORDINATOR_EPOCH: Final = -1
MARKER_BYTES_MAX: Final = 4096
"""More than any marker has; a batch that says it is one and is larger is none."""

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")


class Marker(NamedTuple):
    is_abort: bool
    coordinator_epoch: int


def read_marker(header: BatchHeader, batch: memoryview | bytes) -> Marker | None:
    """The marker in a control batch; None if it has another record, or a damaged one."""
    if not header.is_control or len(batch) > MARKER_BYTES_MAX:
        return None
    try:
        record = next(iter_records(header, memoryview(batch)), None)
    except KafkaError:
        return None
    if record is None or record.key is None or len(record.key) < _KEY.size:
        return None
    kind = _KEY.unpack_from(record.key)[1]
    if kind not in (ABORT, COMMIT):
        return None
    value = record.value or b""
    epoch = _VALUE.unpack_from(value)[1] if len(value) >= _VALUE.size else NO_COORDINATOR_EPOCH
    return Marker(kind == ABORT, epoch)
