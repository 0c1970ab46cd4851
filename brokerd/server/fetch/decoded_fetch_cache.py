"""Fetches that differ from their connection's last one only in the offset: recognised, not decoded.

That is what a consumer of one partition without a fetch session sends all the time (librdkafka, for
one). It is answered if the records are in memory and are at least min_bytes; it never waits. Any
other Fetch is served by `FetchHandler`, which also makes the memo.
"""

from struct import Struct

from brokerd.errors import KafkaError
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.protocol.fetch_request import READ_COMMITTED, FetchRequest
from brokerd.protocol.fetch_response import ResponseTemplate
from brokerd.protocol.framing import RequestHeader
from brokerd.replication.partition import Partition
from brokerd.server.network.connection import Connection

FRAME_HEAD_BYTES = 12
"""Size, API key, version and correlation id, which the router has read."""
MEMO_MAX_BYTES = 1024
MISSES_MAX = 16
"""After so many requests of another kind a memo goes, and the next request may have a new one."""
_SIZE_BYTES = 4
_VERSION_AT, _CORRELATION_ID_AT = 6, 8
_CORRELATION_ID = Struct(">i")
_OFFSET = Struct(">q")
_OFFSET_BYTES = _OFFSET.size


class FetchMemo:
    """What was found out about the last request, for one generation of the partition: this broker
    leads it, under the epoch that the client names. Positions count from the start of the frame,
    its size included."""

    __slots__ = (
        "committed", "frame_bytes", "generation", "header", "max_bytes", "min_bytes", "misses",
        "offset_at", "partition", "prefix", "suffix", "template", "version",
    )  # fmt: skip

    def __init__(
        self,
        fetch_max_bytes: int,
        header: RequestHeader,
        request: FetchRequest,
        partition: Partition,
        frame: bytes,
        offset_at: int,
    ) -> None:
        (wanted,) = request.partitions
        self.misses = 0
        self.version = frame[_VERSION_AT:_CORRELATION_ID_AT]
        self.header = header
        self.frame_bytes = len(frame)
        self.offset_at = offset_at
        self.prefix = frame[FRAME_HEAD_BYTES:offset_at]
        self.suffix = frame[offset_at + _OFFSET_BYTES :]
        self.generation = partition.generation
        self.partition = partition
        self.committed = request.isolation_level == READ_COMMITTED
        most_bytes = min(request.max_bytes, fetch_max_bytes)
        self.min_bytes = min(request.min_bytes, most_bytes)
        self.max_bytes = max(min(wanted.max_bytes, most_bytes), 0)
        self.template = ResponseTemplate(
            header.api_version, wanted.topic, wanted.topic_id, wanted.partition
        )

    def serve(self, connection: Connection, buffer: bytearray, position: int, end: int) -> bool:
        """Answers the frame `buffer[position:end]`; False if `FetchHandler` has to serve it."""
        offset_at = position + self.offset_at
        if (
            end - position != self.frame_bytes
            or self.generation != self.partition.generation
            or not buffer.startswith(self.version, position + _VERSION_AT)
            or not buffer.startswith(self.prefix, position + FRAME_HEAD_BYTES)
            or not buffer.startswith(self.suffix, offset_at + _OFFSET_BYTES)
        ):
            self.misses += 1
            if self.misses >= MISSES_MAX:
                connection.fetch_memo = None
            return False
        (offset,) = _OFFSET.unpack_from(buffer, offset_at)
        (correlation_id,) = _CORRELATION_ID.unpack_from(buffer, position + _CORRELATION_ID_AT)
        try:
            return self._answer(connection, offset, correlation_id)
        except NotInPageCache as error:  # `FetchHandler` reads again
            error.pending_read.release()
            return False
        except KafkaError:  # `FetchHandler` answers it
            return False

    def _answer(self, connection: Connection, offset: int, correlation_id: int) -> bool:
        partition = self.partition
        log = partition.log
        stable = partition.last_stable_offset
        up_to = stable if self.committed else partition.high_watermark
        if not log.is_prepared or not log.log_start_offset <= offset < up_to:
            return False
        records = log.read(offset, self.max_bytes, up_to=up_to, min_one_batch=True, may_block=False)
        if records is None:
            return False
        aborted = None
        if records.size_bytes < self.min_bytes:
            records.release()
            return False
        if self.committed:
            try:
                aborted = log.aborted_transactions(offset, records)
            except KafkaError:  # `FetchHandler` answers it
                records.release()
                return False
        connection.output.add_range(
            self.template.parts(
                correlation_id, partition.high_watermark, stable, log.log_start_offset, aborted,
                records,
            )
        )  # fmt: skip
        connection.last_header = self.header
        partition.fetches += 1
        partition.bytes_out += records.size_bytes
        return True


def memo_of(
    fetch_max_bytes: int,
    header: RequestHeader,
    request: FetchRequest,
    partition: Partition,
    frame: memoryview,
) -> FetchMemo | None:
    """A memo of a consumer's request for one partition; None if it cannot be recognised."""
    if (
        len(request.partitions) != 1
        or request.session_epoch != -1
        or request.session_id != 0
        or request.replica_id >= 0
        or request.partitions[0].last_fetched_epoch >= 0
        or len(frame) > MEMO_MAX_BYTES
    ):
        return None
    whole = bytes(_SIZE_BYTES) + bytes(frame)
    offset_at = _SIZE_BYTES + request.offset_at
    return FetchMemo(fetch_max_bytes, header, request, partition, whole, offset_at)
