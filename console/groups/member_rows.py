"""The members of a group with the partitions that they are assigned."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from console.ui.partition_ranges import ranges_text
from monitoring.lag.lag_sums import LagSums


def members(rows: pa.Table, count_max: int) -> tuple[list[dict[str, Any]], int]:
    """The first members, sorted by client id and host, and the number of all.

    `rows`: the group's rows of a tick, one per partition (Snapshot.rows_of_group).
    """
    owned = rows.filter(pc.greater(pc.binary_length(rows["member_id"]), 0))
    order = ("client_id", "member_host", "member_id")
    owned = owned.sort_by([(name, "ascending") for name in order])
    ids = owned["member_id"].combine_chunks().dictionary_encode()
    codes, count = ids.indices.to_numpy(), len(ids.dictionary)
    every_row = np.ones(len(owned), dtype=bool)
    sums = LagSums.of_rows(owned, every_row).sums_by(codes, count)
    _, first_rows = np.unique(codes, return_index=True)
    first = owned.select(list(order)).take(pa.array(first_rows[:count_max])).to_pylist()
    assigned = _assignments(owned, {row["member_id"] for row in first})
    return [
        row
        | {
            "partitions": int(sums.partitions[code]),
            "lag": sums[code],
            "assigned": assigned[row["member_id"]],
        }
        for code, row in enumerate(first)
    ], count


def _assignments(rows: pa.Table, ids: set[str]) -> dict[str, list[str]]:
    """Member id → its topics with their partitions, such as "orders 0–3, 7"."""
    by_member: dict[str, dict[str, list[int]]] = {}
    for row in rows.select(["member_id", "topic", "partition"]).to_pylist():
        if row["member_id"] in ids:
            topics = by_member.setdefault(row["member_id"], {})
            topics.setdefault(row["topic"], []).append(row["partition"])
    return {
        member: [f"{topic} {ranges_text(numbers)}" for topic, numbers in sorted(topics.items())]
        for member, topics in by_member.items()
    }
