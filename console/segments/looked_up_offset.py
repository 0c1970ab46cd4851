"""The offset that is looked up in a partition's log: given, or of the first record at or after a
time."""

from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.row_types import PartitionRow


class OffsetNotFound(Exception):
    """No batch holds the offset: compaction removed its record, or (OffsetOutside) it is not in the
    log."""


class OffsetOutside(OffsetNotFound):
    """The offset is before the log start or not before the log end; `valid`: the log's offsets."""

    def __init__(self, valid: range) -> None:
        self.valid = valid


def check_offset(offset: int, start: int, end: int) -> None:
    """Raises OffsetOutside unless the offset is in the log."""
    if not start <= offset < end:
        raise OffsetOutside(range(start, max(start, end)))


def offset_at(gateway: Gateway, row: PartitionRow, at_ms: int) -> int:
    """The offset of the first record at or after a time. Raises OffsetNotFound or GatewayError."""
    key = (row.topic, row.partition)
    found = gateway.log_offsets.at_time([key], at_ms)
    if key not in found:
        raise ClusterUnavailable(Reason("partition_no_leader"))
    offset = found[key]
    if offset is None:
        raise OffsetNotFound
    return offset
