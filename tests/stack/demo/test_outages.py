from stack.demo.outages import OutageLog


def test_an_outage_is_logged_once_and_so_is_its_end() -> None:
    health = OutageLog("sending")
    assert health.report_up(0) is None
    assert (
        health.report_down("connection refused", 1_000) == "sending: connection refused; retrying"
    )
    assert health.report_down("connection refused", 2_000) is None
    assert health.report_up(9_000) == "sending: back after 8 s"
    assert health.report_up(9_001) is None
    assert health.report_down("again", 10_000) is not None
