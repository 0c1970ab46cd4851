"""The tab of a broker's requests: figures of brokerd and of Kafka, and what is said without."""

import csv
import re

import pytest
from django.urls import reverse

from console.accounts.services import grant
from tests.console.conftest import BROKERS, sample
from tests.monitoring.request_metrics.metrics_of_kafka import kafka_text
from tests.support.hostile_http import answering

PAGE = reverse("broker-requests", args=["local", 1])


@pytest.fixture(autouse=True)
def _this_machine_is_allowed(settings):
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]


@pytest.fixture
def brokerd(db, redis_server, live_cluster):
    live_cluster.ask_each_broker()
    live_cluster.row("local").save()
    sample("local", brokers=[each | {"id": 1} for each in BROKERS])


def exporter(cluster, text: str):
    """A server with these metrics of broker 1."""
    body = text.encode()
    server = answering(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    class Exporter:
        def __enter__(self) -> None:
            port, _heads = server.__enter__()
            cluster.metrics_urls = {"1": f"http://127.0.0.1:{port}/metrics"}
            cluster.save()

        def __exit__(self, *error: object) -> None:
            server.__exit__(*error)

    return Exporter()


def headings(page: str) -> list[str]:
    found = re.findall(r'<th scope="col".*?>(.*?)</th>', page, re.S)
    return [re.sub(r"<.*?>", "", each).strip() for each in found]


def test_requests_of_brokerd_have_rates_times_and_their_parts(brokerd, client_of, viewer):
    page = client_of(viewer).get(PAGE).content.decode()
    assert headings(page) == [
        "API", "Requests", "Errors", "Bytes in", "Mean", "p50", "p99", "Queue", "Local", "Remote",
        "Response send",
    ]  # fmt: skip
    assert "ApiVersions" in page
    assert "since the broker's start" in page
    assert "estimated from brokerd's histograms" in page
    assert f'hx-get="{PAGE}" hx-trigger="every 10s"' in page


def test_requests_are_sorted_and_downloaded_as_csv(brokerd, client_of, viewer):
    answer = client_of(viewer).get(f"{PAGE}?sort=api&format=csv&over=start&parts=p99")
    head, *rows = csv.reader(answer.content.decode().splitlines())
    assert head[:4] == ["api", "requests_per_s", "errors_per_s", "bytes_in_per_s"]
    names = [row[0] for row in rows]
    assert names == sorted(names)
    assert {"ApiVersions", "Metadata"} <= set(names)


def test_requests_of_kafka_have_no_column_for_what_the_exporter_leaves_out(
    sampled, client_of, viewer
):
    with exporter(sampled[0], kafka_text(100)):
        page = client_of(viewer).get(PAGE).content.decode()
    assert headings(page) == [
        "API", "Requests", "Errors", "p50", "p99", "Queue", "Local", "Remote", "Response queue",
        "Response send",
    ]  # fmt: skip
    assert "DeleteAcls" not in page, "nobody asked for it"
    cells = [re.sub(r"\s+", " ", each) for each in re.findall(r"<td.*?>(.*?)</td>", page)]
    assert cells[0] == "Produce"
    assert cells[3:5] == ["2 ms", "40 ms"]
    assert "as the broker reports them" in page


def test_the_figure_of_the_parts_is_chosen(sampled, client_of, viewer):
    with exporter(sampled[0], kafka_text(100, mean=True)):
        client = client_of(viewer)
        for query, queue in (("", "5 ms"), ("?parts=p50", "4 ms"), ("?parts=p99", "40 ms")):
            page = client.get(PAGE + query).content.decode()
            cells = [re.sub(r"\s+", " ", each) for each in re.findall(r"<td.*?>(.*?)</td>", page)]
            assert cells[headings(page).index("Queue")] == queue


def test_a_broker_without_an_address_says_what_is_missing(sampled, client_of, viewer, admin):
    page = client_of(viewer).get(PAGE).content.decode()
    assert "Ask an admin to add the address" in page
    assert "every 10s" not in page
    page = client_of(admin).get(PAGE).content.decode()
    assert reverse("cluster-edit", args=["local"]) in page


def test_an_error_is_shown_and_asked_for_again(sampled, client_of, viewer):
    with exporter(sampled[0], "<html>"):
        answer = client_of(viewer).get(PAGE)
        assert answer.status_code == 422
        assert "does not answer in Prometheus&#x27; text format" in answer.content.decode()
        assert "every 10s" in answer.content.decode()
        again = client_of(viewer).get(PAGE, headers={"HX-Request": "true"})
        assert (again.status_code, "text format" in again.content.decode()) == (200, True)


def test_an_unknown_broker_is_not_found_and_outsiders_see_nothing(
    sampled, client_of, viewer, outsider
):
    assert client_of(viewer).get(reverse("broker-requests", args=["local", 9])).status_code == 404
    assert client_of(outsider).get(PAGE).status_code == 404
    grant(outsider, "viewer", "staging")
    assert client_of(outsider).get(PAGE).status_code == 404
