"""Readings of a real broker, shared by all who look."""

import pytest

from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.request_metrics import read_request_figures
from monitoring.request_metrics.figures_between_readings import ApiRow, Latency
from tests.monitoring.request_metrics.metrics_of_kafka import kafka_text
from tests.support.hostile_http import answering

pytestmark = pytest.mark.django_db


class Clock:
    """The clock of the service, some seconds ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = read_request_figures.now_ms
        self.ahead_ms = 0
        monkeypatch.setattr(read_request_figures, "now_ms", lambda: self._real() + self.ahead_ms)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def _this_machine_is_allowed(settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]


def answer(text: str) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text.encode())


def test_requests_of_a_real_brokerd_since_its_start_and_in_the_last_seconds(
    live_cluster, redis_server, clock
):
    with for_cluster(live_cluster.row()) as gateway:

        def ask_and_read(**period: bool) -> ApiRow:
            for _ in range(40):  # brokerd measures one of 16 fast requests
                for_cluster(live_cluster.row()).wire.metadata()
            found = read_request_figures.read(gateway, "live", 1, **period)
            assert found.is_since_start is period.get("since_start", clock.ahead_ms == 0)
            return next(each for each in found.rows if each.api == "Metadata")

        for clock.ahead_ms, period in ((0, {}), (10_000, {}), (20_000, {"since_start": True})):
            row = ask_and_read(**period)
            total = row.times["total"]
            assert 0 < total.p50 <= total.p99
            assert total.mean == pytest.approx(sum(each.mean for each in parts_of(row)))
            assert row.requests > 0
            assert row.bytes_in > 0
            assert row.errors == 0


def parts_of(row: ApiRow) -> list[Latency]:
    return [row.times[part] for part in ("queue", "local", "remote")]


def test_a_broker_is_asked_once_for_all_who_look_within_two_seconds(redis_server, clock):
    with answering(answer(kafka_text(100))) as (port, heads):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway:
            first, second = (read_request_figures.read(gateway, "c", 1) for _ in range(2))
            assert (first.at_ms, len(heads)) == (second.at_ms, 1)
            clock.ahead_ms = 3_000
            assert read_request_figures.read(gateway, "c", 1).at_ms >= first.at_ms + 3_000
    assert len(heads) == 2


def test_without_redis_the_figures_are_since_the_start(redis_server, monkeypatch, clock, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with answering(answer(kafka_text(100))) as (port, _):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway:
            for clock.ahead_ms in (0, 10_000):
                assert read_request_figures.read(gateway, "c", 1).is_since_start


@pytest.mark.parametrize(
    ("text", "said"),
    [("<html>", "not answer in Prometheus' text format: line 1"),
     ("jvm_threads_current 9\n", "have no kafka_network_requestmetrics_")],
)  # fmt: skip
def test_other_texts_are_refused_with_what_to_do(redis_server, text, said):
    with answering(answer(text)) as (port, _):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway, pytest.raises(Refused, match=said):
            read_request_figures.read(gateway, "c", 1)
