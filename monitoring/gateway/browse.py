"""Records by partition and offset, in bounded portions.

Bounded by count, bytes and time. A partition that could not be read, or not as far as was asked
for, is named in the answer with the reason; one without a leader is not even asked. The records are
read by librdkafka, in a process of its own (librdkafka/reading.py).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.gateway.errors import NotFound
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.records import RecordRow

if TYPE_CHECKING:  # not in the process of librdkafka
    from monitoring.gateway.wire.facade import Wire

LIMIT_MAX = 500
_BYTES_MAX = 8 * 1024 * 1024
_TIMEOUT_S = 5.0
_GRACE_S = 5.0  # for what librdkafka does before and after it waits


# Why a partition is missing in a portion, or records of it that were asked for.
NO_LEADER = "no leader"
SILENT = "silent"  # its leader did not answer, or not in time
TOO_MUCH = "too much"  # a bound was reached first
FAILED = "failed"  # the broker refused; `detail` says why


@dataclass(frozen=True, slots=True)
class Unread:
    """A partition that was not read, or not as far as was asked for."""

    partition: int
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Portion:
    """What one read brought, and where to read on.

    Records are in the order in which they were looked for: newest first, or from an offset upwards.
    `older` and `newer` are of `partition`: `before` and `offset` of the next read, None where
    nothing is left.
    """

    rows: tuple[RecordRow, ...]
    unread: tuple[Unread, ...] = ()
    partition: int | None = None
    older: int | None = None
    newer: int | None = None


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One read, as librdkafka's process is told."""

    bootstrap_servers: str
    topic: str
    partition: int | None
    offset: int | None
    before: int | None
    limit: int
    max_bytes: int
    timeout_s: float  # of each of two waits
    spans: dict[int, range]  # of the partitions whose leaders told


class Browse:
    """Reads records of one cluster."""

    def __init__(self, bootstrap_servers: str, wire: "Wire") -> None:
        self._bootstrap_servers, self._wire = bootstrap_servers, wire

    def read(
        self,
        topic: str,
        partition: int | None,
        offset: int | None,
        limit: int,
        max_bytes: int = _BYTES_MAX,
        *,
        before: int | None = None,
    ) -> Portion:
        """Up to `limit` records, and the partitions that are missing in them.

        `offset` (with a partition) = from there upwards; else the newest ones, of `partition` or of
        all when that is None; `before` (with a partition) = the newest ones below that offset.
        One partition is in the order of its offsets, several are in that of the times.
        Raises NotFound, OffsetOutOfRange, ClusterUnavailable, Unreadable or Refused.
        """
        limit = max(1, min(limit, LIMIT_MAX))
        if partition is None and (offset is not None or before is not None):
            raise NotFound("an offset needs a partition")
        spans = self._wire.spans(topic, _TIMEOUT_S)
        request = ReadRequest(
            self._bootstrap_servers, topic, partition, offset, before, limit, max_bytes,
            _TIMEOUT_S, spans,
        )  # fmt: skip
        portion: Portion = workers.call("read", request, limit_s=2 * _TIMEOUT_S + _GRACE_S)
        return portion
