"""What compaction would save of a part of a log, by the rules of Kafka's cleaner. Pure.

Of each key the newest record is kept. A tombstone counts as kept until its batch has reached its
delete horizon, which the first compaction sets to delete.retention.ms later. Records without a
key, which brokers refuse in compacted topics, and those of aborted transactions are removed.
Markers of transactions and damaged batches count as kept.

A batch is kept with its header if one of its records is. The size of a record on disk is estimated:
its encoded size, times the compression ratio of its batch. So the estimate is exact of batches
without compression; what is left of a compressed batch compresses a little worse.

Only a 64-bit hash of each key is in memory: of at most KEYS_MAX keys and those of one merge.
Two of KEYS_MAX keys have the same hash with a probability of 1 in a million. What is saved of the
first part of a log is the least that is saved of the whole: later records only replace more.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from brokerd.protocol.records import HEADER_BYTES

KEYS_MAX = 5_000_000
_MERGED = 500_000  # records that are merged at once

VALUE, TOMBSTONE, EXPIRED = range(3)
"""A record with a value, a tombstone, and one whose batch has reached its delete horizon."""
RECORD = np.dtype([("batch", np.uint32), ("size_bytes", np.float32), ("kind", np.uint8)])

Hashes = npt.NDArray[np.int64]
Records = npt.NDArray[Any]  # of RECORD


class ScannedKeys(NamedTuple):
    """The keyed records of a window by offset: the hashes of their keys, and RECORDs, which count
    batches from 0. The sizes are those on disk.

    `other_bytes` are kept whatever the keys are; `end_offset` is behind the last batch.
    """

    hashes: Hashes
    records: Records
    batches: int  # their number
    without_key: int  # records
    aborted: int  # records of aborted transactions
    size_bytes: int
    other_bytes: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class CompactionFigures:
    """`records` are all committed ones, `size_bytes` is the size of all batches."""

    records: int = 0
    keys: int = 0
    without_key: int = 0
    aborted: int = 0
    size_bytes: int = 0
    kept_records: int = 0
    kept_tombstones: int = 0
    kept_bytes: int = 0
    end_offset: int = 0

    @property
    def saved_bytes(self) -> int:
        return max(self.size_bytes - self.kept_bytes, 0)

    @property
    def saved_share(self) -> float:
        return self.saved_bytes / self.size_bytes if self.size_bytes else 0.0


class CompactionEstimate:
    """Takes the records of a log in their order, window by window."""

    def __init__(self, keys_max: int = KEYS_MAX, merged: int = _MERGED) -> None:
        self._keys_max, self._merged = keys_max, merged
        self._hashes: Hashes = np.empty(0, np.int64)  # sorted
        self._newest: Records = np.empty(0, RECORD)  # of each hash
        self._waiting: list[tuple[Hashes, Records]] = []
        self._waiting_count = 0
        self._batches = 0
        self._other_bytes = 0
        self._totals = CompactionFigures()

    @property
    def is_full(self) -> bool:
        """Whether there are too many keys to take more records."""
        return len(self._hashes) >= self._keys_max

    def add(self, scanned: ScannedKeys) -> None:
        records = scanned.records.copy()
        records["batch"] += np.uint32(self._batches)
        self._batches += scanned.batches
        self._other_bytes += scanned.other_bytes
        before = self._totals
        self._totals = CompactionFigures(
            records=before.records + len(records) + scanned.without_key,
            without_key=before.without_key + scanned.without_key,
            aborted=before.aborted + scanned.aborted,
            size_bytes=before.size_bytes + scanned.size_bytes,
            end_offset=max(before.end_offset, scanned.end_offset),
        )
        self._waiting.append((scanned.hashes, records))
        self._waiting_count += len(records)
        if self._waiting_count >= self._merged:
            self._merge()

    def figures(self) -> CompactionFigures:
        """The figures of what was added so far."""
        self._merge()
        newest, totals = self._newest, self._totals
        kept = newest[newest["kind"] != EXPIRED]
        headers_bytes = HEADER_BYTES * len(np.unique(kept["batch"]))
        records_bytes = float(kept["size_bytes"].sum(dtype=np.float64))
        return CompactionFigures(
            totals.records,
            len(newest),
            totals.without_key,
            totals.aborted,
            totals.size_bytes,
            len(kept),
            int(np.count_nonzero(kept["kind"] == TOMBSTONE)),
            round(records_bytes) + headers_bytes + self._other_bytes,
            totals.end_offset,
        )

    def _merge(self) -> None:
        """Let the records that wait replace older ones of their keys."""
        if not self._waiting_count:
            self._waiting.clear()
            return
        hashes = np.concatenate([each for each, _records in self._waiting])[::-1]
        records = np.concatenate([each for _hashes, each in self._waiting])[::-1]
        self._waiting.clear()
        self._waiting_count = 0
        hashes, firsts = np.unique(hashes, return_index=True)  # of each the newest
        records = records[firsts]
        places = np.searchsorted(self._hashes, hashes)
        is_known = np.zeros(len(hashes), np.bool_)
        within = places < len(self._hashes)
        is_known[within] = self._hashes[places[within]] == hashes[within]
        self._newest[places[is_known]] = records[is_known]
        is_new = ~is_known
        self._hashes = np.insert(self._hashes, places[is_new], hashes[is_new])
        self._newest = np.insert(self._newest, places[is_new], records[is_new])
