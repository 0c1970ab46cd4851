"""Opens a log: after a clean stop as it is, else with recovery (Kafka's LogLoader).

After a clean stop only the names and sizes of files are read. Otherwise interrupted deletions and
compactions are finished or undone (`tidy`), and the log is recovered (`recover_log`).
"""

import logging
import os
from typing import Final

from brokerd.config.log_config import LogConfig
from brokerd.log import checkpoint_file, file_names
from brokerd.log.io.files import opened
from brokerd.log.io.scan_batches import walk_headers
from brokerd.log.loading.recover_log import LoadedLog, recover_log, warn_of_loss
from brokerd.log.log_context import LogContext
from brokerd.log.segments.log_segment import LogSegment

logger = logging.getLogger(__name__)

DEFAULTS: Final = LogConfig()
_UNDER_WAY = (
    file_names.DELETED,
    file_names.CLEANED,
    file_names.SWAP,
    checkpoint_file.TEMPORARY,
)


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
    """Opens the log in `directory`. `recovery_point` is that of the checkpoint: after a clean stop
    it is the log end; None = the checkpoint has no entry. Raises OSError."""
    entries = list(os.scandir(directory))
    if any(entry.name.endswith(_UNDER_WAY) for entry in entries):
        tidy(directory)
        entries = list(os.scandir(directory))
    segments = _segments_of(context, directory, entries, now_ms, config.index_interval_bytes)
    if not segments:
        segments = [LogSegment.create(context.files, directory, log_start_offset, now_ms)]
        if not clean or recovery_point is None or recovery_point <= log_start_offset:
            warn_of_loss(directory, recovery_point or 0, log_start_offset)
            return LoadedLog(segments, log_start_offset, log_start_offset, log_start_offset)
    last = segments[-1]
    durable = recovery_point or 0
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
        loaded = LoadedLog(segments, log_start_offset, recovery_point, recovery_point)
    else:
        if clean:  # all is on the disk, whatever the checkpoint knows: only its end is not known
            recovery_point = last.base_offset
        loaded = recover_log(context, segments, log_start_offset, recovery_point or 0, now_ms)
    warn_of_loss(directory, durable, loaded.log_end_offset)
    return loaded


def _segments_of(
    context: LogContext,
    directory: str,
    entries: list[os.DirEntry[str]],
    now_ms: int,
    index_interval_bytes: int,
) -> list[LogSegment]:
    """The segments of the data files; an index without data is removed."""
    segments = []
    found = set()
    indexes = []
    for entry in entries:
        parsed = file_names.parse_segment_file(entry.name)
        if parsed is None:
            continue
        base_offset, suffix = parsed
        if suffix == file_names.LOG:
            size_bytes = entry.stat().st_size
            segment = LogSegment(context.files, directory, base_offset, size_bytes, now_ms)
            segment.index_interval_bytes = index_interval_bytes
            segments.append(segment)
            found.add(base_offset)
        elif suffix in file_names.INDEX_SUFFIXES:
            indexes.append((base_offset, entry.path))
    for base_offset, path in indexes:
        if base_offset not in found:
            os.unlink(path)
    segments.sort(key=lambda segment: segment.base_offset)
    return segments


def tidy(directory: str) -> None:
    """Finishes or undoes deletions and compactions that a stop interrupted. Raises OSError. A
    `.swap` file is complete: it replaces the segments that it covers; but if a `.cleaned` file at
    or before it shows that its set is not complete, it is removed with that (KAFKA-6264)."""
    present = set(os.listdir(directory))
    cleaned = [_base_of(name) for name in present if name.endswith(file_names.CLEANED)]
    swaps = sorted(name for name in present if name.endswith(file_names.SWAP))
    if cleaned:
        for name in [name for name in swaps if _base_of(name) >= min(cleaned)]:
            os.unlink(f"{directory}/{name}")
            swaps.remove(name)
    for name in present:
        if name.endswith((file_names.DELETED, file_names.CLEANED, checkpoint_file.TEMPORARY)):
            os.unlink(f"{directory}/{name}")
    for name in swaps:
        if name.endswith(file_names.LOG + file_names.SWAP):
            _remove_covered(directory, name)
    for name in swaps:
        os.replace(f"{directory}/{name}", f"{directory}/{name.removesuffix(file_names.SWAP)}")


def _base_of(name: str) -> int:
    digits = name.split(".", 1)[0]
    return int(digits) if digits.isdigit() else 0


def _remove_covered(directory: str, swap_name: str) -> None:
    """Removes the segments whose offsets a complete swap file has. Reading headers suffices: the
    file was synced before it was renamed."""
    base_offset = _base_of(swap_name)
    next_offset = base_offset + 1
    with opened(f"{directory}/{swap_name}") as fd:
        for _, header in walk_headers(fd, 0, os.fstat(fd).st_size):
            next_offset = header.last_offset + 1
    for name in os.listdir(directory):
        parsed = file_names.parse_segment_file(name)
        if parsed is None or parsed[1] == file_names.SNAPSHOT:
            continue
        if parsed[1] in file_names.SEGMENT_SUFFIXES and base_offset <= parsed[0] < next_offset:
            os.unlink(f"{directory}/{name}")
