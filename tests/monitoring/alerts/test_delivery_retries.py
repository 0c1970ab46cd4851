import httpx

from monitoring.alerts.delivery_retries import WAITS_S, is_retriable, is_retriable_error, wait_s
from monitoring.egress.url_checks import EgressRefused, EgressUnresolved
from monitoring.error_reason import Reason


def test_the_waiting_times_grow_and_end():
    waits = [wait_s(attempts) for attempts in range(1, len(WAITS_S) + 2)]
    assert waits[:-1] == sorted(waits[:-1])
    assert waits[-1] is None


def test_a_busy_or_broken_server_is_tried_again_but_not_one_that_refuses():
    assert all(map(is_retriable, (408, 425, 429, 500, 503)))
    assert not any(map(is_retriable, (400, 401, 404, 410)))


def test_without_a_status_time_outs_and_failed_connections_are_tried_again_but_no_refused_url():
    why = Reason("webhook_removed")
    again = (TimeoutError(), httpx.ReadTimeout(""), httpx.ConnectError(""), EgressUnresolved(why))
    assert all(map(is_retriable_error, again))
    assert not any(
        map(is_retriable_error, (EgressRefused(why), httpx.InvalidURL(""), ValueError()))
    )
