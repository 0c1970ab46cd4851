import numpy as np

from monitoring.gateway.wire import metadata
from monitoring.gateway.wire.answers import ClusterAnswers, CoordinatorAnswers, LogDir
from monitoring.gateway.wire.groups import ListedGroup
from monitoring.gateway.wire.offset_fetch import GroupCommits, TopicCommits
from monitoring.lag.formula import with_lag
from monitoring.read_model.snapshot import Snapshot
from monitoring.sampling.assemble import assemble
from monitoring.ticks.schema import GROUPS, PARTITIONS
from tests.monitoring.gateway.wire.answers import decoded_metadata

TOPICS = {"a": {0: (1, (1, 2), (1,)), 1: (-1, (3,), ())}, "b": {0: (2, (2,), (2,))}}


def answers(**fields):
    told = ClusterAnswers.empty(decoded_metadata(TOPICS))
    for name, value in fields.items():
        setattr(told, name, value)
    return told


def commits(topic, offsets):
    partitions = np.array(list(offsets), dtype=np.int32)
    values = np.array(list(offsets.values()), dtype=np.int64)
    return TopicCommits(topic, partitions, values)


def with_commits(*topics, **fields):
    group = GroupCommits("g", 0, topics)
    read = CoordinatorAnswers(2, [ListedGroup("g", "Empty", "consumer")], [group], [])
    return answers(coordinators=[read], **fields)


def tick_of(told):
    return assemble("local", 9, 5000, 30, told)


def test_the_tables_have_the_schema_of_a_tick():
    tick = tick_of(answers())
    assert tick.partitions.schema == PARTITIONS
    assert tick.groups.schema == GROUPS


def test_a_partition_has_the_id_of_its_topic():
    told = answers()
    ids = dict(zip(told.metadata.topics, told.metadata.topic_ids, strict=True))
    rows = tick_of(told).partitions.to_pylist()
    assert [row["topic_id"] for row in rows] == [ids[row["topic"]] for row in rows]


def test_without_topic_ids_they_are_null():
    told = ClusterAnswers.empty(decoded_metadata(TOPICS, metadata.WITHOUT_IDS))
    assert {row["topic_id"] for row in tick_of(told).partitions.to_pylist()} == {None}


def test_values_that_were_not_read_are_null():
    for row in tick_of(answers()).partitions.to_pylist():
        unknown = ("log_start_offset", "log_end_offset", "size_bytes", "bytes_in", "messages_in")
        assert all(row[name] is None for name in unknown)


def test_a_partition_row_has_leader_replicas_and_offsets():
    told = answers(log_end=np.array([10, -1, 0]), log_start=np.array([4, -1, 0]), at_ms=77)
    first, offline, empty = tick_of(told).partitions.to_pylist()
    assert (first["topic"], first["partition"], first["leader"]) == ("a", 0, 1)
    assert (first["replicas"], first["isr"]) == ([1, 2], [1])
    assert (first["log_start_offset"], first["log_end_offset"], first["at_ms"]) == (4, 10, 77)
    assert (offline["leader"], offline["isr"], offline["log_end_offset"]) == (-1, [], None)
    assert empty["log_end_offset"] == 0


def test_a_broker_has_its_log_directories_and_their_sums():
    disks = [LogDir("/a", 100, 40, 7), LogDir("/b", 50, None, None)]
    one, two = tick_of(answers(log_dirs={1: disks})).brokers[:2]
    assert (one["disk_total_bytes"], one["disk_free_bytes"]) == (150, None)
    assert one["log_dirs"][0] == {
        "path": "/a", "total_bytes": 100, "free_bytes": 40, "size_bytes": 7,
    }  # fmt: skip
    assert (two["log_dirs"], two["disk_total_bytes"]) == ([], None)


def test_lag_is_end_minus_commit_and_may_be_negative():
    told = with_commits(commits("a", {0: 4}), commits("b", {0: 7}), log_end=np.array([10, -1, 5]))
    rows = with_lag(tick_of(told).groups).to_pylist()
    assert [(row["topic"], row["lag"]) for row in rows] == [("a", 6), ("a", None), ("b", -2)]


def test_lag_is_null_where_the_end_or_the_topic_is_unknown():
    told = with_commits(
        commits("a", {0: 4, 1: 4}), commits("zzz", {0: 1}), log_end=np.array([-1, -1, 5])
    )
    rows = with_lag(tick_of(told).groups).to_pylist()
    assert [row["lag"] for row in rows] == [None] * 3
    assert [row["committed_offset"] for row in rows] == [4, 4, 1]


def test_a_commit_on_a_partition_that_its_topic_lacks_is_refused_and_reported():
    tick = tick_of(with_commits(commits("a", {0: 4, 9: 4})))
    assert [row["partition"] for row in tick.groups.to_pylist()] == [0, 1]
    assert tick.invalid == ["group g: partitions that topic a does not have"]
    assert tick.groups_complete


def test_the_lag_of_a_commit_too_far_from_the_end_is_unknown():
    told = with_commits(
        commits("a", {0: 2**62, 1: 2**63 - 1}), commits("b", {0: 4}), log_end=np.array([5, 5, 5])
    )
    tick = tick_of(told)
    assert [row["lag"] for row in with_lag(tick.groups).to_pylist()] == [None, None, 1]
    assert tick.invalid == ["group g: commits that are too far from the end of their partition"]
    [totals] = Snapshot.of(tick).groups
    assert (totals.lag, totals.ahead_by, totals.end_unknown) == (1, 0, 2)


def test_brokers_that_hold_replicas_but_are_not_registered_are_shown_down():
    told = answers(answering_brokers={1}, broker_stats={1: {"bytes_in": 5, "rss_bytes": 9}})
    brokers = {row["id"]: row for row in tick_of(told).brokers}
    assert {number: row["up"] for number, row in brokers.items()} == {1: True, 2: False, 3: False}
    assert (brokers[1]["source"], brokers[1]["bytes_in"], brokers[1]["cpu_seconds"]) == (
        "brokerd", 5, None,
    )  # fmt: skip
    assert (brokers[2]["source"], brokers[2]["bytes_in"]) == ("none", None)
    assert brokers[3]["host"] is None


def test_failures_are_named_once_in_the_reason():
    tick = tick_of(answers(failures=["broker 2: timed out", "broker 2: timed out"]))
    assert tick.reason == "broker 2: timed out"
    assert tick.ok


def test_a_cluster_without_topics_and_groups_is_an_ok_tick():
    told = ClusterAnswers.empty(decoded_metadata({}))
    tick = tick_of(told)
    assert (tick.ok, tick.partitions.num_rows, tick.groups.num_rows) == (True, 0, 0)
