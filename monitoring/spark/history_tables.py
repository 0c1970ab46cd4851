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
}
# Of a small input Spark spends most time on compiling code for it. Without, an hour of a cluster
# of three partitions takes 12 CPU seconds instead of 24.
_SMALL_ROWS = 100_000
_LARGE = {
    "spark.sql.adaptive.enabled": "true",  # joins small partitions of a shuffle
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
_SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def configure(spark: SparkSession, rows: int | None = None) -> None:
    """The settings of a session that reads `rows` rows of the history; None = not known.

    Raises Spark's errors.
    """
    is_small = rows is not None and rows < _SMALL_ROWS
    for name, value in (_SETTINGS | (_SMALL if is_small else _LARGE)).items():
        spark.conf.set(name, value)


def spark_schema(table: str, *, is_raw: bool) -> StructType:
    """The schema of a table's files for Spark. Raises KeyError."""
    return from_arrow_schema(schema_of(table, is_raw=is_raw))


def read(spark: SparkSession, table: str, files: Sequence[str], *, is_raw: bool) -> DataFrame:
    """The rows of these files of a table; a column that a file does not have is null.

    `files` are locations from the manifests (`Root.location`); folders are never listed.
    """
    schema = spark_schema(table, is_raw=is_raw)
    if not files:
        return spark.createDataFrame([], schema)
    return (
        spark.read.schema(schema)
        .option("recursiveFileLookup", "true")
        .parquet(*(uri(name) for name in files))
    )


def uri(location: str) -> str:
    """A location as a URI: Spark takes a bare path for one of its default file system."""
    return f"file:{location}" if location.startswith("/") else location
