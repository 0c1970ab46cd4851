"""The segments of a partition, asked of a real broker."""

import math
import re
import uuid

import pytest

from console.records.models import MaskingRule
from console.segments import find_batches_by_fetch, read_segments, segment_content
from console.segments.retention import Retention
from monitoring import readiness_checks
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.log_offsets import LogOffsets
from monitoring.models import Cluster
from monitoring.spark.probe import SparkProbe
from tests.console.conftest import GROUPS, PARTITIONS, a_user, sample, sample_next
from tests.support.live_cluster import LiveCluster
from tests.support.ports import free_port

LOST = {"leader": -1, "replicas": [9], "isr": [9]}
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
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    known = PARTITIONS[0] | OFFSETS | {"topic": topic, "leader": leader, "replicas": [leader]}
    sample("local", partitions=[known, known | {"partition": 1} | LOST])
    return f"/c/local/topics/{topic}/partitions/0/segments"


def test_segment_files_are_listed_with_links(place, client_of, viewer):
    client = client_of(viewer)
    page = client.get(place).content.decode()
    assert "00000000000000000000.log" in page
    assert f"{place}/0" in page
    for kind, text in (("batches", "Codec"), ("offset", "No index entries"), ("time", "")):
        answer = client.get(f"{place}/0?show={kind}")
        assert answer.status_code == 200
        assert text in answer.content.decode()
        for suffix in ("log", "index", "timeindex"):
            assert f"<code>00000000000000000000.{suffix}</code>" in answer.content.decode()


def test_the_log_is_drawn_to_scale_by_size_time_or_offsets(place, client_of, viewer):
    client = client_of(viewer)
    for query, chosen in (("", "Size"), ("?scale=time", "Time"), ("?scale=nonsense", "Size")):
        page = client.get(f"{place}{query}").content.decode()
        switch = re.search(r'scale=\w+"\s+aria-current="true">(\w+)</a>', page)[1]
        assert switch == chosen
        assert page.count("log-diagram-file is-active") == 2  # the file, and in the legend
        assert "none" in page
    page = client.get(f"{place}?offset=42&scale=offset").content.decode()
    assert "?scale=time&amp;offset=42" in page
    assert "log-diagram-file is-looked-up" in page
    assert "offset 42" in page
    assert '<input type="hidden" name="scale" value="offset">' in page, "a look-up keeps the scale"


def test_committed_offsets_of_groups_within_the_scope_are_marked(
    place, client_of, viewer, live_cluster
):
    topic = place.split("/")[4]
    group = GROUPS[0] | {"topic": topic, "partition": 0, "log_end_offset": 50}
    with live_cluster.gateway() as gateway:
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    sample_next(
        "local",
        partitions=[PARTITIONS[0] | OFFSETS | {"topic": topic, "leader": leader}],
        groups=[
            group | {"committed_offset": 25},
            group | {"group": "secret", "committed_offset": 10},
        ],
    )
    page = client_of(viewer).get(place).content.decode()
    assert "billing at 25" in page
    assert "secret at 10" in page
    scoped = client_of(a_user("scoped", "viewer", "local", groups=["bill*"]))
    page = scoped.get(place).content.decode()
    assert "billing at 25" in page
    assert "secret" not in page


def test_what_the_next_compaction_reads_is_told_of_a_compacted_log(
    db, redis_server, client_of, viewer, live_cluster, monkeypatch
):
    live_cluster.row("local").save()
    topic = f"compacted-{uuid.uuid4().hex[:8]}"
    with live_cluster.gateway() as gateway:
        configs = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.7"}
        gateway.topics.create_topic(topic, 1, 1, configs)
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    live_cluster.produce(topic, {0: 5})
    known = PARTITIONS[0] | OFFSETS | {"topic": topic, "leader": leader, "replicas": [leader]}
    sample("local", partitions=[known])
    url = f"/c/local/topics/{topic}/partitions/0/segments"
    page = client_of(viewer).get(url).content.decode()
    assert re.search(r"\b0\s\w+ were written since the last compaction", page), "all is active"
    assert "The next one begins above 70.0" in page
    answer = BrokerdAdmin.segments
    monkeypatch.setattr(
        BrokerdAdmin,
        "segments",
        lambda *args, **options: answer(*args, **options) | {"compaction": None},
    )
    page = client_of(viewer).get(url).content.decode()
    assert "written since the last compaction" not in page
    assert "Estimate what compaction would save" in page


