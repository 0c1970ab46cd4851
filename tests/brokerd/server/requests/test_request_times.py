"""How long requests took: once for a receive, on its own for one that waits; slow ones are told."""

from typing import Any, cast

import pytest

from brokerd.metric_counters import FETCH, PRODUCE, BrokerMetrics, LoopTimes
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import RequestHeader
from brokerd.server.network.connection import Connection
from brokerd.server.requests import request_times
from brokerd.server.requests.request_times import RequestTimes, api_name


class Client:
    """Stands for a connection: when it received last, and what."""

    def __init__(self, active_at: float) -> None:
        self.active_at = active_at
        self.peer_host = "10.0.0.7"
        self.last_header = RequestHeader(ApiKey.METADATA, 9, 1, "shop", 0)


class Served:
    """Request times under a clock that is set by hand, seconds since the loop woke at 100."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, slow_s: float = 1.0, timed_of: int = 1
    ) -> None:
        self.now_s = 100.0
        monkeypatch.setattr(request_times, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(request_times, "TIMED_OF", timed_of)
        loop = LoopTimes()
        loop.woke_s = 100.0
        self.metrics = BrokerMetrics(loop)
        self.times = RequestTimes(self.metrics, slow_s)

    def client(self, active_s: float = 0.0) -> Connection:
        return cast(Connection, Client(100.0 + active_s))

    def receive(self, start_s: float, end_s: float) -> None:
        self.now_s = 100.0 + end_s
        self.times.receive_ends(self.client(start_s), 100.0 + start_s)

    def told(self, api: int, part: str) -> dict[float, int]:
        """The buckets of a histogram that have anything in them, by bound."""
        found = self.metrics.api(api).histogram(part)
        bounds = (*found.bounds, float("inf"))
        return {bound: count for bound, count in zip(bounds, found.counts, strict=True) if count}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    return Served(monkeypatch)


def test_the_requests_of_one_receive_share_its_times(served: Served) -> None:
    served.times.produces = 7
    served.receive(0.003, 0.0034)
    assert served.told(PRODUCE, "queue") == {0.005: 7}
    assert served.told(PRODUCE, "local") == {0.0005: 7}
    assert served.told(PRODUCE, "total") == {0.005: 7}
    assert served.told(PRODUCE, "remote") == served.told(PRODUCE, "send") == {0.0001: 7}
    assert served.metrics.api(PRODUCE).histogram("total").total == pytest.approx(7 * 0.0034)
    assert served.told(FETCH, "total") == {}


def test_fast_requests_are_in_the_first_bucket_of_every_histogram(served: Served) -> None:
    for _ in range(3):
        served.times.others.append(FETCH)
        served.times.other_bytes += 60
        served.receive(0.00002, 0.00007)
    found = served.metrics.api(FETCH)
    assert (found.requests, found.request_bytes) == (3, 180)
    for part in ("queue", "local", "remote", "send", "total"):
        assert served.told(FETCH, part) == {0.0001: 3}
    assert found.histogram("total").total == pytest.approx(3 * 0.00007)


def test_a_receive_of_different_requests_is_counted_for_each_api(served: Served) -> None:
    served.times.others += [FETCH, ApiKey.METADATA, FETCH]
    served.times.other_bytes = 300
    served.times.produces = 2
    served.receive(0, 0.004)
    counts = {api: times.requests for api, times in served.metrics.apis.items()}
    assert counts == {PRODUCE: 2, FETCH: 2, ApiKey.METADATA: 1}
    assert served.metrics.api(FETCH).request_bytes == 200
    served.receive(0, 0.005)
    assert {api: times.requests for api, times in served.metrics.apis.items()} == counts


def test_one_of_many_fast_requests_is_timed_and_stands_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch, timed_of=4)
    for end_s in (0.0003, 0.0007, 0.0003, 0.0015):
        served.times.produces = 1
        served.receive(0, end_s)
    assert served.metrics.api(PRODUCE).requests == 4
    assert served.told(PRODUCE, "local") == {0.002: 4}


def test_a_slow_one_stands_for_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(monkeypatch, timed_of=4)
    for end_s in (0.00005, 0.00005, 0.4, 0.00005, 0.00005):
        served.times.produces = 1
        served.receive(0, end_s)
    assert served.told(PRODUCE, "local") == {0.0001: 4, 0.5: 1}


def test_a_receive_of_many_requests_is_always_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(monkeypatch, timed_of=4)
    served.times.produces = 64
    served.receive(0, 0.0015)
    assert served.told(PRODUCE, "local") == {0.002: 64}


def test_a_request_that_waits_leaves_its_receive_and_is_counted_when_answered(
    served: Served,
) -> None:
    client = served.client(0.001)
    served.times.others += [FETCH, FETCH]
    served.times.other_bytes = 90
    served.now_s = 100.002
    waiting = served.times.begin_wait(client, FETCH)
    served.receive(0.001, 0.003)
    assert served.metrics.api(FETCH).requests == 1
    served.now_s = 100.402
    served.times.answered(client, waiting)
    assert served.told(FETCH, "remote") == {0.0001: 1, 0.5: 1}
    assert served.told(FETCH, "total") == {0.005: 1, 0.5: 1}
    assert (served.metrics.api(FETCH).requests, served.metrics.api(FETCH).request_bytes) == (2, 90)


def test_the_bytes_of_a_request_that_waits_alone_are_its_own(served: Served) -> None:
    served.times.others.append(ApiKey.CREATE_TOPICS)
    served.times.other_bytes = 70
    waiting = served.times.begin_wait(served.client(), ApiKey.CREATE_TOPICS)
    served.receive(0, 0.001)
    served.times.answered(served.client(), waiting)
    assert served.metrics.api(ApiKey.CREATE_TOPICS).request_bytes == 70
    assert served.times.other_bytes == 0


def test_a_key_that_no_api_has_takes_no_more_room_than_one(served: Served) -> None:
    for key in (-5, 999, 12_345):
        served.times.others.append(key)
        served.receive(0, 0.001)
    assert served.metrics.api(31_000).requests == 3
    assert len(served.metrics.apis) == 3
    assert (api_name(-1), api_name(ApiKey.LIST_OFFSETS)) == ("Unknown", "ListOffsets")


def test_without_a_selector_that_notes_anything_no_request_was_in_a_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served = Served(monkeypatch)
    served.metrics.loop.woke_s = -1.0
    served.times.produces = 1
    served.receive(50, 50.001)
    assert served.told(PRODUCE, "queue") == {0.0001: 1}


def test_a_slow_request_is_told_with_its_client_but_not_every_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    served = Served(monkeypatch, slow_s=0.2)
    for start_s in (0.0, 1.0, 2.0, 20.0):
        served.times.others.append(ApiKey.METADATA)
        served.receive(start_s, start_s + 0.3)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert lines[0].startswith("a slow request: Metadata of client 'shop' at 10.0.0.7 took 300 ms")
    assert lines[1].endswith("; 2 more since the last such line")


@pytest.mark.parametrize(
    ("key", "is_told"), [(FETCH, False), (ApiKey.JOIN_GROUP, False), (ApiKey.CREATE_TOPICS, True)]
)
def test_waiting_for_what_was_asked_for_is_not_slow(
    served: Served, caplog: pytest.LogCaptureFixture, key: int, is_told: bool
) -> None:
    client: Any = served.client()
    served.times.others.append(key)
    waiting = served.times.begin_wait(client, key)
    served.now_s = 130.0
    served.times.answered(client, waiting)
    assert bool(caplog.records) == is_told
