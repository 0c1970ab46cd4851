"""The metrics of brokers: of a real brokerd, of an exporter, and what may be wrong."""

import pytest

from monitoring.gateway import broker_metrics, request_timeouts
from monitoring.gateway.errors import ClusterUnavailable, Refused, Unsupported
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster, EgressTarget
from tests.support.hostile_http import MIB, answering, memory_below, zstd_bomb
from tests.support.ports import free_port

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _this_machine_is_allowed(settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]


def answer(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


def gateway_to(port: int, token: str = "", path: str = "/metrics") -> Gateway:
    cluster = Cluster(slug="c", metrics_urls={"7": f"http://127.0.0.1:{port}{path}"})
    cluster.set_secret("metrics_token", token)
    return for_cluster(cluster)


def test_brokerd_reports_its_metrics_at_its_admin_port(live_cluster):
    with for_cluster(live_cluster.row()) as gateway:
        text = gateway.broker_metrics.text(1)
    assert "process_start_time_seconds" in text


def test_an_exporter_gets_its_own_token_or_none():
    for token, is_sent in (("s3cret", True), ("", False)):
        with answering(answer(b"a 1\n")) as (port, heads):
            with gateway_to(port, token, "/kafka/metrics?all=1") as gateway:
                assert gateway.broker_metrics.text(7) == "a 1\n"
        head = heads[0].decode()
        assert head.startswith("GET /kafka/metrics?all=1 ")
        assert ("authorization: bearer s3cret" in head.lower()) is is_sent
        assert "text/plain;version=0.0.4" in head


def test_an_exporter_comes_before_the_admin_port(live_cluster):
    with answering(answer(b"a 1\n")) as (port, _):
        row = live_cluster.row(metrics_urls={"1": f"http://127.0.0.1:{port}/metrics"})
        with for_cluster(row) as gateway:
            assert gateway.broker_metrics.text(1) == "a 1\n"
            assert "brokerd_loop" in gateway.broker_metrics.text(2)


def test_a_broker_without_any_address_raises_unsupported():
    with for_cluster(Cluster(slug="c")) as gateway:
        with pytest.raises(Unsupported, match="neither a metrics address nor an admin address"):
            gateway.broker_metrics.text(1)


def test_an_address_must_be_public_or_allowed_for_metrics(settings):
    settings.AERIE_EGRESS_ALLOW = []
    with answering(answer(b"a 1\n")) as (port, heads), gateway_to(port) as gateway:
        EgressTarget.objects.create(host="127.0.0.1", purpose=EgressTarget.Purpose.ADMIN_PORT)
        with pytest.raises(Refused, match="AERIE_EGRESS_ALLOW"):
            gateway.broker_metrics.text(7)
        assert not heads
        EgressTarget.objects.create(host="127.0.0.1", purpose=EgressTarget.Purpose.METRICS)
        assert gateway.broker_metrics.text(7) == "a 1\n"


@pytest.mark.parametrize(
    ("status", "said"),
    [("401 Unauthorized", "refuses the token"), ("404 Not Found", "status 404. Check its path"),
     ("302 Found", "status 302")],
)  # fmt: skip
def test_an_error_status_says_what_to_do(status, said):
    with answering(answer(b"", status)) as (port, _), gateway_to(port, "s3cret") as gateway:
        with pytest.raises(Refused, match=said) as caught:
            gateway.broker_metrics.text(7)
    assert "s3cret" not in str(caught.value)


def test_a_closed_port_is_unavailable():
    with gateway_to(free_port()) as gateway:
        with pytest.raises(
            ClusterUnavailable, match=r"no connection could be made, .*Check its host"
        ):
            gateway.broker_metrics.text(7)


def test_an_exporter_that_answers_byte_by_byte_is_unavailable(monkeypatch):
    monkeypatch.setattr(request_timeouts, "METRICS_READ_S", 0.3)
    slow = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
    with answering(slow, then=b"x") as (port, _), gateway_to(port) as gateway:
        with pytest.raises(ClusterUnavailable, match="does not answer within"):
            gateway.broker_metrics.text(7)


def test_a_bomb_and_a_large_answer_are_refused(monkeypatch):
    with answering(zstd_bomb()) as (port, _), gateway_to(port) as gateway, memory_below(64 * MIB):
        with pytest.raises(Refused, match="zstd"):
            gateway.broker_metrics.text(7)
    monkeypatch.setattr(broker_metrics, "ANSWER_BYTES_MAX", 1000)
    with answering(answer(b"x" * 1001)) as (port, _), gateway_to(port) as gateway:
        with pytest.raises(Refused, match="more than 1000 bytes"):
            gateway.broker_metrics.text(7)


def test_a_token_that_cannot_be_decrypted_is_reported():
    row = Cluster(slug="c", metrics_urls={"7": "http://127.0.0.1:1"}, metrics_token="lost key")
    with for_cluster(row) as gateway, pytest.raises(Refused, match="AERIE_SECRET_KEY_FILE"):
        gateway.broker_metrics.text(7)