def test_of_a_log_that_is_not_compacted_nothing_is_said_of_compaction(place, client_of, viewer):
    assert "next compaction" not in client_of(viewer).get(place).content.decode()


def test_a_broker_without_samples_leaves_compression_unknown(place, client_of, viewer, monkeypatch):
    answer = BrokerdAdmin.segments
    monkeypatch.setattr(
        BrokerdAdmin,
        "segments",
        lambda *args, **options: answer(*args, **options | {"with_samples": False}),
    )
    page = client_of(viewer).get(place)
    assert page.status_code == 200
    assert "Compression: —" in page.content.decode()
    assert "batches of each file" not in page.content.decode()


def test_index_entries_and_files_lead_to_their_records(place, client_of, viewer, live_cluster):
    messages = place.replace("/partitions/0/segments", "/messages?partition=0&amp;offset=")
    client = client_of(viewer)
    assert f"{messages}0" in client.get(place).content.decode()
    topic = place.split("/")[4]
    for _ in range(10):  # an index has an entry for every few kilobytes
        live_cluster.write(topic, [{"value": bytes(3000), "partition": 0}])
    for kind in ("offset", "time"):
        page = client.get(f"{place}/0?show={kind}").content.decode()
        found = re.findall(r"offset=(\d+)\"", page)
        assert found
        assert all(int(offset) >= 50 for offset in found)


def test_a_record_is_looked_up_by_offset_and_by_time(place, client_of, viewer):
    client = client_of(viewer)
    page = client.get(f"{place}?offset=42").content.decode()
    assert "How a record is found" in page
    assert "Open in Messages" in page
    assert "partition=0&amp;offset=42" in page
    assert re.search(r"The broker finds this offset in \d[\d.]*\u202f(µs|ms)\b", page)
    by_time = client.get(f"{place}?at=2020-01-01T00:00:00").content.decode()
    assert "Offset found" in by_time
    assert "Open in Messages" in by_time
    for query, text in (
        ("offset=50", "The log has the offsets 0 (log start) to 49 (before its end)."),
        ("at=2099-01-01T00:00:00", "No record is at or after this time"),
        ("offset=1&at=2020-01-01T00:00:00", "not both"),
    ):
        page = client.get(f"{place}?{query}").content.decode()
        assert (text in page, "Open in Messages" in page) == (True, False), query


@pytest.fixture
def place_without_admin_port(place) -> str:
    """As a cluster of Apache Kafka, whose brokers have no admin port."""
    Cluster.objects.update(admin_urls={})
    return place


def test_without_an_admin_port_the_batches_are_fetched(place_without_admin_port, client_of, viewer):
    client = client_of(viewer)
    page = client.get(place_without_admin_port).content.decode()
    assert "read from brokerd's admin port, which other brokers do not have" in page
    assert "partition=0&amp;offset=0" in page
    found = client.get(f"{place_without_admin_port}?offset=42").content.decode()
    (first,) = re.findall(r"(\d+) – \d+</a>", found)[:1]
    assert int(first) <= 42
    by_time = client.get(f"{place_without_admin_port}?at=2020-01-01T00:00:00").content.decode()
    assert "partition=0&amp;offset=0" in by_time
    for query, text in (
        ("offset=50", "The log has the offsets 0 (log start) to 49 (before its end)."),
        ("at=2099-01-01T00:00:00", "No record is at or after this time"),
    ):
        page = client.get(f"{place_without_admin_port}?{query}").content.decode()
        assert (text in page, "<td>" in page) == (True, False), query


