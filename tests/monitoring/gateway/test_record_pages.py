import uuid

import pytest
from confluent_kafka import Producer

from monitoring.gateway import record_pages, request_timeouts
from monitoring.gateway.errors import (
    ClusterUnavailable,
    NotFound,
    OffsetOutOfRange,
    Unreadable,
)
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.record_pages import (
    FAILED,
    NO_LEADER,
    SILENT,
    TOO_MUCH,
    RecordPage,
    UnreadPartition,
)
from monitoring.gateway.wire import list_offsets
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.models import Cluster
from tests.monitoring.gateway.wire.answers import a_cluster_of_one
from tests.support.hostile_broker import hostile_broker
from tests.support.processes import hung


@pytest.fixture
def browse(live_cluster):
    topics = for_cluster(live_cluster.row()).wire.metadata().topics
    if "browse.some" not in topics:
        live_cluster.create_topic("browse.some", 3)
        live_cluster.produce("browse.some", {0: 30, 1: 20})
    return for_cluster(live_cluster.row()).record_pages


def test_the_newest_records_of_a_partition_come_newest_first(browse):
    rows = browse.read("browse.some", 0, None, 5).rows
    assert [(row.partition, row.offset) for row in rows] == [(0, n) for n in (29, 28, 27, 26, 25)]
    assert (rows[0].key, rows[0].value, rows[0].headers) == (b"key", b"value-29", ())
    assert rows[0].timestamp_ms is not None


def test_the_newest_records_of_all_partitions_are_merged_by_time(browse):
    rows = browse.read("browse.some", None, None, 50).rows
    assert len(rows) == 50
    times = [row.timestamp_ms for row in rows]
    assert times == sorted(times, reverse=True)
    assert {row.partition for row in rows} == {0, 1}


def test_a_read_from_an_offset_returns_records_in_ascending_order(browse):
    page = browse.read("browse.some", 0, 10, 3)
    assert [row.offset for row in page.rows] == [10, 11, 12]
    assert (page.older_before, page.newer_offset) == (10, 13)


def test_a_read_before_an_offset_returns_the_newest_records_below_it(browse):
    page = browse.read("browse.some", 0, None, 3, before_offset=10)
    assert [row.offset for row in page.rows] == [9, 8, 7]
    assert (page.older_before, page.newer_offset) == (7, 10)
    assert browse.read("browse.some", 0, None, 3, before_offset=0).rows == ()
    assert browse.read("browse.some", 0, None, 1, before_offset=2**62).rows[0].offset == 29


@pytest.mark.parametrize("limit", [1, 4, 30])
def test_paging_in_both_directions_returns_every_record_once(browse, limit):
    pages = [browse.read("browse.some", 0, None, limit)]
    while pages[-1].older_before is not None:
        pages.append(
            browse.read("browse.some", 0, None, limit, before_offset=pages[-1].older_before)
        )
    assert [row.offset for page in pages for row in page.rows] == list(range(29, -1, -1))
    pages = [browse.read("browse.some", 0, 0, limit)]
    while pages[-1].newer_offset is not None:
        pages.append(browse.read("browse.some", 0, pages[-1].newer_offset, limit))
    assert [row.offset for page in pages for row in page.rows] == list(range(30))


@pytest.mark.parametrize("partition", [0, None])
def test_pages_of_a_compacted_topic_are_full_and_paging_back_ends(live_cluster, partition):
    topic = f"browse.compacted-{uuid.uuid4().hex[:8]}"
    left = live_cluster.create_compacted_topic(topic)
    browse = live_cluster.gateway().record_pages
    page = browse.read(topic, partition, None, 25)
    assert [row.offset for row in page.rows] == left[::-1]
    assert (page.unread, page.older_before) == ((), None)
    page = browse.read(topic, partition, None, 6)
    offsets = [row.offset for row in page.rows]
    while page.older_before is not None:
        page = browse.read(topic, 0, None, 6, before_offset=page.older_before)
        offsets += [row.offset for row in page.rows]
    assert offsets == left[::-1]
    assert [row.offset for row in browse.read(topic, 0, 5, 2).rows] == [8004, 8005]


