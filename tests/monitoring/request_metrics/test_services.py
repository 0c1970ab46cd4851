"""Readings of a real broker, shared by all who look."""

import pytest

from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.request_metrics import services
from tests.monitoring.request_metrics.metrics_of_kafka import kafka_text
from tests.support.hostile_http import answering
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db


class Clock:
    """The clock of the service, some seconds ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = services.now_ms
        self.ahead_ms = 0
        monkeypatch.setattr(services, "now_ms", lambda: self._real() + self.ahead_ms)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    return Clock(monkeypatch)


def answer(text: str) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text.encode())


def test_requests_of_a_real_brokerd_since_its_start_and_in_the_last_seconds(
    live_cluster, redis_server, clock
):
    row = live_cluster.row()
    topic = "requests.counted"
    live_cluster.write_once(topic, 1, [{"value": b"v", "partition": 0}])
    with for_cluster(row) as gateway:
        leader = gateway.admin.describe_topic(topic).partitions[0].leader
        found = services.read(gateway, "live", leader)
        assert found.is_since_start
        rows = {each.api: each for each in found.rows}
        for api in ("Produce", "ApiVersions"):
            total = rows[api].times["total"]
            assert 0 < total.p50 <= total.p99, api
            assert total.mean > 0
            assert rows[api].requests > 0
            assert rows[api].bytes_in > 0
            assert rows[api].errors is not None
        clock.ahead_ms = 10_000
        live_cluster.produce(topic, {0: 20})
        # A request is counted after its answer.
        wait_until(lambda: _produces(gateway, leader) > 0, "Produce is counted", deadline_s=30)
        assert services.read(gateway, "live", leader, since_start=True).is_since_start


def _produces(gateway, leader) -> float:
    found = services.read(gateway, "live", leader)
    assert not found.is_since_start
    return next(each.requests for each in found.rows if each.api == "Produce")


def test_a_broker_is_asked_once_for_all_who_look_within_two_seconds(redis_server, clock):
    with answering(answer(kafka_text(100))) as (port, heads):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway:
            first, second = (services.read(gateway, "c", 1) for _ in range(2))
            assert (first.at_ms, len(heads)) == (second.at_ms, 1)
            clock.ahead_ms = 3_000
            assert services.read(gateway, "c", 1).at_ms >= first.at_ms + 3_000
    assert len(heads) == 2


def test_without_redis_the_figures_are_since_the_start(redis_server, monkeypatch, clock, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with answering(answer(kafka_text(100))) as (port, _):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway:
            for clock.ahead_ms in (0, 10_000):
                assert services.read(gateway, "c", 1).is_since_start


@pytest.mark.parametrize(
    ("text", "said"),
    [("<html>", "not answer in Prometheus' text format: line 1"),
     ("jvm_threads_current 9\n", "have no kafka_network_requestmetrics_")],
)  # fmt: skip
def test_other_texts_are_refused_with_what_to_do(redis_server, text, said):
    with answering(answer(text)) as (port, _):
        row = Cluster(slug="c", metrics_urls={"1": f"http://127.0.0.1:{port}"})
        with for_cluster(row) as gateway, pytest.raises(Refused, match=said):
            services.read(gateway, "c", 1)
