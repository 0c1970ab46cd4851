"""Reads the partitions of a Fetch from their logs (Kafka's ReplicaManager.readFromLog): one
attempt, with what they have now, and whether that is enough to answer.
"""

from collections.abc import Iterable, Sequence

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.page_cache import NotInPageCache, PendingRead
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import NO_TOPIC_ID, READ_COMMITTED, FetchPartition, FetchRequest
from brokerd.protocol.fetch_response import FetchReply
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session_cache import FetchContext
from brokerd.server.requests.get_partition_or_error import LedPartitions

FILES_MAX = 1_000
"""So many partitions of one Fetch have records, or have them read from the disk: each holds a file
open. The others are answered as if there were no room left."""
ENOUGH = 1 << 31
"""More bytes than any Fetch can wait for."""
UNKNOWN = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


class FetchAttempt:
    """One attempt of a Fetch: its replies so far, and whether they may be sent before max_wait_ms
    is over. `read` is called for all partitions, at once or in parts, then `end`. Without
    `may_block` nothing waits for the disk: `pending_reads` must be loaded before the next attempt,
    and `unloaded` are logs used for the first time. `unknown` are the replies of partitions that
    the cluster did not know at the first attempt; they come last."""

    __slots__ = (
        "_bytes_read", "_fetch", "_is_first", "_led", "_may_block", "_request", "_room", "_total",
        "available_bytes", "failed", "is_enough", "min_bytes", "partitions", "pending_reads",
        "replies", "unknown", "unloaded",
    )  # fmt: skip

    def __init__(
        self,
        led: LedPartitions,
        room: int,
        request: FetchRequest,
        fetch: FetchContext,
        *,
        may_block: bool = True,
        unknown: list[FetchReply] | None = None,
    ) -> None:
        self._led = led
        self._request = request
        self._fetch = fetch
        self._may_block = may_block
        self._is_first = unknown is None
        self._room = room = min(request.max_bytes, room)
        self.min_bytes = request.min_bytes if request.min_bytes < room else room
        self._total = 0
        self.available_bytes: dict[Partition, int] = {}  # see _available_bytes; those that have any
        self._bytes_read: list[tuple[Partition, int]] = []
        self.pending_reads: list[PendingRead] = []
        self.unloaded: list[UnifiedLog] = []
        self.replies: list[FetchReply] = []
        self.partitions: dict[Partition, FetchPartition] = {}
        self.failed = self.is_enough = False
        self.unknown = unknown

    def read(self, wanted_partitions: Sequence[FetchPartition]) -> None:
        """Reads these partitions. An exception is unexpected; then all file ranges are released."""
        try:
            self._read(wanted_partitions)
        except BaseException:
            self.give_up()
            raise

    def _read(self, wanted_partitions: Sequence[FetchPartition]) -> None:
        led, may_block, room, total = self._led, self._may_block, self._room, self._total
        committed = self._request.isolation_level == READ_COMMITTED
        min_bytes, session = self.min_bytes, self._fetch.session
        may_be_full = len(self.partitions) + len(wanted_partitions) > FILES_MAX
        for wanted in wanted_partitions:
            try:
                partition = led_partition(led, wanted)
                self.partitions[partition] = wanted
                if not (may_block or partition.log.is_prepared):
                    self.unloaded.append(partition.log)
                    self.pending_reads.append(partition.log.files_of_first_use())
                    continue
                is_full = may_be_full and self._files() >= FILES_MAX
                reply = _read_partition(
                    partition, wanted, 0 if is_full else room,
                    first=total == 0 and not is_full, committed=committed, may_block=may_block,
                )  # fmt: skip
            except NotInPageCache as error:
                self.pending_reads.append(error.pending_read)
                continue
            except KafkaError as error:
                self._refuse(wanted, error.code)
                continue
            if reply.records is not None:
                total += reply.records.size_bytes
                room -= reply.records.size_bytes
                self._bytes_read.append((partition, reply.records.size_bytes))
            elif reply.diverging is not None:
                self.failed = True
            self.replies.append(reply)
            # A partition with records stays dirty. If they are min_bytes, the Fetch does not wait,
            # and the session need not listen to the partition.
            if session is not None and (reply.records is None or total < min_bytes):
                session.note_read(wanted, partition, reply)
            if total < min_bytes > 1:
                up_to = reply.last_stable_offset if committed else reply.high_watermark
                available = _available_bytes(
                    partition, wanted, up_to, reply.records, is_full=is_full
                )
                if available:
                    self.available_bytes[partition] = available
        self._room, self._total = room, total

    def end(self) -> None:
        if self.unknown:
            self.replies += self.unknown
        least = self.min_bytes
        self.is_enough = (
            self.failed or self._total >= least or sum(self.available_bytes.values()) >= least
        )

    @property
    def has_moved(self) -> bool:
        """Of an attempt that is not enough: whether its partitions have moved since."""
        return any(
            partition.high_watermark != reply.high_watermark
            or partition.last_stable_offset != reply.last_stable_offset
            or not partition.is_leader
            for partition, reply in zip(self.partitions, self.replies, strict=False)
        )  # behind them are the replies of what is unknown

    def names(self) -> dict[bytes, str]:
        """The topics requested by id that it found, by id."""
        return {each.log.topic_id.bytes: each.topic for each in self.partitions}

    def _files(self) -> int:
        """The number of partitions of which a file is open or will be read."""
        return len(self._bytes_read) + len(self.pending_reads) - len(self.unloaded)

    def _refuse(self, wanted: FetchPartition, error: ErrorCode) -> None:
        if error is ErrorCode.UNKNOWN_TOPIC_ID:
            error = self._code_of_gone(wanted)
        reply = FetchReply(wanted.topic, wanted.partition, int(error), topic_id=wanted.topic_id)
        if self._is_first and error in UNKNOWN:
            self.unknown = self.unknown or []
            self.unknown.append(reply._replace(aborted=()))  # not null, as Kafka has it
            return
        self.failed = True
        self.replies.append(reply)

    def _code_of_gone(self, wanted: FetchPartition) -> ErrorCode:
        """The error for a topic id that is gone. As Kafka, looks a known one up by its name, which
        may be that of another topic now."""
        name = self._fetch.name_of(wanted)
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        try:
            self._led.get_partition_or_error(name, wanted.partition)
        except KafkaError as error:
            return error.code
        return ErrorCode.INCONSISTENT_TOPIC_ID

    def count_read(self) -> None:
        """Counts the replies as sent."""
        for partition in self.partitions:
            partition.fetches += 1
        for partition, size_bytes in self._bytes_read:
            partition.bytes_out += size_bytes

    def count_refused(self, replies: Iterable[FetchReply]) -> None:
        if self.failed or self.unknown:
            for each in replies:
                if each.error:
                    self._led.count_refusal(ApiKey.FETCH, each.topic, each.partition, each.error)

    def release(self) -> None:
        for reply in self.replies:
            if reply.records is not None:
                reply.records.release()

    def give_up(self) -> None:
        """As `release`, and drops the pending reads."""
        self.release()
        for pending in self.pending_reads:
            pending.release()


