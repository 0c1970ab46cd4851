"""Pages of segments from a log directory: of Apache Kafka, and of brokerd as if it had no admin
port."""

import re
import uuid

import pytest
from confluent_kafka import Producer

from console.records.models import MaskingRule
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.console.conftest import PARTITIONS, content_of, sample
from tests.console.segments.test_views import sizes_of

OFFSETS = {"log_start_offset": 0, "log_end_offset": 200}
SMALL = {"segment.bytes": "30000", "index.interval.bytes": "1000"}


def segments_url(cluster: Cluster, configs: dict[str, str] | None = None) -> tuple[str, int]:
    """The URL of the segments of a new topic with 200 records, and its leader."""
    topic = f"files-{uuid.uuid4().hex[:8]}"
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(topic, 1, 1, SMALL | (configs or {}))
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(200):
        producer.produce(topic, bytes(500), b"key-%d" % number, partition=0)
        if number % 5 == 4:
            assert producer.flush(30) == 0
    cluster.save()
    known = PARTITIONS[0] | OFFSETS | {"topic": topic, "leader": leader, "replicas": [leader]}
    sample(cluster.slug, partitions=[known])
    return f"/c/{cluster.slug}/topics/{topic}/partitions/0/segments", leader


def text_of(page: bytes) -> str:
    return re.sub(r"[ \n]+", " ", page.decode())


@pytest.fixture
def at_kafka(db, redis_server, shared_kafka, settings) -> str:
    """The URL of the segments of a topic of Apache Kafka, whose log directory can be read."""
    cluster = Cluster(slug="local", name="Kafka", bootstrap_servers=shared_kafka.address)
    url, leader = segments_url(cluster)
    settings.AERIE_LOG_DIRS = {("local", leader): [str(shared_kafka.logs)]}
    return url


@pytest.mark.kafka
def test_the_log_of_apache_kafka_is_drawn_from_its_log_directory(
    at_kafka, client_of, viewer, shared_kafka
):
    answer = client_of(viewer).get(at_kafka)
    page = text_of(answer.content)
    assert answer.status_code == 200
    assert f"read from the log directory of broker {shared_kafka.id} just now" in page
    assert page.count("log-diagram-file") > 3
    assert "log-diagram-file is-active" in page
    assert "of the first 8 batches of each file" in page
    assert "7 days" in page, "retention.ms"
    assert str(shared_kafka.logs) not in page


@pytest.mark.kafka
def test_files_index_entries_and_batches_of_apache_kafka_are_listed(at_kafka, client_of, viewer):
    for kind, text in (
        ("batches", "Codec"), ("offset", "Position in the file"),
        ("time", "Time"),
    ):  # fmt: skip
        answer = client_of(viewer).get(f"{at_kafka}/0?show={kind}")
        page = text_of(answer.content)
        assert answer.status_code == 200
        assert text in page
        assert "read from the log directory of broker" in page
        for suffix in ("log", "index", "timeindex"):
            assert f"<code>00000000000000000000.{suffix}</code>" in page
        assert len(re.findall(r"offset=\d+\"", page)) > 3, kind
    assert client_of(viewer).get(f"{at_kafka}/7").status_code == 404
    answer = client_of(viewer).get(f"{at_kafka}/0?start=1")
    assert answer.status_code == 422
    assert "no batch at position 1" in answer.content.decode()


@pytest.mark.kafka
def test_a_record_of_apache_kafka_is_looked_up_by_offset_and_by_time(at_kafka, client_of, viewer):
    client = client_of(viewer)
    page = text_of(client.get(f"{at_kafka}?offset=142").content)
    assert "partition=0&amp;offset=142" in page
    assert re.search(r"Read from the log directory in \d[\d.]*\u202f(µs|ms)", page)
    assert "The broker finds" not in page
    by_time = text_of(client.get(f"{at_kafka}?at=2020-01-01T00:00:00").content)
    assert "Offset found" in by_time
    assert "The time index has no entry at or before it" in by_time
    outside = text_of(client.get(f"{at_kafka}?offset=200").content)
    assert "The log has the offsets 0 (log start) to 199 (before its end)." in outside


@pytest.mark.kafka
def test_an_estimate_of_apache_kafka_reads_the_closed_segments(
    db, redis_server, shared_kafka, settings, client_of, viewer
):
    cluster = Cluster(slug="local", name="Kafka", bootstrap_servers=shared_kafka.address)
    url, leader = segments_url(cluster, {"cleanup.policy": "compact"})
    settings.AERIE_LOG_DIRS = {("local", leader): [str(shared_kafka.logs)]}
    found = content_of(client_of(viewer).get(f"{url}/estimate")).decode()
    assert "The active segment is left out" in found
    settings.AERIE_LOG_DIRS = {}
    found = content_of(client_of(viewer).get(f"{url}/estimate")).decode()
    assert "The active segment is included" in found


