from monitoring.alerts.delivery_retries import WAITS_S, is_retriable, wait_s


def test_the_waiting_times_grow_and_end():
    waits = [wait_s(attempts) for attempts in range(1, len(WAITS_S) + 2)]
    assert waits[:-1] == sorted(waits[:-1])
    assert waits[-1] is None


def test_a_busy_or_broken_server_is_tried_again_but_not_one_that_refuses():
    assert all(map(is_retriable, (408, 425, 429, 500, 503)))
    assert not any(map(is_retriable, (400, 401, 404, 410)))
