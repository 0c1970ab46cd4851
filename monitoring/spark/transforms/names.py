"""Filters the rows that a user may see, by name."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def without_prefixes(rows: DataFrame, column: str, prefixes: Sequence[str]) -> DataFrame:
    """Removes rows whose `column` starts with one of the prefixes; keeps rows where it is null."""
    for prefix in prefixes:
        rows = rows.where(F.col(column).isNull() | ~F.col(column).startswith(prefix))
    return rows
