import pytest

from monitoring.gateway import request_timeouts
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.brokerd_admin_urls import LOOPBACK, AdminUrls
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused, Unsupported
from monitoring.gateway.gateway import for_cluster
from tests.support.hostile_http import MIB, answering, json_answer, memory_below, zstd_bomb

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic(live_cluster):
    metadata = for_cluster(live_cluster.row()).wire.metadata()
    if "segments.some" not in metadata.topics:
        live_cluster.create_topic("segments.some", 1)
        live_cluster.produce("segments.some", {0: 10})
        metadata = for_cluster(live_cluster.row()).wire.metadata()
    return int(metadata.leaders[metadata.rows_by_topic["segments.some"].start]), "segments.some"


def test_the_files_of_a_partition_are_reported(live_cluster, topic):
    leader, name = topic
    with for_cluster(live_cluster.row()) as gateway:
        told = gateway.brokerd_admin.segments(leader, name, 0, with_samples=True)
        batches = gateway.brokerd_admin.batches(leader, name, 0, 0, 0, 5)
        index = gateway.brokerd_admin.index(leader, name, 0, 0, "offset", 0, 5)
        steps = gateway.brokerd_admin.segments(leader, name, 0, offset=7)["look_up"]
        by_time = gateway.brokerd_admin.segments(leader, name, 0, offset=0, at_ms=0)["look_up"]
        outside = gateway.brokerd_admin.segments(leader, name, 0, offset=10)["look_up"]
    [segment] = told["segments"]
    ends = ("log_start_offset", "last_stable_offset", "high_watermark", "log_end_offset")
    assert [told[name] for name in ends] == [0, 10, 10, 10]
    sample = segment["compression"]
    assert sample["codecs"] == ["none"]
    assert sample["size_bytes"] == sample["uncompressed_bytes"] == segment["size_bytes"]
    assert (segment["base_offset"], segment["next_offset"]) == (0, 10)
    assert sum(batch["count"] for batch in batches["batches"]) == 10
    assert index["total"] == 0
    assert told["settings"]["cleanup.policy"] == "delete"
    assert (steps["base_offset"], steps["entry"]) == (0, None)
    assert steps["batches"][-1]["base_offset"] <= 7 <= steps["batches"][-1]["last_offset"]
    assert steps["took_us"] > 0
    assert (told["look_up"], by_time["offset"], outside) == (None, 0, None)


def test_counters_and_events_are_reported(live_cluster, topic):
    leader, _ = topic
    with for_cluster(live_cluster.row()) as gateway:
        assert gateway.brokerd_admin.broker(leader)["broker_id"] == leader
        assert gateway.brokerd_admin.events(leader, 0, 200)["events"]


def test_segments_of_an_unknown_topic_raise_not_found(live_cluster, topic):
    with for_cluster(live_cluster.row()) as gateway, pytest.raises(NotFound):
        gateway.brokerd_admin.segments(topic[0], "no.such.topic", 0)


def test_a_broker_without_an_admin_url_raises_unsupported(live_cluster):
    with for_cluster(live_cluster.row(admin_urls={})) as gateway:
        with pytest.raises(Unsupported, match="no admin address"):
            gateway.brokerd_admin.broker(1)


def test_a_wrong_token_is_reported_and_not_shown(live_cluster):
    row = live_cluster.row()
    row.set_admin_token("wr0ng")
    with for_cluster(row) as gateway, pytest.raises(Refused, match="token") as caught:
        gateway.brokerd_admin.broker(1)
    assert "wr0ng" not in str(caught.value)


def test_a_token_that_cannot_be_decrypted_is_reported(live_cluster):
    with for_cluster(live_cluster.row(admin_token="sealed with a lost key")) as gateway:
        with pytest.raises(Refused, match="AERIE_SECRET_KEY_FILE"):
            gateway.brokerd_admin.broker(1)


@pytest.mark.django_db
def test_a_private_address_must_be_allowed(live_cluster, settings):
    settings.AERIE_EGRESS_ALLOW = []
    with for_cluster(live_cluster.row()) as gateway:
        with pytest.raises(Refused, match="AERIE_EGRESS_ALLOW"):
            gateway.brokerd_admin.broker(1)


def test_an_admin_port_that_is_closed_is_unavailable(live_cluster):
    row = live_cluster.row(admin_urls={"1": "http://127.0.0.1:1"})
    with for_cluster(row) as gateway, pytest.raises(ClusterUnavailable):
        gateway.brokerd_admin.broker(1)


@pytest.fixture
def hostile_admin():
    """Makes a BrokerdAdmin for a port of this machine."""
    made = []

    def admin(port):
        urls = AdminUrls({"1": f"http://127.0.0.1:{port}"}, "token", (LOOPBACK,))
        made.append(BrokerdAdmin(urls))
        return made[-1]

    yield admin
    for one in made:
        one.close()


def test_a_compressed_answer_is_refused_without_decoding(hostile_admin):
    with answering(zstd_bomb()) as (port, _), memory_below(64 * MIB):
        with pytest.raises(Refused, match="zstd"):
            hostile_admin(port).broker(1)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[" + b"[]," * 2_000_000 + b"0]"])
def test_json_that_needs_too_much_memory_is_refused(hostile_admin, body):
    with answering(json_answer(body)) as (port, _), memory_below(64 * MIB):
        with pytest.raises(Refused):
            hostile_admin(port).broker(1)


def test_an_admin_port_that_answers_byte_by_byte_is_unavailable(hostile_admin, monkeypatch):
    monkeypatch.setattr(request_timeouts, "READ_S", 0.3)
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", then=b"x") as (port, _):
        with pytest.raises(ClusterUnavailable, match="timed out"):
            hostile_admin(port).broker(1)
