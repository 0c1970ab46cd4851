"""Reads the keys of a window's records and what each takes on disk (compaction_estimate.py). Pure.

A batch that begins in one window and ends in the next one is fetched with both: it counts for the
window in which it begins.

The hash of a key is Python's, which is keyed by a random number of the process of the search and
the same in its forks. So nobody can write keys that collide, and a hash says nothing to others.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from brokerd.protocol.records import DELETE_HORIZON, HEADER_BYTES, BatchHeader
from brokerd.protocol.varint import read_varint
from monitoring.gateway.wire import batch_scan, batches
from monitoring.gateway.wire.batches import AbortedTransaction, Batch
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.records.compaction_estimate import EXPIRED, RECORD, TOMBSTONE, ScannedKeys
from monitoring.records.search_windows import Window
from monitoring.records.window_scanner import ScanResult


class KeyScanner:
    """Scans windows, one after the other, from the offset `start` on."""

    def __init__(self, start: int, now_ms: int) -> None:
        self._start, self._now_ms = start, now_ms

    def scan(self, window: Window, pieces: Sequence[FetchedRecords]) -> ScanResult:
        """Raises ValueError if a piece has something else than batches."""
        found = _Found()
        for piece in pieces:
            aborted = [AbortedTransaction(*each) for each in piece.aborted]
            for kind, batch in batches.batches_by_kind(piece.records, aborted):
                if batch.header.base_offset >= window.first or window.first == self._start:
                    found.add(kind, batch, self._now_ms)
        return found.result()


class _Found:
    """What was found in a window; the arrays have an item for each record with a key."""

    def __init__(self) -> None:
        self._hashes, self._sizes = array("q"), array("f")
        self._batch_numbers, self._kinds = array("I"), array("B")
        self._batches = self._damaged = self._without_key = self._aborted = 0
        self._size_bytes = self._other_bytes = self._end_offset = 0

    def add(self, kind: str, batch: Batch, now_ms: int) -> None:
        header = batch.header
        self._size_bytes += header.size_bytes
        self._end_offset = max(self._end_offset, header.last_offset + 1)
        if kind == batches.ABORTED:
            self._aborted += header.count
        elif kind == batches.CONTROL or not header.count:
            self._other_bytes += header.size_bytes
        else:
            try:
                self._add_records(batch, now_ms)
            except batch_scan.DAMAGE_ERRORS:
                self._damaged += 1
                self._other_bytes += header.size_bytes

    def _add_records(self, batch: Batch, now_ms: int) -> None:
        """Raises one of DAMAGE_ERRORS; then nothing was added."""
        header, data = batch.header, batch.records()
        hashes, sizes, tombstones = _keyed_records(data, header.count)
        ratio = (header.size_bytes - HEADER_BYTES) / len(data)
        kinds = bytearray(len(hashes))
        for number in tombstones:
            kinds[number] = EXPIRED if _has_expired(header, now_ms) else TOMBSTONE
        self._hashes += hashes
        self._sizes.frombytes((np.frombuffer(sizes, np.uint32) * ratio).astype("f4").tobytes())
        self._batch_numbers += array("I", [self._batches]) * len(hashes)
        self._kinds.frombytes(kinds)
        self._without_key += header.count - len(hashes)
        self._batches += 1

    def result(self) -> ScanResult:
        records = np.empty(len(self._hashes), RECORD)
        records["batch"], records["size_bytes"] = self._batch_numbers, self._sizes
        records["kind"] = self._kinds
        keys = ScannedKeys(
            np.array(self._hashes, np.int64),
            records,
            self._batches,
            self._without_key,
            self._aborted,
            self._size_bytes,
            self._other_bytes,
            self._end_offset,
        )
        scanned = len(records) + self._without_key
        return ScanResult(
            rows=[],
            record_count=scanned,
            damaged=self._damaged,
            failures=0,
            first_failure="",
            undecoded=0,
            first_undecoded="",
            keys=keys,
        )


def _has_expired(header: BatchHeader, now_ms: int) -> bool:
    """Whether the batch has reached its delete horizon, which then is its base timestamp."""
    return bool(header.attributes & DELETE_HORIZON) and header.base_timestamp <= now_ms


def _keyed_records(data: bytes, count: int) -> tuple["array[int]", "array[int]", list[int]]:
    """The hashes and encoded sizes of the records with a key, and which of them are tombstones.

    Raises KafkaError, ValueError or IndexError if a record is damaged.
    """
    hashes, sizes, tombstones = array("q"), array("I"), []
    end = 0
    for _ in range(count):
        start = end
        size, at = read_varint(data, start)
        end = at + size
        if size < 0 or end > len(data):
            raise ValueError("a record ends outside its batch")
        _time, at = read_varint(data, at + 1)  # behind the attributes
        _offset, at = read_varint(data, at)
        key_bytes, at = read_varint(data, at)
        if key_bytes < 0:
            continue
        behind = at + key_bytes
        if behind >= end:
            raise ValueError("a key ends outside its record")
        if read_varint(data, behind)[0] < 0:
            tombstones.append(len(hashes))
        hashes.append(hash(data[at:behind]))
        sizes.append(end - start)
    return hashes, sizes, tombstones
