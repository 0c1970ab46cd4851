"""Recovers a log (Kafka's LogLoader.recoverLog): what lies behind its recovery point is checked,
what is not whole is cut off.

1. From the segment that holds the recovery point on, every batch is checked with its CRC, and
   indexes and leader epochs are made anew. The log is cut at the first byte that is not part of an
   intact batch; later segments are removed. Aborted transactions are found anew, from the last
   snapshot of producers on. Earlier segments are read only if the file of epochs is damaged or
   empty.
2. If the log now ends before its start, everything goes and it starts, empty, at its start.
3. Leader epochs outside the log are forgotten.
4. If many batches lie behind the last snapshot of producers, one is written for the log end, so
   that the first append need not read them.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from brokerd.log import producer_snapshot
from brokerd.log.end_transaction_marker import MARKER_BYTES_MAX, Marker, read_marker
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.io.scan_batches import checked_batches
from brokerd.log.leader_epoch_file_cache import LeaderEpochFileCache
from brokerd.log.log_context import LogContext
from brokerd.log.producer_state_manager import ProducerStateManager
from brokerd.log.segments.batches import build_indexes, up_to_damage
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import LogSegments, remove_segments
from brokerd.protocol.records import BatchHeader

logger = logging.getLogger(__name__)

REPLAY_MAX: Final = 1_000
"""So many offsets behind the last snapshot of producers are left to the first use of a log."""


@dataclass(slots=True)
class LoadedLog:
    """Segments by base offset, at least one. `truncated_bytes` is what recovery cut off; None when
    the log was taken as it is."""

    segments: list[LogSegment]
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


def recover_log(
    context: LogContext,
    segments: list[LogSegment],
    log_start_offset: int,
    recovery_point: int,
    created_ms: int,
) -> LoadedLog:
    """Check everything from the segment of `recovery_point` on; see the module. Raises OSError."""
    epochs = LeaderEpochFileCache(segments[0].directory)
    known_epochs = list(epochs.entries)
    kept, log_end, cut_bytes, transactional = _check(segments, recovery_point, epochs)
    if log_end < log_start_offset:
        directory = kept[0].directory
        logger.warning(
            "%s ends at offset %d, before its start at %d: all of it goes, as in Apache Kafka",
            directory, log_end, log_start_offset,
        )  # fmt: skip
        cut_bytes += remove_segments(kept)
        kept = [LogSegment.create(context.files, directory, log_start_offset, created_ms)]
        log_end, transactional = log_start_offset, []
    if transactional:
        _recover_aborted(kept, transactional, log_start_offset)
    if log_end - log_start_offset > REPLAY_MAX:
        _save_producers(kept, log_start_offset, log_end)
    epochs.truncate_end(log_end)
    epochs.truncate_start(log_start_offset)
    if epochs.is_damaged or epochs.entries != known_epochs:
        epochs.save()
    return LoadedLog(kept, log_start_offset, log_end, min(recovery_point, log_end), cut_bytes)


def _check(
    segments: list[LogSegment], recovery_point: int, epochs: LeaderEpochFileCache
) -> tuple[list[LogSegment], int, int, list[LogSegment]]:
    """Cuts off what is no chain of whole, intact batches, and what follows it. Returns the segments
    that stay, where they end, the bytes cut off, and the segments with batches of transactions."""
    makes_epochs = epochs.is_damaged or not epochs.entries
    kept: list[LogSegment] = []
    transactional: list[LogSegment] = []
    cut_bytes = 0
    log_end = segments[0].base_offset
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        kept.append(segment)
        if not is_last and segments[number + 1].base_offset <= recovery_point:
            if makes_epochs:
                for _, header in segment.batches_from(0):
                    epochs.found(header.leader_epoch, header.base_offset)
            continue
        log_end, cut_here_bytes, has_transactions = _check_segment(segment, epochs)
        cut_bytes += cut_here_bytes
        if has_transactions:
            transactional.append(segment)
        if cut_here_bytes and not is_last:
            cut_bytes += remove_segments(segments[number + 1 :])
            break
    return kept, log_end, cut_bytes, transactional


def _check_segment(segment: LogSegment, epochs: LeaderEpochFileCache) -> tuple[int, int, bool]:
    """Cuts one segment behind its last intact batch, and builds its indexes; returns the offset
    there, the bytes cut off, and whether any batch is of a transaction. Raises OSError."""
    fd = segment.file.fd()
    file_bytes = os.fstat(fd).st_size
    log_end = segment.base_offset
    has_transactions = False

    def intact() -> Iterator[tuple[int, BatchHeader]]:
        nonlocal log_end, has_transactions
        for position, header in up_to_damage(segment, checked_batches(fd, 0, file_bytes)):
            log_end = header.last_offset + 1
            epochs.found(header.leader_epoch, header.base_offset)
            has_transactions = has_transactions or header.is_transactional
            yield position, header

    built = build_indexes(segment, intact())
    segment.take_over(built)
    segment.set_aborted([], 0)
    end = built.size_bytes
    if end < file_bytes:
        segment.file.cut(end)
        os.ftruncate(fd, end)
    segment.size_bytes = end
    return log_end, file_bytes - end, has_transactions


def _recover_aborted(
    segments: list[LogSegment], transactional: list[LogSegment], log_start_offset: int
) -> None:
    """Finds the aborted transactions of the segments just recovered. Raises OSError."""
    offset, entries = producer_snapshot.load_before(
        segments[0].directory, log_start_offset, transactional[0].base_offset
    )
    producers = ProducerStateManager(entries)
    for batch in LogSegments(segments).headers_from(offset):
        segment = batch[0]
        aborted = producers.replay(with_markers([batch]))
        if aborted and segment.base_offset >= transactional[0].base_offset:
            segment.set_aborted([*segment.aborted, *aborted], len(segment.aborted))


def _save_producers(segments: list[LogSegment], log_start_offset: int, log_end: int) -> None:
    """Write a snapshot of producers for the log end, if there is work in it. Raises OSError."""
    directory = segments[0].directory
    offset, entries = producer_snapshot.load_latest(directory, log_start_offset, log_end)
    if log_end - offset <= REPLAY_MAX:
        return
    producers = ProducerStateManager(entries)
    producers.replay(with_markers(LogSegments(segments).headers_from(offset)))
    bases = {segment.base_offset for segment in segments}
    producer_snapshot.save(directory, log_end, producers.entries, bases)


def mend_aborted(segments: list[LogSegment], log_start_offset: int) -> None:
    """Builds the transaction indexes again from the first damaged one on. Raises OSError."""
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


def with_markers(
    batches: Iterable[tuple[LogSegment, int, BatchHeader]],
) -> Iterator[tuple[BatchHeader, Marker | None]]:
    """Headers with what the control batches among them say. Raises OSError."""
    for segment, position, header in batches:
        marker = None
        if header.is_control and header.size_bytes <= MARKER_BYTES_MAX:
            data = os.pread(segment.file.fd(), header.size_bytes, position)
            marker = read_marker(header, data)
        yield header, marker
