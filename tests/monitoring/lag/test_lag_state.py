"""Each rule, and that the first one that applies decides."""

import numpy as np
import pytest

from monitoring.lag.lag_state import LagState, lag_states

# Observations every 30 s; the newest last.
AT_MS = np.array([0, 30_000, 60_000, 90_000])


def state(committed: list[int], ends: list[int], owned: bool = True, at_ms=AT_MS) -> LagState:
    both = (np.array([[value] for value in values]) for values in (committed, ends))
    return LagState(lag_states(at_ms[-len(committed) :], *both, np.array([owned]))[0])


@pytest.mark.parametrize(
    ("committed", "ends", "expected"),
    [
        ([-1, -1, -1, -1], [10, 20, 30, 40], LagState.NOT_COMMITTED),
        ([5, 5, 5, 5], [10, 10, 10, -1], LagState.UNKNOWN),
        ([5, 5, 5, 50], [10, 10, 10, 40], LagState.UNKNOWN),
        ([10, 20, 30, 40], [10, 20, 30, 40], LagState.CAUGHT_UP),
        ([40, 40, 40, 40], [40, 40, 40, 40], LagState.CAUGHT_UP),
        ([10, 20, 30, 35], [15, 25, 35, 45], LagState.CAUGHT_UP),
        ([10, 20, 30, 25], [50, 60, 70, 80], LagState.REWOUND),
        ([10, 10, 10, 10], [50, 60, 70, 80], LagState.STALLED),
        ([10, 10, 10, 10], [50, 50, 50, 50], LagState.STALLED),
        ([10, 11, 12, 13], [50, 60, 70, 80], LagState.GROWING),
        ([10, 20, 30, 40], [60, 61, 62, 63], LagState.DRAINING),
        ([10, 20, 30, 40], [60, 70, 80, 90], LagState.DRAINING),
        ([-1, -1, 10, 10], [60, 60, 60, 60], LagState.UNKNOWN),
        ([-1, 10, 10, 10], [60, 60, 60, 60], LagState.STALLED),
    ],
)
def test_each_state_has_its_rule(committed, ends, expected):
    assert state(committed, ends) == expected


def test_a_partition_that_nobody_is_assigned_has_no_members_only_while_records_wait():
    assert state([10, 10, 10, 10], [50, 60, 70, 80], owned=False) == LagState.NO_MEMBERS
    assert state([80, 80, 80, 80], [80, 80, 80, 80], owned=False) == LagState.CAUGHT_UP


def test_after_less_than_a_minute_the_state_is_unknown():
    assert state([10, 10], [50, 60]) == LagState.UNKNOWN
    assert state([10], [10]) == LagState.CAUGHT_UP


def test_a_rewind_is_over_when_the_commit_is_where_it_was():
    assert state([30, 10, 20, 30], [90, 90, 90, 90]) == LagState.DRAINING
