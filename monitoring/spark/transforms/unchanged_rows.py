"""Rows for the keys that do not change in a range. Pure: DataFrame → DataFrame.

Only changes are stored, and at fixed times a row for each key (monitoring/history/levels.py). Of
the rows between such a time and the range, the last one of each key says what held when the range
began.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from monitoring.history.table_specs import (
    UNANSWERED_MS,
    Table,
    counter_columns,
    gauge_columns,
)


def rows_held_at(before: DataFrame, table: Table, at_ms: int) -> DataFrame:
    """The last row of each key that still exists, as a row at `at_ms` in which nothing changed.

    Its bucket has no samples and no rated time: what held before counts for the whole bucket.
    """
    kept = ["state", *table.facts, *(f"{gauge}_last" for gauge in table.gauges)]
    last = before.groupBy(*table.keys).agg(
        *(F.max_by(F.struct(F.col(name)), "at_ms")[name].alias(name) for name in kept)
    )
    zero, none = F.lit(0).cast("bigint"), F.lit(None)
    columns = [F.lit(at_ms).cast("bigint").alias("at_ms"), *(F.col(key) for key in table.keys)]
    columns += [F.lit(True).alias("repeated"), F.col("state").alias("state_before")]
    columns += [F.col("state"), zero.alias("samples"), *(F.col(fact) for fact in table.facts)]
    if table.has_answers:
        columns.append(zero.alias(UNANSWERED_MS))
    for gauge in table.gauges:
        value = F.col(f"{gauge}_last")
        values = (value, value, none.cast("bigint"), none.cast("bigint"), zero, zero)
        columns += [
            column.alias(name) for column, name in zip(values, gauge_columns(gauge), strict=True)
        ]
    for counter in table.counters:
        amounts = (zero, zero, zero, none.cast("double"), none.cast("double"))
        columns += [
            column.alias(name)
            for column, name in zip(amounts, counter_columns(counter), strict=True)
        ]
    return last.where(F.col("state") > 0).select(columns)