def test_fetched_batches_say_where_they_are_in_the_log_and_lead_to_the_later_ones(
    place_without_admin_port, client_of, viewer, live_cluster, monkeypatch
):
    for _batch in range(2):
        live_cluster.produce(place_without_admin_port.split("/")[4], {0: 50})
    monkeypatch.setattr(find_batches_by_fetch, "_FETCH_BYTES", 1)  # a Fetch returns one batch
    client = client_of(viewer)

    def text_of(query: str) -> str:
        page = client.get(f"{place_without_admin_port}{query}").content.decode()
        return " ".join(page.split())

    newest = text_of("")
    assert "to 149 of a log that ends before 150, in the order of the log" in newest
    assert "Later batches" not in newest
    first = text_of("?offset=0")
    assert "Offsets 0 to" in first
    assert "Newest batches" in first
    (later,) = re.findall(r'href="\?offset=(\d+)">Later batches', first)
    assert f"Offsets {later} to" in text_of(f"?offset={later}")


def test_the_codecs_are_said_to_be_of_the_first_batches(place, client_of, viewer):
    page = " ".join(client_of(viewer).get(place).content.decode().split())
    assert "of the first 8 batches of each file; later ones may have other codecs" in page


def test_sizes_of_fetched_batches_are_rounded_where_records_are_masked(
    place_without_admin_port, client_of, viewer
):
    topic = place_without_admin_port.split("/")[4]
    cluster = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=cluster, topic_pattern=topic, target="value")
    page = client_of(viewer).get(place_without_admin_port).content.decode()
    assert re.search(r"about [\d.]+\u202fK?i?B", page)


def test_the_log_is_drawn_also_if_a_look_up_fails(place, client_of, viewer, monkeypatch):
    def fail(*args):
        raise ClusterUnavailable("broker 1 does not answer")

    monkeypatch.setattr(LogOffsets, "at_time", fail)
    answer = client_of(viewer).get(f"{place}?at=2020-01-01T00:00:00")
    assert answer.status_code == 503
    assert "Broker 1 does not answer" in answer.content.decode()
    assert "log-diagram-file is-active" in answer.content.decode()
    assert 'aria-current="true">Size</a>' in answer.content.decode()


def test_the_log_is_drawn_also_if_a_look_up_finds_nothing(place, client_of, viewer):
    answer = client_of(viewer).get(f"{place}?offset=4200")
    assert "The log has the offsets" in answer.content.decode()
    assert "log-diagram-file is-active" in answer.content.decode()
    assert 'aria-current="true">Size</a>' in answer.content.decode()


@pytest.mark.usefixtures("place")
def test_no_file_is_due_if_the_settings_of_the_topic_cannot_be_read():
    cluster = Cluster.objects.get(slug="local")
    assert read_segments.read_retention(cluster, "no-such-topic") == Retention()


@pytest.mark.parametrize(
    ("start", "status"), [("x", 200), ("-5", 200), ("9" * 30, 422), ("100000", 422)]
)
def test_an_invalid_start_is_ignored_or_reported(place, client_of, viewer, start, status):
    answer = client_of(viewer).get(f"{place}/0?start={start}&show=nonsense")
    assert answer.status_code == status
    assert ("no batch at position" in answer.content.decode()) == (status == 422)


def test_positions_of_masked_records_are_not_looked_up(place, client_of, viewer):
    topic = place.split("/")[4]
    cluster = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=cluster, topic_pattern=topic, target="value")
    page = client_of(viewer).get(f"{place}?offset=42").content.decode()
    assert "How a record is found" not in page
    assert "Open in Messages" not in page


def sizes_of(page: str) -> set[str]:
    """The sizes that a page writes, as it writes them."""
    return set(re.findall(r"(?:about )?[\d.]+\u202f(?:B|KiB|MiB)\b", page))


@pytest.fixture
def _covered(place) -> None:
    cluster = Cluster.objects.get(slug="local")
    MaskingRule.objects.create(cluster=cluster, topic_pattern="files-*", target="value")


