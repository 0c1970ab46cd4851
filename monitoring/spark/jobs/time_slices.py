"""Cuts the input of a roll-up into slices of time, each of which is one task of Spark. Pure.

The flush writes a file a minute, so the rows of a bucket are in few files. A task that reads all
files of some buckets computes their final rows: nothing is shuffled to aggregate it once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitoring.history.levels import bucket_start
from monitoring.spark.transforms.buckets import Bucket

# As many that the groups of a slice fit into the memory of a task.
ROWS_A_SLICE = 1_400_000
_READ_MAX = 1.5  # how often a row may be read, because its file has times of several slices


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the history: its location, and what the manifest says of it."""

    location: str
    rows: int
    min_at_ms: int
    max_at_ms: int


@dataclass(frozen=True, slots=True)
class Slice:
    """The files that have rows of some buckets. They have rows of other times, too."""

    files: Sequence[SourceFile]
    buckets: Sequence[Bucket]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


def time_slices(
    files: Sequence[SourceFile], buckets: Sequence[Bucket], bucket_ms: int
) -> list[Slice]:
    """Slices that have all rows of the buckets of `bucket_ms` that are made of their `buckets`.

    Empty if the times of the files overlap so much that they cannot be cut: a merged file.
    """
    coarse: dict[int, list[Bucket]] = {}
    for bucket in sorted(buckets, key=lambda bucket: bucket.at_ms):
        coarse.setdefault(bucket_start(bucket.at_ms, bucket_ms), []).append(bucket)
    groups: list[list[int]] = []
    rows = 0
    for start_ms in coarse:
        own = sum(f.rows for f in files if start_ms <= f.min_at_ms < start_ms + bucket_ms)
        if not groups or rows + own > ROWS_A_SLICE:
            groups.append([])
            rows = 0
        groups[-1].append(start_ms)
        rows += own
    slices = [
        Slice(
            [f for f in files if f.max_at_ms >= of[0] and f.min_at_ms < of[-1] + bucket_ms],
            [bucket for start_ms in of for bucket in coarse[start_ms]],
        )
        for of in groups
    ]
    largest = max((part.rows for part in slices), default=0)
    whole = sum(file.rows for file in files)
    is_cut = sum(part.rows for part in slices) <= whole * _READ_MAX
    return slices if is_cut and largest <= ROWS_A_SLICE * 2 else []
