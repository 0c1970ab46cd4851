"""Opening a partition's directory: what is there, and mending it after an unclean stop.

After a clean stop nothing but the names and sizes of files is read, and the last segment where the
checkpoint does not say where the log ends. Otherwise, in this order:

1. half-done deletions and compactions are finished or undone (`tidy`), orphaned indexes removed;
2. from the segment that holds the recovery point on, every batch is checked with its CRC, the
   indexes and leader epochs are made anew, the log is cut at the first byte that is not part of an
   intact batch, and every later segment is removed; where they hold transactions, so is what is
   known of the aborted ones, from the last snapshot of producers before them. What lies before is
   trusted, and read only for the leader epochs where their file is damaged or missing;
3. if the log now ends before its start, everything goes and it starts, empty, at its start;
4. leader epochs outside the log are forgotten;
5. where there are many batches behind the last snapshot of producers, one is written for the log
   end, so that the first append need not read them.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from brokerd.log import checkpoints, crash_points, names, producer_snapshot
from brokerd.log.context import LogContext
from brokerd.log.damage import up_to_damage
from brokerd.log.epochs import EpochCache
from brokerd.log.log_config import LogConfig
from brokerd.log.markers import MARKER_BYTES_MAX, Marker, read_marker
from brokerd.log.offset_index import CorruptIndexError
from brokerd.log.producer_state import ProducerState
from brokerd.log.removal import mark_deleted
from brokerd.log.scan import checked_batches, walk_headers
from brokerd.log.segment import Segment
from brokerd.log.segment_list import SegmentList
from brokerd.protocol.records import BatchHeader

logger = logging.getLogger(__name__)

_cut = crash_points.around("recovery-cut")(os.ftruncate)
_remove = crash_points.around("segment-remove")(os.unlink)
_rename = crash_points.around("swap-finish")(os.replace)

REPLAY_MAX: Final = 1_000
"""So many offsets behind the last snapshot of producers are read at the first use of a log."""
DEFAULTS: Final = LogConfig()
_UNDER_WAY = (names.DELETED, names.CLEANED, names.SWAP, checkpoints.TEMPORARY)


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


def load(
    context: LogContext,
    directory: str,
    *,
    log_start_offset: int,
    recovery_point: int | None,
    clean: bool,
    now_ms: int,
    config: LogConfig = DEFAULTS,
) -> LoadedLog:
    """Open the log in `directory`, whose topic has these settings.

    `recovery_point` is what the checkpoint says: after a clean stop it is the log end; None = the
    checkpoint does not know this log. Raises OSError.
    """
    entries = list(os.scandir(directory))
    if any(entry.name.endswith(_UNDER_WAY) for entry in entries):
        tidy(directory)
        entries = list(os.scandir(directory))
    segments = _segments_of(context, directory, entries, now_ms)
    for segment in segments:
        segment.index_interval_bytes = config.index_interval_bytes
    if not segments:
        segments = [Segment.create(context.files, directory, log_start_offset, now_ms)]
        if not clean or recovery_point is None or recovery_point <= log_start_offset:
            return LoadedLog(segments, log_start_offset, log_start_offset, log_start_offset)
    last = segments[-1]
    if clean and recovery_point is not None and not last.size_bytes:
        recovery_point = last.base_offset  # whatever the checkpoint says: there is nothing behind
    if clean and recovery_point is not None and log_start_offset > recovery_point:
        logger.warning(
            "%s ends at offset %d after a clean stop and cannot start at %d: it starts where its "
            "first segment does", directory, recovery_point, log_start_offset,
        )  # fmt: skip
        log_start_offset = 0
    log_start_offset = max(log_start_offset, segments[0].base_offset)
    if clean and recovery_point is not None and recovery_point >= last.base_offset:
        return LoadedLog(segments, log_start_offset, recovery_point, recovery_point)
    if clean:  # all is on the disk, whatever the checkpoint knows: only its end is not known
        recovery_point = last.base_offset
    return recover(context, segments, log_start_offset, recovery_point or 0, now_ms)


def recover(
    context: LogContext,
    segments: list[Segment],
    log_start_offset: int,
    recovery_point: int,
    now_ms: int,
) -> LoadedLog:
    """Check everything from the segment of `recovery_point` on; see the module. Raises OSError."""
    directory = segments[0].directory
    epochs = EpochCache(directory)
    known_epochs = epochs.entries
    checked = _check(segments, recovery_point, epochs)
    kept, log_end, truncated_bytes = checked.kept, checked.log_end_offset, checked.cut_bytes
    if log_end < log_start_offset:
        logger.warning(
            "%s ends at offset %d, before its start at %d: all of it goes, as in Apache Kafka",
            directory, log_end, log_start_offset,
        )  # fmt: skip
        truncated_bytes += remove_segments(kept)
        kept = [Segment.create(context.files, directory, log_start_offset, now_ms)]
        log_end = log_start_offset
    elif checked.transactional:
        _recover_aborted(kept, checked.transactional, log_start_offset)
    if log_end - log_start_offset > REPLAY_MAX:
        _save_producers(kept, log_start_offset, log_end)
    epochs.truncate_end(log_end)
    epochs.truncate_start(log_start_offset)
    if epochs.is_damaged or epochs.entries != known_epochs:
        epochs.save()
    return LoadedLog(
        kept, log_start_offset, log_end, min(recovery_point, log_end), truncated_bytes
    )


class _Checked(NamedTuple):
    """The segments that stay, where the last one ends, the bytes cut off, and the segments with
    batches of transactions among those that were checked."""

    kept: list[Segment]
    log_end_offset: int
    cut_bytes: int
    transactional: list[Segment]


def _check(segments: list[Segment], recovery_point: int, epochs: EpochCache) -> _Checked:
    """Cut off what is no chain of whole, intact batches; what follows it goes, too."""
    makes_epochs = epochs.is_damaged or not epochs.entries
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
                    epochs.note(header.leader_epoch, header.base_offset)
            continue
        log_end, cut_here_bytes, has_transactions = _recover_segment(segment, epochs)
        cut_bytes += cut_here_bytes
        segment.set_aborted([], 0)
        if has_transactions:
            transactional.append(segment)
        if cut_here_bytes and not is_last:
            cut_bytes += remove_segments(segments[number + 1 :])
            break
    return _Checked(kept, log_end, cut_bytes, transactional)


def _recover_segment(segment: Segment, epochs: EpochCache) -> tuple[int, int, bool]:
    """Check one segment; returns the offset after its last batch, the bytes cut off, and whether
    any batch was of a transaction."""
    file_bytes = os.stat(segment.file.path).st_size
    log_end = segment.base_offset
    has_transactions = False

    def intact() -> Iterator[tuple[int, BatchHeader]]:
        nonlocal log_end, has_transactions
        found = checked_batches(segment.file.fd(), 0, file_bytes)
        for position, header in up_to_damage(segment, found):
            log_end = header.last_offset + 1
            epochs.note(header.leader_epoch, header.base_offset)
            has_transactions = has_transactions or header.is_transactional
            yield position, header

    end = segment.rebuild(intact())
    if end < file_bytes:
        _cut(segment.file.fd(), end)
    segment.size_bytes = end
    return log_end, file_bytes - end, has_transactions


def _recover_aborted(
    segments: list[Segment], transactional: list[Segment], log_start_offset: int
) -> None:
    """Find the aborted transactions of the segments just recovered anew. Raises OSError."""
    offset, entries = producer_snapshot.load_latest(
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


def with_markers(
    batches: Iterable[tuple[Segment, int, BatchHeader]],
) -> Iterator[tuple[BatchHeader, Marker | None]]:
    """Headers with what the control batches among them say. Raises OSError."""
    for segment, position, header in batches:
        marker = None
        if header.is_control and header.size_bytes <= MARKER_BYTES_MAX:
            data = os.pread(segment.file.fd(), header.size_bytes, position)
            marker = read_marker(header, data)
        yield header, marker


def remove_segments(segments: list[Segment]) -> int:
    """Remove segments for good; returns how many bytes of data they held. Raises OSError."""
    size_bytes = sum(segment.size_bytes for segment in segments)
    for segment in segments:
        segment.file.cut(0)
        for path in mark_deleted(segment):
            _remove(path)
    return size_bytes


def _segments_of(
    context: LogContext, directory: str, entries: list[os.DirEntry[str]], now_ms: int
) -> list[Segment]:
    """The segments of the data files there are; an index without one is removed."""
    segments = []
    found = set()
    indexes = []
    for entry in entries:
        parsed = names.parse_segment_file(entry.name)
        if parsed is None:
            continue
        base_offset, suffix = parsed
        if suffix == names.LOG:
            size_bytes = entry.stat().st_size
            segments.append(Segment(context.files, directory, base_offset, size_bytes, now_ms))
            found.add(base_offset)
        elif suffix in names.INDEX_SUFFIXES:
            indexes.append((base_offset, entry.path))
    for base_offset, path in indexes:
        if base_offset not in found:
            _remove(path)
    segments.sort(key=lambda segment: segment.base_offset)
    return segments


def tidy(directory: str) -> None:
    """Finish or undo deletions and compactions that a stop interrupted. Raises OSError.

    `.deleted` and `.cleaned` files go. A `.swap` is complete: it takes the place of the segments
    that it covers, unless a `.cleaned` at or before it shows that its set is not complete.
    """
    present = set(os.listdir(directory))
    cleaned = [_base_of(name) for name in present if name.endswith(names.CLEANED)]
    swaps = sorted(name for name in present if name.endswith(names.SWAP))
    for name in present:
        if name.endswith((names.DELETED, names.CLEANED, checkpoints.TEMPORARY)):
            _remove(f"{directory}/{name}")
    if cleaned:
        for name in [name for name in swaps if _base_of(name) >= min(cleaned)]:
            _remove(f"{directory}/{name}")
            swaps.remove(name)
    for name in swaps:
        if name.endswith(names.LOG + names.SWAP):
            _remove_covered(directory, name)
    for name in swaps:
        _rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(names.SWAP)}")


def _base_of(name: str) -> int:
    digits = name.split(".", 1)[0]
    return int(digits) if digits.isdigit() else 0


def _remove_covered(directory: str, swap_name: str) -> None:
    """Remove the segments whose offsets a complete swap file holds already. It was synced before it
    got its name, and compaction leaves batches whose CRC is wrong as they are: headers suffice."""
    base_offset = _base_of(swap_name)
    path = f"{directory}/{swap_name}"
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        next_offset = base_offset + 1
        for _, header in walk_headers(fd, 0, os.fstat(fd).st_size):
            next_offset = header.last_offset + 1
    finally:
        os.close(fd)
    for name in os.listdir(directory):
        parsed = names.parse_segment_file(name)
        if parsed is None or parsed[1] == names.SNAPSHOT:
            continue
        if parsed[1] in names.SEGMENT_SUFFIXES and base_offset <= parsed[0] < next_offset:
            _remove(f"{directory}/{name}")