def test_records_of_one_partition_are_sorted_by_offset_not_by_timestamp(live_cluster):
    topic = f"browse.times-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 1)
    producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
    for number in range(5):
        producer.produce(topic, b"x", partition=0, timestamp=1_700_000_000_000 - number)
    assert producer.flush(30) == 0
    for partition in (0, None):
        rows = live_cluster.gateway().record_pages.read(topic, partition, None, 3).rows
        assert [row.offset for row in rows] == [4, 3, 2]


def test_a_page_that_reaches_the_byte_limit_has_the_newest_records_and_a_next_page(live_cluster):
    topic = f"browse.large-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 1)
    producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
    for _ in range(12):
        producer.produce(topic, b"x" * 100_000, partition=0)
    assert producer.flush(30) == 0
    browse = live_cluster.gateway().record_pages
    page = browse.read(topic, 0, None, 12, max_bytes=350_000)
    pages = [page]
    assert page.rows[0].offset == 11
    assert page.unread == (UnreadPartition(0, TOO_MUCH),)
    while page.older_before is not None:
        page = browse.read(topic, 0, None, 12, max_bytes=350_000, before_offset=page.older_before)
        pages.append(page)
    assert [row.offset for page in pages for row in page.rows] == list(range(11, -1, -1))
    forward = browse.read(topic, 0, 0, 12, max_bytes=350_000)
    assert (forward.unread, forward.newer_offset) == (
        (UnreadPartition(0, TOO_MUCH),),
        len(forward.rows),
    )


def test_the_byte_limit_applies_to_all_partitions_together(live_cluster):
    topic = f"browse.many-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 8)
    producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
    for number in range(24):
        producer.produce(topic, b"x" * 100_000, partition=number % 8)
    assert producer.flush(30) == 0
    page = live_cluster.gateway().record_pages.read(topic, None, None, 24, max_bytes=350_000)
    assert 1 <= len(page.rows) <= 4
    assert {gap.why for gap in page.unread} == {TOO_MUCH}


def test_a_batch_that_unpacks_to_more_than_the_limit_fails_only_its_partition(live_cluster):
    topic = f"browse.bomb-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 1)
    live_cluster.produce_zeros(topic, 160 << 20)
    browse = live_cluster.gateway().record_pages
    with pytest.raises(Unreadable, match="more than the 67108864 bytes"):
        browse.read(topic, 0, 0, 5)
    with live_cluster.gateway() as gateway:
        gateway.topics.create_partitions(topic, 2)
    live_cluster.write(topic, [{"value": b"whole", "partition": 1}])
    page = browse.read(topic, None, None, 5)
    assert [row.value for row in page.rows] == [b"whole"]
    assert [(gap.partition, gap.why) for gap in page.unread] == [(0, FAILED)]


def test_an_answer_that_does_not_parse_fails_the_read():
    window = record_pages._Window(0, 0, 9)
    with pytest.raises(Unreadable, match="does not parse"):
        window.add(FetchedRecords(0, 9, (), memoryview(b"x" * 100)), 5, 100)


def test_an_empty_answer_before_the_last_stable_offset_is_not_the_end():
    window = record_pages._Window(0, 5, 9)
    empty = FetchedRecords(0, 9, (), memoryview(b""))
    window.add(empty, 5, 100)
    assert not window.is_complete
    with pytest.raises(ClusterUnavailable):
        window.add(empty, 5, 100)
    at_the_end = record_pages._Window(0, 5, 9)
    at_the_end.add(empty._replace(last_stable_offset=5), 5, 100)
    assert at_the_end.is_complete


def test_partitions_whose_offsets_are_not_answered_are_unread(monkeypatch):
    monkeypatch.setattr(request_timeouts, "READ_S", 1.0)
    answers = a_cluster_of_one("a")
    del answers[list_offsets.API_KEY]
    with hostile_broker(answers) as port:
        silent = for_cluster(Cluster(slug="silent", bootstrap_servers=f"127.0.0.1:{port}"))
        for partition in (0, None):
            page = silent.record_pages.read("a", partition, None, 5)
            assert page == RecordPage((), (UnreadPartition(0, SILENT),))


