"""The Spark jobs of the data pipeline: roll rows of the history up to the next level, and merge
files.

Files are sorted by the table's keys and then by time: readers of one topic or group skip the row
groups of the others. A merge writes one file. A roll-up of very many rows writes several, so that
several tasks sort; the merge of its day makes them one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import TYPE_CHECKING

from monitoring.history.table_specs import TABLES
from monitoring.spark.history_tables import configure, is_small, read, uri
from monitoring.spark.jobs.time_slices import Slice, SourceFile, time_slices
from monitoring.spark.transforms import roll_up as transforms
from monitoring.spark.transforms.buckets import Bucket

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE_OPTIONS = {
    "compression": "zstd",
    "parquet.enable.dictionary": "true",
    "parquet.block.size": str(4 << 20),
}
# Rows of input for each file of a roll-up: the sort of more spills to disk, and is one task.
ROWS_A_FILE = 1_750_000


@dataclass(frozen=True, slots=True)
class RollUp:
    """The input and output of one Spark action.

    `files` have raw rows if `is_raw`; `rows` is the number of their rows, if known. Only rows of
    `buckets` count. Rows with `repeated` are kept in buckets before `keep_repeated_until_ms`.
    `output` is the location of a folder that does not exist.
    """

    table: str
    is_raw: bool
    files: Sequence[SourceFile]
    buckets: Sequence[Bucket]
    bucket_ms: int
    keep_repeated_until_ms: int
    output: str
    rows: int | None = None


def roll_up(spark: SparkSession, step: RollUp) -> None:
    """Roll up and write the files into `step.output`, one for each `ROWS_A_FILE` rows of input.

    Raises Spark's errors.
    """
    configure(spark, step.rows)
    slices = [] if is_small(step.rows) else time_slices(step.files, step.buckets, step.bucket_ms)
    whole = Slice(step.files, step.buckets)
    found = [_rolled_up(spark, step, part, is_task=bool(slices)) for part in slices or [whole]]
    rows = reduce(lambda one, other: one.union(other), found)
    count = ceil((step.rows or 1) / ROWS_A_FILE)
    _write(rows, step.table, step.output, step.rows, count)


def _rolled_up(spark: SparkSession, step: RollUp, part: Slice, *, is_task: bool) -> DataFrame:
    """The rows of the buckets of a slice; if `is_task`, one task computes them."""
    files = [file.location for file in part.files]
    rows = read(spark, step.table, files, is_raw=step.is_raw, rows=step.rows)
    return transforms.roll_up(
        rows.coalesce(1) if is_task else rows,
        TABLES[step.table],
        part.buckets,
        step.bucket_ms,
        is_raw=step.is_raw,
        keep_repeated_until_ms=step.keep_repeated_until_ms,
    )


def merge(
    spark: SparkSession, table: str, is_raw: bool, files: Sequence[str], rows: int, output: str
) -> None:
    """Write the `rows` rows of `files` as one file into `output`. Raises Spark's errors."""
    configure(spark, rows)
    found = read(spark, table, files, is_raw=is_raw, rows=rows)
    _write(found, table, output, rows)


def _write(found: DataFrame, table: str, output: str, rows: int | None, count: int = 1) -> None:
    """Write `count` files; small input is in one partition already. `rows`: of the input.

    All rows of a topic or group are in the same file.
    """
    keys = list(TABLES[table].keys) if table in TABLES else []
    if not is_small(rows):
        found = found.repartition(count, *keys[:1])
    in_order = found.sortWithinPartitions(*keys, "at_ms")
    in_order.write.options(**_FILE_OPTIONS).parquet(uri(output))
