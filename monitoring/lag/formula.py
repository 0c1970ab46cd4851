"""The formula of the lag. Pure.

`has_lag` and `lag_between` are for a partition, `counted_lag` is for sums.

    lag = end offset − committed offset

Without a commit there is no lag: neither 0 nor the whole partition. If the end offset is unknown,
the lag is unknown. If the commit is beyond the end (the topic was created again, or its log was
cut), the partition is *ahead*: its lag is negative, as in Kafka's tools, and pages show it
unchanged. In a sum such a partition counts as 0, so that it does not hide another partition's lag;
`ahead_by` sums its offsets beyond the end (lag_sums.py). If the commit is below the log start, the
records that were deleted unread count in the lag; pages show them apart (lag_rows.py).
"""

from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class LagNote(StrEnum):
    """Why a partition's lag is not a number ≥ 0."""

    PLAIN = ""  # it is a number ≥ 0
    NOT_COMMITTED = "not_committed"
    END_UNKNOWN = "end_unknown"
    AHEAD_OF_END = "ahead_of_end"


def has_lag(is_committed: Any, is_end_known: Any) -> Any:
    """Whether a partition has a lag: a bool, or an array with one per partition."""
    return is_committed & is_end_known


def lag_between(committed: Any, end: Any) -> Any:
    """The lag in records, of known offsets: two numbers, or two arrays with one per partition."""
    return end - committed


def counted_lag(committed: Any, end: Any) -> Any:
    """The lag as it counts in a sum: 0 where the commit is beyond the end."""
    return np.maximum(lag_between(committed, end), 0)


def with_lag(groups: pa.Table) -> pa.Table:
    """Rows of GROUPS (monitoring/ticks/schema.py) with two more columns: `lag` and `lag_note`."""
    end, committed = groups["log_end_offset"], groups["committed_offset"]
    known = has_lag(pc.is_valid(committed).to_numpy(), pc.is_valid(end).to_numpy())
    lags = lag_between(pc.fill_null(committed, 0).to_numpy(), pc.fill_null(end, 0).to_numpy())
    lag = pa.chunked_array([pa.array(lags, pa.int64(), mask=~known)])
    note = pc.if_else(
        pc.is_null(committed),
        LagNote.NOT_COMMITTED.value,
        pc.if_else(
            pc.is_null(end),
            LagNote.END_UNKNOWN.value,
            pc.if_else(pc.less(lag, 0), LagNote.AHEAD_OF_END.value, LagNote.PLAIN.value),
        ),
    )
    return groups.append_column("lag", lag).append_column("lag_note", note)
