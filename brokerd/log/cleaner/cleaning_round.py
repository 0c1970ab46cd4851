"""One round of cleaning a log, as a worker does it (Kafka's Cleaner).

First the dirty part is read and the last offset of each key put into the offset map, until all is
read or the map is full. Then all segments up to there are read, in groups that fit one segment, and
what stays is written to `.cleaned` files. After each group `report` is asked; it swaps the files
in, or returns False, and the round ends.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from brokerd.log import file_names
from brokerd.log.cleaner.cleaned_segment_writer import CleanedSegmentWriter
from brokerd.log.cleaner.cleaned_transaction_metadata import CleanedTransactionMetadata
from brokerd.log.cleaner.group_segments_by_size import SegmentFiles, group_segments_by_size
from brokerd.log.cleaner.offset_map import Ints, KeyHash, OffsetMap
from brokerd.log.cleaner.records_as_columns import RecordTable, StoredBatch, tables
from brokerd.log.cleaner.should_retain_record import BatchRules, Rules, filter_batches
from brokerd.log.cleaner.worker_messages import Job, RoundDone, SegmentGroupDone
from brokerd.log.indexes import transaction_index
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.protocol.records import HEADER_BYTES, MAGIC, BatchHeader, Buffer, read_header

SEGMENT_BYTES_MAX: Final = 2**31 - 1
PAUSE_MIN_S: Final = 0.05

Report = Callable[[SegmentGroupDone], bool]
StillWanted = Callable[[], bool]


class GivenUpError(Exception):
    """The broker has cancelled the round."""


def clean(
    job: Job, report: Report, *, seed: bytes, still_wanted: StillWanted = lambda: True
) -> RoundDone:
    """Does a round. Never raises: `failed` of the result says what went wrong; empty with offset
    -1, the round was cancelled."""
    done = RoundDone()
    try:
        done.end_offset = _Cleaning(job, report, seed, still_wanted, done).run()
    except GivenUpError:
        pass
    except Exception as error:  # whatever it is, one log must not cost the others their worker
        done.failed = str(error) or type(error).__name__
    return done


class _Cleaning:
    """Counts in `done` what it does."""

    def __init__(
        self, job: Job, report: Report, seed: bytes, still_wanted: StillWanted, done: RoundDone
    ) -> None:
        self._job = job
        self._report = report
        self._still_wanted = still_wanted
        self._done = done
        self._throttle = Throttle(job.limits.bytes_per_second)
        self._map = OffsetMap(job.limits.map_bytes, job.limits.load_factor)
        self._hash = KeyHash(seed)
        self._producers = {each[0]: (each[1], each[2]) for each in job.producers}

    def run(self) -> int:
        """Cleans; returns the offset up to which the log is clean now."""
        files = [self._files_of(*segment) for segment in self._job.segments]
        aborted = self._aborted(files)
        latest = self._fill_map(
            [each for each in files if each.next_offset > self._job.dirty_start], aborted
        )
        self._done.map_used = self._map.used
        rules = Rules(latest, self._job.now_ms, self._job.delete_retention_ms)
        transactions = CleanedTransactionMetadata(aborted)
        for group in group_segments_by_size(
            [each for each in files if each.base_offset <= latest],
            segment_bytes=self._job.segment_bytes,
            index_bytes=self._job.segment_index_bytes,
        ):
            self._clean_group(group, rules, transactions)
        return latest + 1

    def _path(self, base_offset: int, suffix: str) -> str:
        return file_names.segment_file(self._job.directory, base_offset, suffix)

    def _files_of(self, base_offset: int, next_offset: int, size: int) -> SegmentFiles:
        return SegmentFiles(
            base_offset, next_offset, size,
            _size_of(self._path(base_offset, file_names.INDEX)),
            _size_of(self._path(base_offset, file_names.TIME_INDEX)),
        )  # fmt: skip

    def _aborted(self, files: Sequence[SegmentFiles]) -> list[AbortedTxn]:
        found = list(self._job.aborted_later)
        for each in files:
            found += transaction_index.read(self._path(each.base_offset, file_names.TXN_INDEX))
        return found

    # -- the map -----------------------------------------------------------------------------------

    def _fill_map(self, files: Sequence[SegmentFiles], aborted: list[AbortedTxn]) -> int:
        """Returns the last offset that the map knows of."""
        transactions = CleanedTransactionMetadata(aborted)
        latest = self._job.dirty_start - 1
        for each in files:
            for batches, table in tables(self._batches(each)):
                wanted = [
                    not (transactions.may_discard(batch) or batch.header.is_control)
                    for batch in batches
                ]
                full_at = self._put(table, wanted)
                if full_at >= 0:
                    return full_at
                latest = batches[-1].header.last_offset
            latest = max(latest, each.next_offset - 1)
        return latest

    def _put(self, table: RecordTable, wanted: list[bool]) -> int:
        """Puts the keys of a table; returns the last offset put if there was no more room."""
        chosen = np.array(wanted, np.bool_)[table.batch_of] & (table.key_lengths >= 0)
        rows = np.flatnonzero(chosen & (table.offsets >= self._job.dirty_start))
        first, second = self._hash.of(table.bytes, table.key_starts[rows], table.key_lengths[rows])
        offsets = table.offsets[rows]
        at = 0
        while at < len(rows):
            room = self._map.room
            if room == 0:
                return int(offsets[at]) - 1
            until = at + room
            self._map.put(first[at:until], second[at:until], offsets[at:until])
            at = until
        return -1

    # -- what stays --------------------------------------------------------------------------------

    def _clean_group(
        self, group: list[SegmentFiles], rules: Rules, transactions: CleanedTransactionMetadata
    ) -> None:
        base_offset = group[0].base_offset
        modified_ns = os.stat(self._path(group[-1].base_offset, file_names.LOG)).st_mtime_ns
        self._check_wanted()
        output = CleanedSegmentWriter(
            self._job.directory, base_offset, self._job.name, self._job.index_interval_bytes
        )
        try:
            is_changed = len(group) > 1
            for each in group:
                for batches, table in tables(self._batches(each)):
                    kept = self._kept(batches, table, rules, transactions)
                    is_changed |= self._write(output, batches, kept)
            aborted, transactions.kept = transactions.kept, []
            output.finish(aborted, modified_ns)
            self._check_wanted()
        except BaseException:
            output.discard()
            raise
        if not is_changed:
            output.discard()
        elif not self._report(
            SegmentGroupDone(
                bases=[each.base_offset for each in group], size_bytes=output.size_bytes
            )
        ):
            output.discard()
            raise GivenUpError

    def _kept(
        self,
        batches: list[StoredBatch],
        table: RecordTable,
        rules: Rules,
        transactions: CleanedTransactionMetadata,
    ) -> list[Buffer | None]:
        last_offsets = np.full(len(table.offsets), -1, np.int64)
        rows: Ints = np.flatnonzero(
            (table.key_lengths >= 0) & (table.offsets <= rules.latest_offset)
        )
        last_offsets[rows] = self._map.get(
            *self._hash.of(table.bytes, table.key_starts[rows], table.key_lengths[rows])
        )
        special = BatchRules(
            [transactions.may_discard(batch) for batch in batches],
            [self._is_last_of_producer(batch.header) for batch in batches],
        )
        self._done.records_before += len(table.offsets)
        return filter_batches(batches, table, last_offsets, rules, special)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        known = self._producers.get(header.producer_id)
        if known is None:
            return False
        epoch, last_offset = known
        if last_offset < 0:
            return header.is_control and header.producer_epoch == epoch
        return header.last_offset == last_offset

    def _write(
        self, output: CleanedSegmentWriter, batches: list[StoredBatch], kept: list[Buffer | None]
    ) -> bool:
        """Writes the records that are kept; returns whether they differ from what was read."""
        is_changed = False
        rows: list[tuple[BatchHeader, Buffer]] = []
        for (header, view), data in zip(batches, kept, strict=True):
            if data is view:
                rows.append((header, view))
                self._done.records_after += header.count
                continue
            is_changed = True
            if data is not None:
                changed = read_header(data)
                rows.append((changed, data))
                self._done.records_after += changed.count
        before = output.size_bytes
        if before + sum(len(data) for _, data in rows) > SEGMENT_BYTES_MAX:
            raise ValueError("what stays of a segment does not fit a segment any more")
        output.write(rows)
        self._done.written_bytes += output.size_bytes - before
        self._throttle.took(output.size_bytes - before)
        return is_changed

    # -- reading -----------------------------------------------------------------------------------

    def _check_wanted(self) -> None:
        if not self._still_wanted():
            raise GivenUpError

    def _batches(self, segment: SegmentFiles) -> Iterator[StoredBatch]:
        """All batches of a segment, which must be whole, in order and nothing else."""
        path = self._path(segment.base_offset, file_names.LOG)
        next_offset = segment.base_offset
        end = segment.size_bytes
        with open(path, "rb", buffering=0) as file:

            def read(position: int, size: int) -> memoryview:
                return memoryview(os.pread(file.fileno(), min(size, end - position), position))

            position = 0
            while position < segment.size_bytes:
                self._check_wanted()
                chunk = read(position, self._job.limits.io_buffer_bytes)
                at = 0
                while at + HEADER_BYTES <= len(chunk):
                    header = read_header(chunk, at)
                    size = header.size_bytes
                    if (
                        header.magic != MAGIC or size < HEADER_BYTES
                        or not next_offset <= header.base_offset <= header.last_offset
                        or header.last_offset >= segment.next_offset
                        or position + at + size > segment.size_bytes
                    ):  # fmt: skip
                        break
                    if at + size > len(chunk):
                        if at:
                            break
                        chunk = read(position, size)
                        if len(chunk) < size:
                            break
                    yield StoredBatch(header, chunk[at : at + size])
                    next_offset = header.last_offset + 1
                    at += size
                if not at:
                    raise ValueError(f"{path}: no whole batch begins at byte {position}")
                self._done.read_bytes += at
                self._throttle.took(at)
                position += at


@dataclass(slots=True)
class Throttle:
    """Keeps reads and writes below log.cleaner.io.max.bytes.per.second, by pauses."""

    bytes_per_second: float
    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _free_at_s: float = 0.0

    def took(self, size_bytes: int) -> None:
        now_s = self.now_s()
        self._free_at_s = max(self._free_at_s, now_s) + size_bytes / self.bytes_per_second
        pause_s = self._free_at_s - now_s
        if pause_s >= PAUSE_MIN_S:
            self.sleep(pause_s)


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
