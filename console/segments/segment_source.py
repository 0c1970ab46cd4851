"""Where the figures of a partition's segments come from.

The leader's admin port if it has one (brokerd), else its log directory if the console can read it
(AERIE_LOG_DIRS). Without either, find_batches_by_fetch.py reads the batches.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from monitoring.error_reason import Reason
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.errors import Unsupported
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.log_directory.log_directories import LogDirectories
from monitoring.read_model.row_types import PartitionRow

Json = dict[str, Any]
ADMIN_PORT, LOG_DIRECTORY = "admin port", "log directory"


@dataclass(frozen=True, slots=True)
class SegmentSource:
    """The source of one partition; `name` is ADMIN_PORT or LOG_DIRECTORY. Its methods raise
    GatewayError, Unsupported if the log directory has not the partition."""

    name: str
    _reader: BrokerdAdmin | LogDirectories
    _row: PartitionRow

    def segments(
        self, *, with_samples: bool = False, offset: int | None = None, at_ms: int | None = None
    ) -> Json:
        """As `BrokerdAdmin.segments`."""
        row = self._row
        read = partial(self._reader.segments, row.leader, row.topic, row.partition)
        return read(with_samples=with_samples, offset=offset, at_ms=at_ms)

    def index(self, base_offset: int, kind: str, start: int, limit: int) -> Json:
        """As `BrokerdAdmin.index`."""
        row = self._row
        where = (row.leader, row.topic, row.partition, base_offset)
        return self._reader.index(*where, kind, start, limit)

    def batches(self, base_offset: int, position: int, limit: int) -> Json:
        """As `BrokerdAdmin.batches`."""
        row = self._row
        where = (row.leader, row.topic, row.partition, base_offset)
        return self._reader.batches(*where, position, limit)


def source_of(gateway: Gateway, row: PartitionRow) -> SegmentSource:
    """Raises Unsupported if the leader has neither."""
    if gateway.brokerd_admin.has(row.leader):
        return SegmentSource(ADMIN_PORT, gateway.brokerd_admin, row)
    if gateway.log_directories.has(row.leader):
        return SegmentSource(LOG_DIRECTORY, gateway.log_directories, row)
    raise Unsupported(Reason("no_admin_address", id=row.leader))
