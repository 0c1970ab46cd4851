"""Recovery of a log: what lies behind its recovery point is checked, what is not whole is cut off.

In this order:

1. from the segment that holds the recovery point on, every batch is checked with its CRC, the
   indexes and leader epochs are made anew, the log is cut at the first byte that is not part of an
   intact batch, and every later segment is removed; where they hold transactions, so is what is
   known of the aborted ones, from the last snapshot of producers before them. What lies before is
   trusted, and read only for the leader epochs where their file is damaged or missing;
2. if the log now ends before its start, everything goes and it starts, empty, at its start;
3. leader epochs outside the log are forgotten;
4. where there are many batches behind the last snapshot of producers, one is written for the log
   end, so that the first append need not read them.

At the first use the last segment alone is checked, in any thread (`check_tail`); then all that is
left is quick (`take_tail`), and what else would have to be read is read where it is wanted.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from brokerd.log import crash_points, producer_snapshot
from brokerd.log.context import LogContext
from brokerd.log.end_transaction_marker import MARKER_BYTES_MAX, Marker, read_marker
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.txn_index import AbortedTxn
from brokerd.log.io.scan import checked_batches
from brokerd.log.leader_epochs import LeaderEpochFileCache
from brokerd.log.producer_state import ProducerEntry, ProducerState
from brokerd.log.segments.background_read import SegmentSnapshot, snapshot_headers
from brokerd.log.segments.batches import Data, up_to_damage
from brokerd.log.segments.index_build import IndexBuild
from brokerd.log.segments.removal import remove_segments
from brokerd.log.segments.segment import Segment
from brokerd.log.segments.segment_list import SegmentList
from brokerd.protocol.records import BatchHeader

logger = logging.getLogger(__name__)

_cut = crash_points.around("recovery-cut")(os.ftruncate)

REPLAY_MAX: Final = 1_000
"""So many offsets behind the last snapshot of producers are read at the first use of a log, and
more than these by another thread."""

AnyData = TypeVar("AnyData", bound=Data)
Snapshot = tuple[int, dict[int, ProducerEntry]]
"""Producers as of an offset."""


@dataclass(slots=True)
class LoadedLog:
    """Segments by base offset, at least one, and where the log starts, ends and is durable to.

    `truncated_bytes` is what recovery cut off; None when the log was taken as it is.
    """

    segments: list[Segment]
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    truncated_bytes: int | None = None


def warn_of_loss(directory: str, durable_offset: int, log_end_offset: int) -> None:
    """Warn where a log ends before an offset up to which it was on the disk once."""
    if log_end_offset < durable_offset:
        logger.warning(
            "%s ends at offset %d and was on the disk up to offset %d: what lay between has gone "
            "from its files", directory, log_end_offset, durable_offset,
        )  # fmt: skip


def recover(
    context: LogContext,
    segments: list[Segment],
    log_start_offset: int,
    recovery_point: int,
    now_ms: int,
) -> LoadedLog:
    """Check everything from the segment of `recovery_point` on; see the module. Raises OSError."""
    epochs = LeaderEpochFileCache(segments[0].directory)
    known_epochs = epochs.entries
    checked = _check(segments, recovery_point, epochs)
    kept, log_end, cut_bytes = _settled(context, checked, log_start_offset, now_ms)
    if checked.transactional and kept is checked.kept:
        _recover_aborted(kept, checked.transactional, log_start_offset)
    if log_end - log_start_offset > REPLAY_MAX:
        _save_producers(kept, log_start_offset, log_end)
    epochs.truncate_end(log_end)
    epochs.truncate_start(log_start_offset)
    if epochs.is_damaged or epochs.entries != known_epochs:
        epochs.save()
    return LoadedLog(kept, log_start_offset, log_end, min(recovery_point, log_end), cut_bytes)


class CheckedTail(NamedTuple):
    """What `check_tail` found of the last segment."""

    checked: "_CheckedSegment"
    aborted: list[AbortedTxn]


def check_tail(parts: Sequence[SegmentSnapshot], snapshot: Snapshot) -> CheckedTail:
    """Check the last of these segments, in any thread; those before it, and the producers as of an
    offset in them, matter to its transactions alone. Raises OSError."""
    tail = parts[-1]
    try:
        checked = _check_segment(tail)
    finally:
        tail.close()
    aborted: list[AbortedTxn] = []
    if checked.has_transactions:
        offset, entries = snapshot
        producers = ProducerState(entries)
        for batch in snapshot_headers(parts, offset):
            is_in_tail = batch[0] is tail
            if is_in_tail and batch[1] >= checked.built.size_bytes:
                break
            ended = producers.replay(with_markers([batch]))
            aborted += ended if is_in_tail else []
    return CheckedTail(checked, aborted)


def take_tail(
    context: LogContext,
    segments: list[Segment],
    log_start_offset: int,
    tail: CheckedTail,
    now_ms: int,
) -> LoadedLog:
    """Recover a log from the beginning of its last segment on, which was checked. Raises OSError.

    Leader epochs that would have to be read from the segments before it stay unread.
    """
    active = segments[-1]
    epochs = LeaderEpochFileCache(active.directory)
    known_epochs = epochs.entries
    cut_bytes = _take_checked(active, tail.checked, epochs.reread(active.base_offset))
    active.set_aborted(tail.aborted, 0)
    checked = _Checked(segments, tail.checked.log_end_offset, cut_bytes, [])
    kept, log_end, cut_bytes = _settled(context, checked, log_start_offset, now_ms)
    epochs.truncate_end(log_end)
    epochs.truncate_start(log_start_offset)
    if known_epochs and epochs.entries != known_epochs:
        epochs.save()
    recovery_point = min(active.base_offset, log_end)
    return LoadedLog(kept, log_start_offset, log_end, recovery_point, cut_bytes)


class _Checked(NamedTuple):
    """The segments that stay, where the last one ends, the bytes cut off, and the segments with
    batches of transactions among those that were checked."""

    kept: list[Segment]
    log_end_offset: int
    cut_bytes: int
    transactional: list[Segment]


def _settled(
    context: LogContext, checked: _Checked, log_start_offset: int, now_ms: int
) -> tuple[list[Segment], int, int]:
    """The segments that stay, where they end, and the bytes cut off: nothing stays of a log that
    ends before its start."""
    kept, log_end, cut_bytes, _ = checked
    if log_end >= log_start_offset:
        return kept, log_end, cut_bytes
    directory = kept[0].directory
    logger.warning(
        "%s ends at offset %d, before its start at %d: all of it goes, as in Apache Kafka",
        directory, log_end, log_start_offset,
    )  # fmt: skip
    cut_bytes += remove_segments(kept)
    created = Segment.create(context.files, directory, log_start_offset, now_ms)
    return [created], log_start_offset, cut_bytes


def _check(segments: list[Segment], recovery_point: int, epochs: LeaderEpochFileCache) -> _Checked:
    """Cut off what is no chain of whole, intact batches; what follows it goes, too."""
    makes_epochs = epochs.is_damaged or not epochs.entries
    found_epoch = epochs.reread(0 if makes_epochs else _checked_from(segments, recovery_point))
    kept: list[Segment] = []
    transactional: list[Segment] = []
    cut_bytes = 0
    log_end = segments[0].base_offset
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        kept.append(segment)
        if not is_last and segments[number + 1].base_offset <= recovery_point:
            if makes_epochs:
                for _, header in segment.batches_from(0):
                    found_epoch(header.leader_epoch, header.base_offset)
            continue
        checked = _check_segment(segment)
        cut_here_bytes = _take_checked(segment, checked, found_epoch)
        log_end = checked.log_end_offset
        cut_bytes += cut_here_bytes
        segment.set_aborted([], 0)
        if checked.has_transactions:
            transactional.append(segment)
        if cut_here_bytes and not is_last:
            cut_bytes += remove_segments(segments[number + 1 :])
            break
    return _Checked(kept, log_end, cut_bytes, transactional)


def _checked_from(segments: list[Segment], recovery_point: int) -> int:
    """Where the segment begins that holds the recovery point."""
    return max(
        (each.base_offset for each in segments if each.base_offset <= recovery_point),
        default=segments[0].base_offset,
    )


class _CheckedSegment(NamedTuple):
    """What was found in the data of one segment: its indexes, the offset after its last intact
    batch, the leader epochs with where they begin, and whether any batch was of a transaction."""

    built: IndexBuild
    file_bytes: int
    log_end_offset: int
    epochs: list[tuple[int, int]]
    has_transactions: bool


def _check_segment(data: Segment | SegmentSnapshot) -> _CheckedSegment:
    """Read one segment. A SegmentSnapshot may be read in any thread. Raises OSError."""
    fd = data.file.fd()
    file_bytes = os.fstat(fd).st_size
    log_end = data.base_offset
    has_transactions = False
    epochs: list[tuple[int, int]] = []

    def intact() -> Iterator[tuple[int, BatchHeader]]:
        nonlocal log_end, has_transactions
        for position, header in up_to_damage(data, checked_batches(fd, 0, file_bytes)):
            log_end = header.last_offset + 1
            if not epochs or epochs[-1][0] != header.leader_epoch:
                epochs.append((header.leader_epoch, header.base_offset))
            has_transactions = has_transactions or header.is_transactional
            yield position, header

    built = IndexBuild(data.directory, data.base_offset, data.index_interval_bytes)
    built.take(intact())
    return _CheckedSegment(built, file_bytes, log_end, epochs, has_transactions)


def _take_checked(
    segment: Segment, checked: _CheckedSegment, found_epoch: Callable[[int, int], None]
) -> int:
    """Have a segment as it was found, without what is behind; returns the bytes cut off."""
    segment.take_over(checked.built)
    for epoch, start_offset in checked.epochs:
        found_epoch(epoch, start_offset)
    end = checked.built.size_bytes
    if end < checked.file_bytes:
        segment.file.cut(end)
        _cut(segment.file.fd(), end)
    segment.size_bytes = end
    return checked.file_bytes - end


def _recover_aborted(
    segments: list[Segment], transactional: list[Segment], log_start_offset: int
) -> None:
    """Find the aborted transactions of the segments just recovered anew. Raises OSError."""
    offset, entries = producer_snapshot.load_before(
        segments[0].directory, log_start_offset, transactional[0].base_offset
    )
    producers = ProducerState(entries)
    for batch in SegmentList(segments).headers_from(offset):
        segment = batch[0]
        aborted = producers.replay(with_markers([batch]))
        if aborted and segment.base_offset >= transactional[0].base_offset:
            segment.set_aborted([*segment.aborted, *aborted], len(segment.aborted))


def _save_producers(segments: list[Segment], log_start_offset: int, log_end: int) -> None:
    """Write a snapshot of producers for the log end, if there is work in it. Raises OSError."""
    directory = segments[0].directory
    offset, entries = producer_snapshot.load_latest(directory, log_start_offset, log_end)
    if log_end - offset <= REPLAY_MAX:
        return
    producers = ProducerState(entries)
    producers.replay(with_markers(SegmentList(segments).headers_from(offset)))
    bases = {segment.base_offset for segment in segments}
    producer_snapshot.save(directory, log_end, producers.entries, bases)


def mend_aborted(segments: list[Segment], log_start_offset: int) -> None:
    """Make the transaction indexes anew from the first one on that is damaged. Raises OSError."""
    for number, segment in enumerate(segments):
        try:
            segment.aborted  # noqa: B018
        except CorruptIndexError as error:
            logger.warning("%s; transactions are read from the data instead", error)
            damaged = segments[number:]
            for each in damaged:
                each.set_aborted([], 0)
            _recover_aborted(segments, damaged, log_start_offset)
            return


def replayed(parts: Sequence[SegmentSnapshot], snapshot: Snapshot) -> ProducerState:
    """The producers behind these segments, in any thread, from those as of an offset in them.
    Raises OSError."""
    offset, entries = snapshot
    producers = ProducerState(entries)
    producers.replay(with_markers(snapshot_headers(parts, offset)))
    return producers


def epochs_in(parts: Sequence[SegmentSnapshot], offset: int) -> list[tuple[int, int]]:
    """The leader epochs of the batches from an offset on, with where they begin, in any thread.
    Raises OSError."""
    found: list[tuple[int, int]] = []
    for _, _, header in snapshot_headers(parts, offset):
        if not found or found[-1][0] != header.leader_epoch:
            found.append((header.leader_epoch, header.base_offset))
    return found


def with_markers(
    batches: Iterable[tuple[AnyData, int, BatchHeader]],
) -> Iterator[tuple[BatchHeader, Marker | None]]:
    """Headers with what the control batches among them say. Raises OSError."""
    for segment, position, header in batches:
        marker = None
        if header.is_control and header.size_bytes <= MARKER_BYTES_MAX:
            data = os.pread(segment.file.fd(), header.size_bytes, position)
            marker = read_marker(header, data)
        yield header, marker
