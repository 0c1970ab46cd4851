"""The members of a group with what they are assigned."""

from typing import Any

import pyarrow as pa

from monitoring.lag.formula import member_totals
from monitoring.read_model.partial_sum import PartialSum

TOPICS_MAX = 20  # of a member, on the page


def members(rows: pa.Table, count_max: int) -> tuple[list[dict[str, Any]], int]:
    """The first members, and the number of all; `rows`: the group's rows of a tick."""
    totals = member_totals(rows)
    first: list[dict[str, Any]] = totals.slice(0, count_max).to_pylist()
    assigned = _assigned(rows, {row["member_id"] for row in first})
    return [
        row | {"lag": _sum(row), "assigned": assigned.get(row["member_id"], [])} for row in first
    ], len(totals)


def _assigned(rows: pa.Table, ids: set[str]) -> dict[str, list[str]]:
    """Member id → its topics with their partitions, such as "orders 0–3, 7"."""
    by_member: dict[str, dict[str, list[int]]] = {}
    for row in rows.select(["member_id", "topic", "partition"]).to_pylist():
        if row["member_id"] in ids:
            topics = by_member.setdefault(row["member_id"], {})
            topics.setdefault(row["topic"], []).append(row["partition"])
    return {
        member: [f"{topic} {ranges(numbers)}" for topic, numbers in sorted(topics.items())]
        for member, topics in by_member.items()
    }


def ranges(numbers: list[int]) -> str:
    """Numbers as ranges: 0, 1, 2, 7 → "0–2, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def _sum(totals: dict[str, Any]) -> PartialSum:
    """The lag of some partitions as a PartialSum; partitions without a commit are not part of
    it."""
    return PartialSum(
        totals["lag"],
        totals["end_unknown"],
        totals["partitions"] - totals["not_committed"],
        ahead=totals["ahead"],
        ahead_by=totals["ahead_by"],
    )
