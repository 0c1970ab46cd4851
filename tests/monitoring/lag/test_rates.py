import numpy as np

from monitoring.lag.rates import rates


def test_a_rate_is_unknown_until_there_are_two_values():
    values = np.array([[-1, 0, 5], [-1, 30, 5], [7, 60, -1]])
    found = rates(np.array([0, 30_000, 60_000]), values)
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == 1.0
