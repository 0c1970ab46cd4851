"""What people see of a cluster whose answers end the process that reads them."""

import pytest

from tests.monitoring.gateway.wire.answers import a_cluster_of_one
from tests.support.hostile_broker import hostile_broker

TOPIC = "/c/local/topics/orders"


@pytest.fixture
def hostile(sampled):
    """`local`, whose broker announces versions that it does not speak."""
    with hostile_broker(a_cluster_of_one("orders")) as port:
        cluster = sampled[0]
        cluster.bootstrap_servers = f"127.0.0.1:{port}"
        cluster.save()
        yield cluster


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        (f"{TOPIC}/messages", None),
        (f"{TOPIC}/messages/0/3/value", None),
        (f"{TOPIC}/config", None),
        (f"{TOPIC}/add-partitions", {"total": 5}),
    ],
)
def test_a_page_that_needs_its_answers_says_that_they_could_not_be_read(
    hostile, client_of, admin, url, sent
):
    browser = client_of(admin)
    answer = browser.get(url) if sent is None else browser.post(url, sent)
    assert answer.status_code == 503
    assert "answers could not be read" in answer.content.decode()
    assert browser.get("/c/local/topics").status_code == 200
