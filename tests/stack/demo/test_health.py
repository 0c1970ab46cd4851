from stack.demo.health import Health


def test_being_away_is_said_once_and_so_is_coming_back() -> None:
    health = Health("sending")
    assert health.back(0) is None
    assert health.away("connection refused", 1_000) == "sending: connection refused; trying on"
    assert health.away("connection refused", 2_000) is None
    assert health.back(9_000) == "sending: back after 8 s"
    assert health.back(9_001) is None
    assert health.away("again", 10_000) is not None
