import threading

from stack.demo.groups import BATCH, Member
from stack.demo.topics import SLOW


class Asked:
    """A consumer that notes how many records it is asked for."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def consume(self, count: int, timeout: float) -> list[object]:
        self.counts.append(count)
        return []


def test_a_rate_limited_member_consumes_as_many_records_as_allowed() -> None:
    allowed = iter([10 * BATCH, 3])
    member = Member("127.0.0.1:1", SLOW, 1, threading.Event(), record_limit=lambda _: next(allowed))
    consumer = Asked()
    member._read_once(consumer)
    member._read_once(consumer)
    assert consumer.counts == [10 * BATCH, 3]
