"""Spark schemas of the history's Parquet files, with the columns that Spark jobs read.

The files are written with the Arrow schemas of `monitoring/ticks/schema.py`; a test compares the
two. A column that is missing in an older file is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITION_SAMPLES = StructType(
    [
        StructField("at_ms", LongType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("leader", IntegerType()),
        StructField("log_end_offset", LongType()),
        StructField("bytes_in", LongType()),
    ]
)

GROUP_SAMPLES = StructType(
    [
        StructField("at_ms", LongType()),
        StructField("group", StringType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("committed_offset", LongType()),
        StructField("lag", LongType()),
    ]
)


def read(
    spark: SparkSession, files: Sequence[str], schema: StructType, from_ms: int, to_ms: int
) -> DataFrame:
    """The samples with `from_ms <= at_ms < to_ms` in these files.

    The files come from the manifests; folders are never listed.
    """
    if not files:
        return spark.createDataFrame([], schema)
    uris = [f"file:{name}" if name.startswith("/") else name for name in files]
    samples = spark.read.schema(schema).option("recursiveFileLookup", "true").parquet(*uris)
    return samples.where(samples.at_ms >= from_ms).where(samples.at_ms < to_ms)