def test_a_read_at_the_end_is_empty_and_beyond_the_end_out_of_range(browse):
    assert browse.read("browse.some", 0, 30, 5) == RecordPage((), (), 0, older_before=30)
    with pytest.raises(OffsetOutOfRange, match="0 to 29"):
        browse.read("browse.some", 0, 31, 5)
    with pytest.raises(OffsetOutOfRange, match="empty"):
        browse.read("browse.some", 2, 5, 5)


def test_an_empty_partition_has_no_records(browse):
    assert browse.read("browse.some", 2, None, 5) == RecordPage((), (), 2)


def test_unknown_topics_and_partitions_are_reported_and_not_created(browse, live_cluster):
    with pytest.raises(NotFound):
        browse.read("browse.nothing", 0, None, 5)
    with pytest.raises(NotFound, match="no partition 9"):
        browse.read("browse.some", 9, None, 5)
    assert "browse.nothing" not in for_cluster(live_cluster.row()).wire.metadata().topics


def test_a_read_is_limited_in_bytes(browse):
    assert len(browse.read("browse.some", 0, 0, 30, max_bytes=40).rows) < 30


def test_a_partition_that_reached_the_byte_limit_is_listed_as_unread(browse):
    page = browse.read("browse.some", None, None, 50, max_bytes=40)
    assert {gap.why for gap in page.unread} == {TOO_MUCH}


def test_partitions_without_a_leader_are_listed_as_unread(live_cluster):
    topic = f"browse.gap-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 4)
    live_cluster.produce(topic, dict.fromkeys(range(4), 3))
    with live_cluster.gateway() as gateway:
        partitions = gateway.topics.describe_topic(topic).partitions
    stopped = live_cluster.brokerd.brokers[1]
    leaderless = {each.partition for each in partitions if each.leader == stopped.id}
    assert 0 < len(leaderless) < 4
    stopped.stop()
    browse = live_cluster.gateway().record_pages
    page = browse.read(topic, None, None, 50)
    assert {row.partition for row in page.rows} == set(range(4)) - leaderless
    assert {(gap.partition, gap.why) for gap in page.unread} == {(p, NO_LEADER) for p in leaderless}
    for offset in (None, 0):
        single = browse.read(topic, min(leaderless), offset, 5)
        assert single == RecordPage((), (UnreadPartition(min(leaderless), NO_LEADER),))


def test_only_the_partitions_of_a_leader_that_hangs_are_unread(live_cluster, monkeypatch):
    monkeypatch.setattr(request_timeouts, "READ_S", 2.0)
    topic = f"browse.hanging-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 4)
    live_cluster.produce(topic, dict.fromkeys(range(4), 3))
    with live_cluster.gateway() as gateway:
        partitions = gateway.topics.describe_topic(topic).partitions
    healthy, hanging = live_cluster.brokerd.brokers
    silent = {each.partition for each in partitions if each.leader == hanging.id}
    browse = for_cluster(live_cluster.row(bootstrap_servers=healthy.address)).record_pages
    with hung(hanging.process):
        page = browse.read(topic, None, None, 50)
        single = browse.read(topic, min(silent), 0, 5)
    assert {row.partition for row in page.rows} == set(range(4)) - silent
    assert {(gap.partition, gap.why) for gap in page.unread} == {(p, SILENT) for p in silent}
    assert single == RecordPage((), (UnreadPartition(min(silent), SILENT),))


@pytest.mark.django_db
def test_reading_creates_no_group(browse, live_cluster):
    browse.read("browse.some", 0, None, 5)
    from monitoring.gateway import event_loop
    from monitoring.sampling.reader_pool import ReaderPool, SamplingTarget

    target = SamplingTarget.of(live_cluster.row())
    outcome = event_loop.run(ReaderPool().read(target, 20_000), 20)
    listed = {g.group for read in outcome.answers.coordinators for g in read.listed}
    assert not any("record_pages" in group for group in listed)


def test_a_cluster_that_is_down_raises_cluster_unavailable(monkeypatch):
    monkeypatch.setattr(request_timeouts, "READ_S", 1.0)
    dead = for_cluster(Cluster(slug="dead", bootstrap_servers="127.0.0.1:1"))
    with pytest.raises(ClusterUnavailable):
        dead.record_pages.read("x", 0, None, 1)
