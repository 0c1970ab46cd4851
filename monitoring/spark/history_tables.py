"""Reads files of the history into Spark, with the schemas of history/table_specs.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql.pandas.types import from_arrow_schema

from monitoring.history.table_specs import schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Small partitions: the hash tables of all tasks that run at once fit into the server's memory.
_SETTINGS = {
    # A sum that overflows 64 bits must not fail the whole query.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.files.maxPartitionBytes": str(4 << 20),
    "spark.sql.files.openCostInBytes": str(64 << 10),
    # The small hash map in front of the large one is too small for the keys of a cluster.
    "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
    # Queries that differ in their position in the plan alone share their compiled code.
    "spark.sql.codegen.useIdInClassName": "false",
    # A union of queries that have a task each has as many tasks, not one; and these share their
    # compiled code.
    "spark.sql.unionOutputPartitioning": "false",
    "spark.sql.codegen.wholeStage.union.enabled": "false",
}
# Of a small input Spark spends most time on compiling code for it and on planning tasks. Without
# compiled code an hour of a cluster of three partitions takes half the CPU time; as one task, in
# which nothing is shuffled or broadcast, a third less again.
_SMALL_ROWS = 100_000
_LARGE = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.autoBroadcastJoinThreshold": str(10 << 20),
    # The groups of a task fit into its memory, else it writes them to disk and reads them again.
    # Adaptive execution joins partitions of a shuffle up to this size, as it is on disk.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": str(8 << 20),
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}
_ROWS_A_PARTITION = 250_000
_PARTITIONS = range(8, 201)
_SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # a broadcast is a job of its own
}


def is_small(rows: int | None) -> bool:
    """Whether so many rows are one task's work; None = not known."""
    return rows is not None and rows < _SMALL_ROWS


def configure(spark: SparkSession, rows: int | None) -> None:
    """The settings of a session that reads `rows` rows of the history; None = not known.

    Raises Spark's errors.
    """
    for name, value in settings_for(rows).items():
        spark.conf.set(name, value)


def settings_for(rows: int | None) -> dict[str, str]:
    """The settings of a query that reads so many rows; None = not known."""
    if is_small(rows):
        return _SETTINGS | _SMALL
    wanted = (rows or 0) // _ROWS_A_PARTITION
    count = min(max(wanted, _PARTITIONS.start), _PARTITIONS.stop - 1)
    return _SETTINGS | _LARGE | {"spark.sql.shuffle.partitions": str(count)}


def spark_schema(table: str, *, is_raw: bool) -> StructType:
    """The schema of a table's files for Spark. Raises KeyError."""
    return from_arrow_schema(schema_of(table, is_raw=is_raw))


def read(
    spark: SparkSession, table: str, files: Sequence[str], *, is_raw: bool, rows: int | None = None
) -> DataFrame:
    """The rows of these files of a table; a column that a file does not have is null.

    `files` are locations from the manifests (`Root.location`); folders are never listed. If `rows`,
    the number of rows that the query reads, is small, they are one partition: one task.
    """
    schema = spark_schema(table, is_raw=is_raw)
    if not files:
        return spark.createDataFrame([], schema)
    found = (
        spark.read.schema(schema)
        .option("recursiveFileLookup", "true")
        .parquet(*(uri(name) for name in files))
    )
    return found.coalesce(1) if is_small(rows) else found


def uri(location: str) -> str:
    """A location as a URI: Spark takes a bare path for one of its default file system."""
    return f"file:{location}" if location.startswith("/") else location
