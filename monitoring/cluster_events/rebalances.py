"""The rebalances between two ticks: members joined or left, or partitions got other owners. Pure.

What happened between two ticks is one rebalance, and what was undone between them is none.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from monitoring.read_model.group_columns import GroupColumns
from monitoring.read_model.recent_offsets import GroupTableRows
from monitoring.ticks.tick import Tick

_COMPARED = ["group", "topic", "partition", "members", "member_id"]


@dataclass(frozen=True, slots=True)
class Rebalance:
    """`moved` partitions have another owner, or none, since the previous tick."""

    members_before: int
    members: int
    moved: int


def rebalances(tick: Tick, previous: Tick) -> dict[str, Rebalance]:
    """The rebalances since the previous tick, by group."""
    if tick.groups.select(_COMPARED).equals(previous.groups.select(_COMPARED)):
        return {}
    before = GroupColumns.of(previous)
    rows = GroupTableRows.of(GroupColumns.of(tick, before))
    return _of_rows(rows, GroupTableRows.of(before))


def _of_rows(rows: GroupTableRows, before: GroupTableRows) -> dict[str, Rebalance]:
    names, earlier_names = rows.groups.group_names, before.groups.group_names
    counts, earlier = _members(rows), _members(before)
    earlier_codes = names.codes_in(earlier_names)
    # A group that is new has no rebalance: nothing is known of its past.
    known = (earlier_codes >= 0) & (counts >= 0)
    earlier = np.where(earlier_codes >= 0, np.append(earlier, -1)[earlier_codes], -1)
    moved = np.bincount(rows.group[_is_moved(rows, before)], minlength=len(names.all))
    changed = known & (earlier >= 0) & ((counts != earlier) | (moved > 0))
    return {
        names.all[code]: Rebalance(int(earlier[code]), int(counts[code]), int(moved[code]))
        for code in np.flatnonzero(changed).tolist()
    }


def _is_moved(rows: GroupTableRows, before: GroupTableRows) -> np.ndarray:
    """For each row: whether its owner is another one than in the previous tick."""
    owners, earlier = (
        pc.fill_null(each.groups.table["member_id"], "").combine_chunks() for each in (rows, before)
    )
    if rows.has_same_rows(before):
        same: np.ndarray = pc.equal(owners, earlier).to_numpy(zero_copy_only=False)
        return ~same & (rows.topic >= 0)
    row_numbers, exists = rows.rows_in(before)
    if not len(earlier):
        return np.zeros(len(rows.group), dtype=bool)
    same = pc.equal(owners, earlier.take(row_numbers)).to_numpy(zero_copy_only=False)
    is_owned = pc.not_equal(owners, "").to_numpy(zero_copy_only=False)
    return np.where(exists, ~same, is_owned) & (rows.topic >= 0)


def _members(rows: GroupTableRows) -> np.ndarray:
    """The number of members of each group; −1 = unknown."""
    found: np.ndarray = pc.fill_null(rows.groups.facts["members"], -1).to_numpy().astype(np.int64)
    return found
