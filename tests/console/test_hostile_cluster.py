"""What people see of a cluster whose answers end the process that reads them, or do not parse."""

import pytest

from monitoring.gateway.wire import configs, list_offsets, metadata
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


def test_a_change_says_that_the_answers_could_not_be_read(hostile, client_of, admin):
    answer = client_of(admin).post(f"{TOPIC}/add-partitions", {"total": 5})
    assert answer.status_code == 503
    assert "answers could not be read" in answer.content.decode()
    assert client_of(admin).get("/c/local/topics").status_code == 200


@pytest.mark.parametrize(
    ("path", "api_key", "status", "why"),
    [
        ("messages", list_offsets.API_KEY, 503, "Partition 0 could not be read"),
        ("messages/0/3/value", list_offsets.API_KEY, 503, "Partition 0"),
        ("messages", metadata.API_KEY, 422, "does not speak Kafka"),
        ("config", configs.DESCRIBE_KEY, 503, "An answer does not parse"),
    ],
)
def test_a_page_says_that_an_answer_does_not_parse(
    sampled, client_of, admin, path, api_key, status, why
):
    answers = a_cluster_of_one("orders") | {api_key: lambda _port: b"\x00\x00\x00\x00\xff"}
    with hostile_broker(answers) as port:
        sampled[0].bootstrap_servers = f"127.0.0.1:{port}"
        sampled[0].save()
        answer = client_of(admin).get(f"{TOPIC}/{path}")
    assert answer.status_code == status
    assert why in answer.content.decode()
