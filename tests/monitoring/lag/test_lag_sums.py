import numpy as np

from monitoring.lag.lag_sums import LagSums
from monitoring.partial_sum import PartialSum
from tests.monitoring.tick_factory import make_tick

ROWS = ((10, 4), (10, None), (None, 3), (5, 9), (7, 7))


def sums_of_rows() -> LagSums:
    groups = [
        {"group": "g", "topic": "a", "partition": number, "state": "Stable", "members": 1}
        | {"log_end_offset": end, "committed_offset": committed}
        for number, (end, committed) in enumerate(ROWS)
    ]
    table = make_tick(1, groups=groups).groups
    return LagSums.of_rows(table, np.ones(len(ROWS), dtype=bool))


def test_a_sum_counts_a_partition_that_is_ahead_as_0_and_one_of_unknown_end_as_missing():
    sums = sums_of_rows().sums_by(np.zeros(len(ROWS), dtype=np.int64), 1)
    assert sums[0] == PartialSum(6, 1, 4, ahead=1, ahead_by=4)


def test_only_the_rows_of_the_mask_are_added_by_code():
    codes, mask = np.array([0, 0, 1, 1, 1]), np.array([True, False, True, True, False])
    sums = sums_of_rows().sums_by(codes, 3, mask)
    assert sums.value_lists() == {
        "partitions": [1, 2, 0],
        "ahead": [0, 1, 0],
        "ahead_by": [0, 4, 0],
        "not_committed": [0, 0, 0],
        "end_unknown": [0, 1, 0],
        "lag": [6, 0, None],
    }
