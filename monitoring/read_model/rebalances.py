"""The rebalances of each group: when members joined or left, or partitions got other owners. Pure.

They are found by comparing each tick with the previous one: what happened between two ticks is one
rebalance, and what was undone between them is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from monitoring.read_model.commit_window import GroupTableRows

PER_GROUP_MAX = 20
RETENTION_MS = 60 * 60_000


@dataclass(frozen=True, slots=True)
class Rebalance:
    """`moved` partitions have another owner, or none, since the previous tick."""

    at_ms: int
    members_before: int
    members: int
    moved: int


@dataclass(frozen=True, slots=True)
class Rebalances:
    """The last rebalances by group, the newest last; `since_ms`: the first tick compared."""

    rows: GroupTableRows
    since_ms: int
    by_group: Mapping[str, tuple[Rebalance, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: GroupTableRows, at_ms: int, previous: "Rebalances | None" = None
    ) -> "Rebalances":
        if previous is None:
            return cls(rows, at_ms)
        by_group = _without_expired(previous.by_group, at_ms)
        for group, found in _new_rebalances(rows, previous.rows, at_ms).items():
            by_group[group] = (*by_group.get(group, ()), found)[-PER_GROUP_MAX:]
        return cls(rows, previous.since_ms, by_group)


def _without_expired(
    by_group: Mapping[str, tuple[Rebalance, ...]], at_ms: int
) -> dict[str, tuple[Rebalance, ...]]:
    kept = {
        group: tuple(each for each in found if each.at_ms >= at_ms - RETENTION_MS)
        for group, found in by_group.items()
    }
    return {group: found for group, found in kept.items() if found}


def _new_rebalances(
    rows: GroupTableRows, before: GroupTableRows, at_ms: int
) -> dict[str, Rebalance]:
    """The rebalances of groups that differ from the previous tick."""
    names, earlier_names = rows.groups.group_names, before.groups.group_names
    counts, earlier = _members(rows), _members(before)
    earlier_codes = names.codes_in(earlier_names)
    # A group that is new has no rebalance: nothing is known of its past.
    known = (earlier_codes >= 0) & (counts >= 0)
    earlier = np.where(earlier_codes >= 0, np.append(earlier, -1)[earlier_codes], -1)
    moved = np.bincount(rows.group[_is_moved(rows, before)], minlength=len(names.all))
    changed = known & (earlier >= 0) & ((counts != earlier) | (moved > 0))
    return {
        names.all[code]: Rebalance(at_ms, int(earlier[code]), int(counts[code]), int(moved[code]))
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
