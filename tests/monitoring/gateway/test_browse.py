import uuid

import pytest

from monitoring.gateway import browse as module
from monitoring.gateway.browse import NO_LEADER, SILENT, TOO_MUCH, Portion, Unread
from monitoring.gateway.errors import ClusterUnavailable, NotFound, OffsetOutOfRange
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.support.processes import hung


@pytest.fixture
def browse(live_cluster):
    topics = for_cluster(live_cluster.row()).wire.metadata().topics
    if "browse.some" not in topics:
        live_cluster.create_topic("browse.some", 3)
        live_cluster.produce("browse.some", {0: 30, 1: 20})
    return for_cluster(live_cluster.row()).browse


def test_the_newest_records_of_a_partition_come_newest_first(browse):
    rows = browse.read("browse.some", 0, None, 5).rows
    assert [(row.partition, row.offset) for row in rows] == [(0, n) for n in (29, 28, 27, 26, 25)]
    assert (rows[0].key, rows[0].value, rows[0].headers) == (b"key", b"value-29", ())
    assert rows[0].timestamp_ms is not None


def test_the_newest_of_all_partitions_are_merged_by_time(browse):
    rows = browse.read("browse.some", None, None, 50).rows
    assert len(rows) == 50
    times = [row.timestamp_ms for row in rows]
    assert times == sorted(times, reverse=True)
    assert {row.partition for row in rows} == {0, 1}


def test_an_offset_starts_there_and_goes_up(browse):
    rows = browse.read("browse.some", 0, 10, 3).rows
    assert [row.offset for row in rows] == [12, 11, 10]


def test_the_end_is_empty_and_beyond_it_is_out_of_range(browse):
    assert browse.read("browse.some", 0, 30, 5) == Portion(())
    with pytest.raises(OffsetOutOfRange, match="0 to 29"):
        browse.read("browse.some", 0, 31, 5)
    with pytest.raises(OffsetOutOfRange, match="empty"):
        browse.read("browse.some", 2, 5, 5)


def test_an_empty_partition_has_no_records(browse):
    assert browse.read("browse.some", 2, None, 5) == Portion(())


def test_unknown_topics_and_partitions_are_said_and_not_created(browse, live_cluster):
    with pytest.raises(NotFound):
        browse.read("browse.nothing", 0, None, 5)
    with pytest.raises(NotFound, match="no partition 9"):
        browse.read("browse.some", 9, None, 5)
    assert "browse.nothing" not in for_cluster(live_cluster.row()).wire.metadata().topics


def test_a_read_is_bounded_in_bytes(browse):
    assert len(browse.read("browse.some", 0, 0, 30, max_bytes=40).rows) < 30


def test_a_partition_that_the_bound_cut_short_is_named(browse):
    portion = browse.read("browse.some", None, None, 50, max_bytes=40)
    assert {gap.why for gap in portion.unread} == {TOO_MUCH}


def test_partitions_without_a_leader_are_named_and_the_others_shown(live_cluster):
    topic = f"browse.gap-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 4)
    live_cluster.produce(topic, dict.fromkeys(range(4), 3))
    with live_cluster.gateway() as gateway:
        places = gateway.admin.describe_topic(topic).partitions
    gone = live_cluster.brokerd.brokers[1]
    lost = {place.partition for place in places if place.leader == gone.id}
    assert 0 < len(lost) < 4
    gone.stop()
    browse = live_cluster.gateway().browse
    portion = browse.read(topic, None, None, 50)
    assert {row.partition for row in portion.rows} == set(range(4)) - lost
    assert {(gap.partition, gap.why) for gap in portion.unread} == {(p, NO_LEADER) for p in lost}
    for offset in (None, 0):
        one = browse.read(topic, min(lost), offset, 5)
        assert one == Portion((), (Unread(min(lost), NO_LEADER),))


def test_a_leader_that_stands_still_costs_its_own_partitions_only(live_cluster, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT_S", 2.0)
    topic = f"browse.still-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 4)
    live_cluster.produce(topic, dict.fromkeys(range(4), 3))
    with live_cluster.gateway() as gateway:
        places = gateway.admin.describe_topic(topic).partitions
    well, still = live_cluster.brokerd.brokers
    silent = {place.partition for place in places if place.leader == still.id}
    browse = for_cluster(live_cluster.row(bootstrap_servers=well.address)).browse
    with hung(still.process):
        portion = browse.read(topic, None, None, 50)
        one = browse.read(topic, min(silent), 0, 5)
    assert {row.partition for row in portion.rows} == set(range(4)) - silent
    assert {(gap.partition, gap.why) for gap in portion.unread} == {(p, SILENT) for p in silent}
    assert one == Portion((), (Unread(min(silent), SILENT),))


def test_reading_leaves_no_group_behind(browse, live_cluster):
    browse.read("browse.some", 0, None, 5)
    from monitoring.gateway import loop
    from monitoring.sampling.sampler import Samplers, Target

    outcome = loop.run(Samplers().read(Target.of(live_cluster.row()), 20_000), 20)
    listed = {g.group for read in outcome.reads.coordinators for g in read.listed}
    assert not any("browse" in group for group in listed)


def test_a_cluster_that_is_down_is_said_to_be(monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT_S", 1.0)
    dead = for_cluster(Cluster(slug="dead", bootstrap_servers="127.0.0.1:1"))
    with pytest.raises(ClusterUnavailable):
        dead.browse.read("x", 0, None, 1)
