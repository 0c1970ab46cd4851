import pytest

from monitoring.lag.partition import Lag, LagNote, partition_lag


@pytest.mark.parametrize(
    ("end", "committed", "lag"),
    [
        (10, 4, Lag(6, LagNote.PLAIN)),
        (10, 10, Lag(0, LagNote.PLAIN)),
        (0, 0, Lag(0, LagNote.PLAIN)),
        (10, None, Lag(None, LagNote.NOT_COMMITTED)),
        (None, 4, Lag(None, LagNote.END_UNKNOWN)),
        (None, None, Lag(None, LagNote.NOT_COMMITTED)),
        (10, 12, Lag(-2, LagNote.AHEAD_OF_END)),
    ],
)
def test_the_lag_says_what_is_known_and_nothing_else(end, committed, lag):
    assert partition_lag(end, committed) == lag