def led_partition(led: LedPartitions, wanted: FetchPartition) -> Partition:
    """The partition that a request means, which this broker leads. Raises KafkaError."""
    if wanted.topic_id is NO_TOPIC_ID:
        return led.get_partition_or_error(wanted.topic, wanted.partition, wanted.leader_epoch)
    topic = led.image.names_by_id.get(wanted.topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id")
    partition = led.get_partition_or_error(topic, wanted.partition, wanted.leader_epoch)
    if partition.log.topic_id.bytes != wanted.topic_id:
        raise KafkaError(
            ErrorCode.INCONSISTENT_TOPIC_ID,
            f"the log of {topic}-{wanted.partition} is of another topic id than this",
        )
    return partition


def _read_partition(
    partition: Partition,
    wanted: FetchPartition,
    room: int,
    *,
    first: bool,
    committed: bool,
    may_block: bool,
) -> FetchReply:
    log = partition.log
    offset = wanted.offset
    if not log.log_start_offset <= offset <= log.log_end_offset:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is not in {log.log_start_offset} to {log.log_end_offset}",
        )
    stable = partition.last_stable_offset
    high_watermark = partition.high_watermark  # the first use of a log may have cut it
    diverging = None
    if wanted.last_fetched_epoch >= 0:
        diverging = _diverging(partition, wanted)
    records = None
    aborted: list[tuple[int, int]] | None = [] if committed else None
    up_to = stable if committed else high_watermark
    limit = min(wanted.max_bytes, room)
    if offset < up_to and (limit > 0 or first) and diverging is None:
        records = log.read(
            offset, max(limit, 0), up_to=up_to, min_one_batch=first, may_block=may_block
        )
        if committed and records is not None:
            try:
                aborted = log.aborted_transactions(offset, records)
            except BaseException:
                records.release()
                raise
    return FetchReply(
        wanted.topic, wanted.partition, 0, high_watermark, stable, log.log_start_offset, records,
        wanted.topic_id, aborted, diverging,
    )  # fmt: skip


def bytes_now(
    led: LedPartitions, partition: Partition, wanted: FetchPartition, *, committed: bool
) -> int:
    """The bytes that count for min_bytes now that a partition moved; ENOUGH also for an error."""
    log = partition.log
    try:
        if (
            led_partition(led, wanted) is not partition
            or not log.log_start_offset <= wanted.offset <= log.log_end_offset
            or (wanted.last_fetched_epoch >= 0 and _diverging(partition, wanted) is not None)
        ):
            return ENOUGH
    except KafkaError:
        return ENOUGH
    up_to = partition.last_stable_offset if committed else partition.high_watermark
    return _available_bytes(partition, wanted, up_to)


def _available_bytes(
    partition: Partition,
    wanted: FetchPartition,
    up_to: int,
    records: FileRange | None = None,
    *,
    is_full: bool = False,
) -> int:
    """The bytes of a partition that count for min_bytes, as in Kafka's DelayedFetch.tryComplete:
    those of its newest segment that may go into one answer, also if fewer were read or no batch
    fits. At an offset in an older segment the answer is ENOUGH: no more is appended there."""
    if wanted.offset >= up_to or wanted.max_bytes <= 0:
        return 0
    if is_full:
        return ENOUGH
    try:
        found = partition.log.bytes_below(wanted.offset, up_to, records)
    except KafkaError:  # the next attempt answers it
        return ENOUGH
    return ENOUGH if found is None else min(found, wanted.max_bytes)


def _diverging(partition: Partition, wanted: FetchPartition) -> tuple[int, int] | None:
    """(epoch, end) where the follower's log diverged from the leader's; None if it did not."""
    epoch, end = partition.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch < 0 or end < 0:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"leader epoch {wanted.last_fetched_epoch} is not known here",
        )
    if epoch < wanted.last_fetched_epoch or end < wanted.offset:
        return epoch, end
    return None
