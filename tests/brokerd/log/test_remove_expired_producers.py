"""When idempotent producers are looked at that write nothing any more."""

from brokerd.log.remove_expired_producers import SLICE, ProducerExpiry


class Log:
    """Notes what it is told to forget."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def remove_expired_producers(self, until_ms: int) -> None:
        self.told.append(until_ms)


def test_a_round_that_takes_longer_than_the_interval_is_ended_before_the_next() -> None:
    logs = [Log() for _ in range(3 * SLICE)]
    expiry = ProducerExpiry(lambda: logs, expiration_ms=100, interval_ms=1)
    for now_ms in range(1000, 1000 + 2 * 4 * 1000, 1000):
        expiry.tick(now_ms)
    assert [len(log.told) for log in logs] == [2] * len(logs)


def test_every_log_is_looked_at_once_an_interval_in_slices() -> None:
    logs = [Log() for _ in range(SLICE + 3)]
    expiry = ProducerExpiry(lambda: logs, expiration_ms=100, interval_ms=50)
    expiry.tick(1000)
    assert [len(log.told) for log in logs] == [1] * SLICE + [0] * 3
    expiry.tick(1010)
    assert logs[0].told == [900]
    assert logs[-1].told == [910]
    expiry.tick(1049)
    assert all(len(log.told) == 1 for log in logs)
    expiry.expiration_ms = 10
    expiry.tick(1050)
    assert logs[0].told == [900, 1040]
