"""The series of a report: a row per bucket of some topics or groups. Pure: Arrow → Arrow.

`rows`: by name, the rows of the report's buckets, in the order of time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from monitoring.history import bucket_values
from monitoring.history.bucket_values import Buckets
from monitoring.history.table_specs import Table

_RATE = pa.float64()
_TOPIC_SERIES = pa.schema(
    [
        ("topic", pa.string()),
        ("bucket_ms", pa.int64()),
        ("messages_per_minute", _RATE),
        ("bytes_per_minute", _RATE),
    ]
)
_GROUP_SERIES = pa.schema(
    [
        ("group", pa.string()),
        ("bucket_ms", pa.int64()),
        ("lag_min", _RATE),
        ("lag_mean", _RATE),
        ("lag_max", _RATE),
    ]
)


def topics(rows: Mapping[str, pa.Table], table: Table, buckets: Buckets) -> pa.Table:
    """topic, bucket_ms (start), messages_per_minute, bytes_per_minute, of rows of `table`."""
    tables = []
    for name, topic_rows in sorted(rows.items()):
        columns = {
            f"{shown}_per_minute": _nullable(
                bucket_values.rate(topic_rows, table, counter, buckets).mean * 60
            )
            for shown, counter in (("messages", "records"), ("bytes", "bytes_in"))
        }
        tables.append(_series_table("topic", name, buckets, columns))
    return pa.concat_tables([_TOPIC_SERIES.empty_table(), *tables])


def groups(rows: Mapping[str, pa.Table], buckets: Buckets) -> pa.Table:
    """group, bucket_ms (start), lag_min, lag_mean, lag_max."""
    tables = []
    for name, group_rows in sorted(rows.items()):
        lag = bucket_values.gauge(group_rows, "lag", buckets)
        values = {"lag_min": lag.low, "lag_mean": lag.mean, "lag_max": lag.high}
        columns = {column: _nullable(each) for column, each in values.items()}
        tables.append(_series_table("group", name, buckets, columns))
    return pa.concat_tables([_GROUP_SERIES.empty_table(), *tables])


def _series_table(
    name: str, value: str, buckets: Buckets, columns: Mapping[str, pa.Array]
) -> pa.Table:
    count = len(buckets.at_ms)
    return pa.table(
        {name: pa.array([value] * count, pa.string()), "bucket_ms": pa.array(buckets.at_ms)}
        | dict(columns)
    )


def _nullable(values: np.ndarray) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))