@pytest.mark.usefixtures("_covered")
def test_with_masked_records_sizes_are_rounded_and_positions_hidden(
    place, client_of, viewer, admin
):
    for path in (place, f"{place}/0"):
        whole, rough = (client_of(user).get(path).content.decode() for user in (admin, viewer))
        assert "Parts of these records are masked" in rough
        assert "Parts of these records are masked" not in whole
        assert sizes_of(rough)
        for size in sizes_of(rough):
            number = float(re.search(r"[\d.]+", size)[0])
            assert size.startswith("about ")
            assert number == 0 or math.log2(number).is_integer()
        assert not any(size.startswith("about ") for size in sizes_of(whole))
    where = r"<td>([^<]+)</td>\s*<td>(?:about )?[\d.]+\u202f"
    assert re.findall(where, whole)[0] == "0"
    assert set(re.findall(where, rough)) == {"—"}


@pytest.mark.usefixtures("_covered")
def test_with_masked_records_paging_does_not_reveal_positions(
    place, client_of, viewer, admin, monkeypatch
):
    monkeypatch.setattr(segment_content, "PAGE_SIZE", 40)  # four digits are in no time by chance
    client = client_of(viewer)
    rest = client.get(f"{place}/0").content.decode()
    [more] = re.findall(r'\?show=batches&amp;start=([^"]+)">More', rest)
    [position] = re.findall(
        r'start=(\d+)">More', client_of(admin).get(f"{place}/0").content.decode()
    )
    assert not more.isdigit()
    assert position not in rest
    assert client.get(f"{place}/0?start={more}").status_code == 200
    assert "From the beginning" in client.get(f"{place}/0?start={more}").content.decode()
    for guess in (position, str(int(position) + 1), "x", more[:-2]):
        answer = client.get(f"{place}/0?start={guess}")
        assert answer.status_code == 200
        assert "From the beginning" not in answer.content.decode(), "it is no way to try one out"


def test_a_start_after_the_last_index_entry_is_reported(place, client_of, viewer):
    for kind in ("offset", "time"):
        answer = client_of(viewer).get(f"{place}/0?show={kind}&start=99999")
        assert answer.status_code == 200
        assert "No entries from here on" in answer.content.decode()


def test_an_unknown_segment_or_partition_is_404(place, client_of, viewer):
    client = client_of(viewer)
    for base_offset in (77, 2**63, 10**30):
        answer = client.get(f"{place}/{base_offset}")
        assert answer.status_code == 404
        assert "has no segment that begins at" in answer.content.decode()
    for partition in (9, 2**31, 10**30):
        assert client.get(place.replace("/0/", f"/{partition}/")).status_code == 404
    for wrong in ("-1", "x"):
        assert client.get(place.replace("/0/", f"/{wrong}/")).status_code == 404


def test_a_partition_without_leader_is_reported_and_no_broker_is_queried(place, client_of, viewer):
    for path in (place.replace("/0/", "/1/"), place.replace("/0/", "/1/") + "/0"):
        answer = client_of(viewer).get(path)
        assert answer.status_code == 503
        page = answer.content.decode()
        assert "Partition 1 has no leader. Broker 9 is down" in page
        assert "broker -1" not in page


def test_the_segments_of_an_unknown_topic_are_404(sampled, client_of, viewer):
    for topic in ("nothing", "console.audit"):
        answer = client_of(viewer).get(f"/c/local/topics/{topic}/partitions/0/segments")
        assert answer.status_code == 404
        assert f"There is no topic “{topic}”." in answer.content.decode()


@pytest.fixture
def no_spark(settings, monkeypatch):
    """No Spark: what listens on the default port of this machine is not asked."""
    settings.SPARK_CONNECT_PORT = free_port()
    monkeypatch.setattr(readiness_checks, "spark_probe", SparkProbe())


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(("role", "is_led_on"), [("viewer", False), ("admin", True)])
def test_a_broker_without_admin_port_shows_what_to_do(sampled, client_of, request, role, is_led_on):
    client = client_of(request.getfixturevalue(role))
    page = client.get("/c/local/topics/orders/partitions/0/segments/0").content.decode()
    assert "Segments are not available" in page
    assert "alert-danger" not in page
    assert ("/clusters/local/edit" in page) == is_led_on
