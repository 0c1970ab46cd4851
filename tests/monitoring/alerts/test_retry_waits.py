from monitoring.alerts.retry_waits import WAITS_S, wait_s


def test_the_waiting_times_grow_and_end():
    waits = [wait_s(attempts) for attempts in range(1, len(WAITS_S) + 2)]
    assert waits[:-1] == sorted(waits[:-1])
    assert waits[-1] is None
