"""The segments of a partition, asked of a real broker."""

import uuid

import pytest

from console.segments.services import bars
from tests.console.conftest import PARTITIONS, sample
from tests.support.live_cluster import LiveCluster

OFFSETS = {"log_start_offset": 0, "log_end_offset": 50}


@pytest.fixture
def place(db, redis_server, live_cluster: LiveCluster) -> str:
    """The URL of the segments of a partition with 50 records; the last tick knows its leader."""
    row = live_cluster.row("local")
    row.save()
    topic = f"files-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 1)
    live_cluster.produce(topic, {0: 50})
    with live_cluster.gateway() as gateway:
        leader = gateway.admin.describe_topic(topic).partitions[0].leader
    known = PARTITIONS[0] | OFFSETS | {"topic": topic, "leader": leader, "replicas": [leader]}
    sample("local", partitions=[known, known | {"partition": 1, "leader": -1}])
    return f"/c/local/topics/{topic}/partitions/0/segments"


def test_the_files_are_listed_and_lead_inside(place, client_of, viewer):
    client = client_of(viewer)
    page = client.get(place).content.decode()
    assert "00000000000000000000.log" in page
    assert f"{place}/0" in page
    for kind, told in (("batches", "Codec"), ("offset", "No index entries"), ("time", "")):
        answer = client.get(f"{place}/0?show={kind}")
        assert answer.status_code == 200
        assert told in answer.content.decode()


@pytest.mark.parametrize("start", ["x", "-5", "9" * 30, "100000"])
def test_a_beginning_that_makes_no_sense_shows_a_page_and_no_error(place, client_of, viewer, start):
    assert client_of(viewer).get(f"{place}/0?start={start}&show=nonsense").status_code == 200


def test_a_segment_or_partition_that_is_not_there_is_said(place, client_of, viewer):
    client = client_of(viewer)
    assert "could not be read" in client.get(f"{place}/77").content.decode()
    assert client.get(place.replace("/0/", "/9/")).status_code == 404


@pytest.mark.parametrize(("role", "is_led_on"), [("viewer", False), ("admin", True)])
def test_a_broker_without_admin_port_is_no_error_but_a_word_on_what_to_do(
    sampled, client_of, request, role, is_led_on
):
    client = client_of(request.getfixturevalue(role))
    for path in ("segments", "segments/0"):
        page = client.get(f"/c/local/topics/orders/partitions/0/{path}").content.decode()
        assert "does not tell its segments" in page
        assert "alert-danger" not in page
        assert ("/clusters/local/edit" in page) == is_led_on


def test_segments_are_drawn_to_scale_and_none_vanishes():
    found = [
        {"base_offset": 0, "next_offset": 1, "active": False},
        {"base_offset": 1, "next_offset": 10_000, "active": True},
    ]
    drawn = bars(found)
    assert [bar.width for bar in drawn] == [0.3, 99.99]
    assert bars([]) == []
