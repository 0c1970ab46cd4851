"""Reads records by partition and offset, in pages of limited size.

A page is limited in records, bytes and time. Partitions that could not be read completely are
listed with the reason; partitions without a leader are not requested. librdkafka reads the records
in a separate process (librdkafka/reading.py).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import NotFound
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.record_row import RecordRow
from monitoring.reasons import Reason

if TYPE_CHECKING:  # not imported in librdkafka's process
    from monitoring.gateway.wire.sync_client import SyncClient

LIMIT_MAX = 500
_BYTES_MAX = 8 * 1024 * 1024

# Why a partition was not read, or not completely.
NO_LEADER = "no leader"
SILENT = "silent"  # its leader did not answer in time
TOO_MUCH = "too much"  # the limit of bytes or time was reached
FAILED = "failed"  # the broker refused; `detail` says why


@dataclass(frozen=True, slots=True)
class UnreadPartition:
    """A partition that was not read, or not completely."""

    partition: int
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The records of one read, and the offsets for the next and previous pages.

    Records are in the order of the read: newest first, or forward from an offset. If only
    `partition` was read, `older_before` is the argument `before_offset` of the next read, and
    `newer_offset` its argument `offset`; None = no more records.
    """

    rows: tuple[RecordRow, ...]
    unread: tuple[UnreadPartition, ...] = ()
    partition: int | None = None
    older_before: int | None = None
    newer_offset: int | None = None


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The arguments of one read, for librdkafka's process."""

    settings: ClientSettings
    topic: str
    partition: int | None
    offset: int | None
    before_offset: int | None
    limit: int
    max_bytes: int
    timeout_s: float  # for the metadata, and again for the records
    offset_ranges: dict[int, range]  # by partition; only those whose leader answered


class RecordPages:
    """Reads records of one cluster."""

    def __init__(self, settings: ClientSettings, wire: "SyncClient") -> None:
        """`settings` have their access token, if they need one."""
        self._settings, self._wire = settings, wire

    def read(
        self,
        topic: str,
        partition: int | None,
        offset: int | None,
        limit: int,
        max_bytes: int = _BYTES_MAX,
        *,
        before_offset: int | None = None,
    ) -> RecordPage:
        """Up to `limit` records, and the partitions that could not be read.

        With `partition` and `offset`: forward from that offset. With `partition` and
        `before_offset`: the newest records below that offset. Otherwise the newest records, of
        `partition` or of all partitions. One partition is sorted by offset, several by timestamp.
        Raises NotFound, OffsetOutOfRange, ClusterUnavailable, Unreadable or Refused.
        """
        limit = max(1, min(limit, LIMIT_MAX))
        if partition is None and (offset is not None or before_offset is not None):
            raise NotFound(Reason("offset_needs_partition"))
        offset_ranges = self._wire.offset_ranges(topic, request_timeouts.READ_S)
        request = ReadRequest(
            self._settings, topic, partition, offset, before_offset, limit, max_bytes,
            request_timeouts.READ_S, offset_ranges,
        )  # fmt: skip
        limit_s = 2 * request_timeouts.READ_S + request_timeouts.CONSUMER_GRACE_S
        page: RecordPage = workers.call("read", request, limit_s=limit_s)
        return page
