"""The estimate of what compaction would save, of a real broker."""

import json
import re
import uuid

import pytest
from confluent_kafka import Producer

from console.records.models import MaskingRule
from monitoring.models import Cluster
from tests.console.conftest import PARTITIONS, a_user, content_of, sample
from tests.support.live_cluster import LiveCluster

COMPACTED = {
    "cleanup.policy": "compact", "segment.bytes": "2000",
    "min.compaction.lag.ms": "1", "min.cleanable.dirty.ratio": "1.0",
}  # fmt: skip


@pytest.fixture
def place(db, redis_server, live_cluster: LiveCluster, request) -> str:
    """The URL of the segments of a partition: 40 records of 4 keys, in segments of about 10."""
    settings = getattr(request, "param", COMPACTED)
    live_cluster.row("local").save()
    topic = f"compacted-{uuid.uuid4().hex[:8]}"
    with live_cluster.gateway() as gateway:
        gateway.topics.create_topic(topic, 1, 1, settings)
    producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
    for number in range(40):
        producer.produce(topic, b"x" * 100, b"key-%d" % (number % 4), partition=0)
        assert producer.flush(60) == 0
    with live_cluster.gateway() as gateway:
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    known = {"topic": topic, "leader": leader, "replicas": [leader], "log_end_offset": 40}
    sample("local", partitions=[PARTITIONS[0] | known | {"log_start_offset": 0}])
    return f"/c/local/topics/{topic}/partitions/0/segments"


def answer(client, place: str) -> list[dict[str, str]]:
    response = client.get(f"{place}/estimate")
    assert response.status_code == 200, response.content
    return [json.loads(line) for line in content_of(response).splitlines()]


def test_the_last_line_says_what_compaction_would_save(place, client_of, viewer):
    page = client_of(viewer).get(place).content.decode()
    assert "Estimate what compaction would save" in page
    assert f"{place}/estimate" not in page, "it begins only when it is asked for"
    assert f"{place}/estimate" in client_of(viewer).get(f"{place}?estimate=1").content.decode()
    last = answer(client_of(viewer), place)[-1]
    assert last["end"] == "complete"
    assert "Compaction would save" in last["progress"]
    assert "The active segment is left out" in last["progress"]
    assert re.search(r">4</\w+>\s*distinct keys|4\s*distinct keys", last["progress"])


@pytest.mark.parametrize(("target", "status"), [("key", 403), ("value", 200)])
def test_who_does_not_see_the_keys_gets_no_estimate_and_who_sees_less_rounded_sizes(
    place, client_of, viewer, target, status
):
    local = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=local, topic_pattern="compacted-*", target=target)
    client = client_of(viewer)
    if status == 403:
        assert client.get(f"{place}/estimate").status_code == 403
    page = client.get(f"{place}?estimate=1").content.decode()
    assert (f"{place}/estimate" in page) == (status == 200)
    if status == 200:
        progress = answer(client, place)[-1]["progress"]
        assert "about" in progress
        assert "%" not in progress.partition("Compaction would save")[2]


def test_a_topic_outside_of_the_scope_is_not_found(place, client_of):
    outsider = a_user("elsewhere", "viewer", topics=["other"])
    assert client_of(outsider).get(f"{place}/estimate").status_code == 404


@pytest.mark.parametrize("place", [{}], indirect=True)
def test_a_topic_that_is_not_compacted_is_a_clear_error(place, client_of, viewer):
    answered = client_of(viewer).get(f"{place}/estimate")
    assert answered.status_code == 422
    assert "does not include compact" in answered.json()["error"]
    page = client_of(viewer).get(place).content.decode()
    assert "Estimate what compaction would save" not in page
