"""The state of each partition of a group, from its commits and ends in the last minutes. Pure.

The observed time is the last OBSERVED_MS_MAX, or less if the group or the process is younger. The
rules, of which the first that applies decides:

| State | Rule |
|---|---|
| not committed | there is no commit |
| unknown | the end offset is unknown, or the commit is beyond it |
| caught up | the commit is at the end, or where the end was at most CAUGHT_UP_MS ago |
| no members | records wait, and the partition is not assigned to a member |
| rewound | the commit is below an earlier one |
| unknown | it was observed for less than OBSERVED_MS_MIN |
| stalled | records wait, and the commit did not move in the observed time |
| growing | the lag is larger than at the beginning of the observed time |
| draining | else: the commit moves and the lag does not grow |

The state of a group is the worst of its partitions, in the order of `LagState`.
"""

from enum import IntEnum

import numpy as np

from monitoring.lag.formula import lag_between

UNKNOWN_OFFSET = -1
CAUGHT_UP_MS = 45_000
OBSERVED_MS_MIN, OBSERVED_MS_MAX = 60_000, 5 * 60_000


class LagState(IntEnum):
    """States, the worst last."""

    CAUGHT_UP = 0
    UNKNOWN = 1
    NOT_COMMITTED = 2
    DRAINING = 3
    REWOUND = 4
    GROWING = 5
    NO_MEMBERS = 6
    STALLED = 7

    @property
    def key(self) -> str:
        return self.name.lower().replace("_", "-")


def lag_states(
    at_ms: np.ndarray, committed: np.ndarray, ends: np.ndarray, is_owned: np.ndarray
) -> np.ndarray:
    """The LagState of each partition.

    `committed` and `ends` have a row per tick, the newest last, and a column per partition; `at_ms`
    has the times of the ticks. UNKNOWN_OFFSET = no commit, or the end is not known.
    """
    commit, end, now_ms = committed[-1], ends[-1], int(at_ms[-1])
    is_observed = (committed >= 0) & (ends >= 0)
    first = is_observed.argmax(axis=0)
    columns = np.arange(committed.shape[1])
    observed_ms = now_ms - at_ms[first]
    first_lag = lag_between(committed[first, columns], ends[first, columns])
    recent = (at_ms >= now_ms - CAUGHT_UP_MS)[:, None] & (ends >= 0)
    reached = (recent & (commit >= ends)).any(axis=0)
    has_moved = ((committed >= 0) & (committed != commit)).any(axis=0)
    conditions = [
        (commit < 0, LagState.NOT_COMMITTED),
        ((end < 0) | (commit > end), LagState.UNKNOWN),
        (reached, LagState.CAUGHT_UP),
        (~is_owned, LagState.NO_MEMBERS),
        (committed.max(axis=0) > commit, LagState.REWOUND),
        (observed_ms < OBSERVED_MS_MIN, LagState.UNKNOWN),
        (~has_moved, LagState.STALLED),
        (lag_between(commit, end) > first_lag, LagState.GROWING),
    ]
    masks = [mask for mask, _state in conditions]
    found: np.ndarray = np.select(
        masks, [int(lag_state) for _mask, lag_state in conditions], LagState.DRAINING
    )
    return found