@pytest.fixture
def at_brokerd(db, redis_server, live_cluster, settings) -> str:
    """The URL of the segments of a topic of brokerd, whose log directory can be read."""
    url, leader = segments_url(live_cluster.row("local"))
    [broker] = [each for each in live_cluster.brokerd.brokers if each.id == leader]
    settings.AERIE_LOG_DIRS = {("local", leader): [str(broker.logs)]}
    return url


def pages(client, url: str) -> dict[str, str]:
    queries = ("", "?scale=offset", "?offset=42", "/0", "/0?show=offset", "/0?show=time")
    return {query: text_of(client.get(f"{url}{query}").content) for query in queries}


def comparable(page: str) -> str:
    """A page without the time that a look-up took, and without the distance of index entries, some
    of which brokerd has in memory only."""
    page = re.sub(r"An index entry every \S+", "", page)
    return re.sub(r"(The broker finds this offset|Read from the log directory) in [^<]+", "", page)


def test_the_admin_port_is_asked_if_the_cluster_has_one(at_brokerd, client_of, viewer):
    page = text_of(client_of(viewer).get(at_brokerd).content)
    assert "read from broker" in page
    assert "read from the log directory" not in page


def cards(page: str) -> list[str]:
    """The tables and the log's facts of a page: what the source of the figures decides."""
    return re.findall(r"<tbody>.*?</tbody>|<ul class=\"facts-line\">.*?</ul>|<ol.*?</ol>", page)


def closed_only(found: list[str]) -> list[str]:
    """Without what brokerd has of the active segment in memory only: entries of its indexes."""
    return [re.sub(r"<tr>(?:(?!</tr>).)*Active.*?</tr>", "", each) for each in found]


@pytest.mark.parametrize("role", ["viewer", "admin"])
def test_a_page_shows_the_same_from_the_log_directory_as_from_the_admin_port(
    at_brokerd, client_of, request, role
):
    cluster = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=cluster, topic_pattern="files-*", target="value")
    client = client_of(request.getfixturevalue(role))
    told = pages(client, at_brokerd)
    Cluster.objects.update(admin_urls={})
    found = pages(client, at_brokerd)
    for query in told:
        assert "read from the log directory" in found[query]
        is_masked = "Parts of these records are masked" in found[query]
        assert is_masked == (role == "viewer")
        before, after = comparable(told[query]), comparable(found[query])
        assert sizes_of(after) == sizes_of(before), query
        expected, shown = closed_only(cards(before)), closed_only(cards(after))
        assert expected
        assert shown == expected, query


def test_a_masked_user_gets_no_positions_and_no_look_up_from_a_log_directory(
    at_brokerd, client_of, viewer
):
    cluster = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=cluster, topic_pattern="files-*", target="value")
    Cluster.objects.update(admin_urls={})
    found = pages(client_of(viewer), at_brokerd)
    assert "How a record is found" not in found["?offset=42"]
    assert "Read from the log directory in" not in found["?offset=42"]
    assert re.findall(r"offset=\d+\"", found["/0?show=offset"]), "offsets are shown"
    assert set(re.findall(r"<td>(—|[\d\u202f]+)</td> </tr>", found["/0?show=offset"])) == {"—"}
    for page in found.values():
        assert all(size.startswith("about ") for size in sizes_of(page))


def test_without_the_partition_in_the_log_directory_the_batches_are_fetched(
    at_brokerd, client_of, viewer, settings, tmp_path
):
    Cluster.objects.update(admin_urls={})
    [key] = settings.AERIE_LOG_DIRS
    settings.AERIE_LOG_DIRS = {key: [str(tmp_path)]}
    answer = client_of(viewer).get(at_brokerd)
    page = text_of(answer.content)
    assert answer.status_code == 200
    assert "read from the broker by a Fetch" in page
    assert f"log directories that are set for broker {key[1]} do not have partition 0" in page
    assert str(tmp_path) not in page
    content = text_of(client_of(viewer).get(f"{at_brokerd}/0").content)
    assert "Segments are not available" in content
    assert "do not have partition 0" in content


def test_a_damaged_index_is_reported_on_its_page_only(at_brokerd, client_of, viewer, settings):
    Cluster.objects.update(admin_urls={})
    [(_key, [logs])] = settings.AERIE_LOG_DIRS.items()
    topic = at_brokerd.split("/")[4]
    name = f"{0:020d}.timeindex"
    with open(f"{logs}/{topic}-0/{name}", "ab") as file:
        file.write(b"\1")
    client = client_of(viewer)
    assert client.get(at_brokerd).status_code == 200
    assert client.get(f"{at_brokerd}/0?show=offset").status_code == 200
    answer = client.get(f"{at_brokerd}/0?show=time")
    assert answer.status_code == 503
    assert f"The file {name} is damaged: it ends within an entry" in answer.content.decode()
    assert str(logs) not in answer.content.decode()
