"""Samples of real brokers, also if one of them fails."""

import time
import uuid

import pytest

from monitoring.clock import now_ms
from monitoring.gateway import event_loop
from monitoring.gateway.gateway import for_cluster
from monitoring.sampling.assemble import assemble
from monitoring.sampling.reader_pool import ReaderPool, SamplingTarget
from monitoring.sampling.sample_reader import SampleReader
from tests.support.processes import hung

INTERVAL_MS = 8000
TOPIC, GROUP = "reader.some", "reader-group"


@pytest.fixture
def read(live_cluster, db):
    """Reads the cluster once; the first call makes the topic and the group."""
    readers = ReaderPool()
    if TOPIC not in for_cluster(live_cluster.row()).wire.metadata().topics:
        live_cluster.create_topic(TOPIC, 4)
        live_cluster.produce(TOPIC, {0: 5, 1: 6, 2: 7})
        live_cluster.commit(GROUP, TOPIC, {0: 2, 1: 6})

    def read_once(previous=None, **fields):
        target = SamplingTarget.of(live_cluster.row(**fields))
        outcome = event_loop.run(readers.read(target, INTERVAL_MS, previous), INTERVAL_MS / 1000)
        return outcome.answers

    yield read_once
    event_loop.run(readers.close_others([]), 5)


def ends(answers):
    span = answers.metadata.rows_by_topic[TOPIC]
    return answers.log_end[span.start : span.stop].tolist()


def test_ends_starts_and_sizes_are_reported(read):
    answers = read()
    span = answers.metadata.rows_by_topic[TOPIC]
    assert ends(answers) == [5, 6, 7, 0]
    assert answers.log_start[span.start : span.stop].tolist() == [0, 0, 0, 0]
    assert (answers.size_bytes[span.start : span.start + 3] > 0).all()
    assert answers.counters.messages_in[span.start : span.stop].tolist() == [5, 6, 7, 0]
    assert (answers.failures, answers.groups_complete) == ([], True)


def test_the_times_of_last_records_are_read_where_there_are_records(read, live_cluster):
    topic = f"reader.times-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(topic, 3)
    before_ms = now_ms()
    live_cluster.produce(topic, {0: 5, 1: 6})
    after_ms = now_ms()
    answers = read()
    span = answers.metadata.rows_by_topic[topic]
    times_ms = answers.last_record_ms[span.start : span.stop].tolist()
    assert all(before_ms <= time_ms <= after_ms for time_ms in times_ms[:2])
    assert times_ms[2] == -1
    assert not answers.has_newer_records[span.start : span.stop].any()


def test_a_cluster_where_nothing_was_written_is_not_asked_for_times_again(read, monkeypatch):
    answers = read()
    previous = assemble("live", 1, INTERVAL_MS, 1, answers)
    asked = []
    read_last_records = SampleReader.read_last_records

    async def counted(self, answers, rows, timeout_s):
        asked.append(len(rows))
        return await read_last_records(self, answers, rows, timeout_s)

    monkeypatch.setattr(SampleReader, "read_last_records", counted)
    again = read(previous)
    assert asked == []
    assert again.last_record_ms.tolist() == answers.last_record_ms.tolist()


def test_topics_have_the_ids_of_the_cluster(read, live_cluster):
    known = read().metadata
    found = dict(zip(known.topics, known.topic_ids, strict=True))
    assert found[TOPIC] == live_cluster.gateway().topics.describe_topic(TOPIC).topic_id


@pytest.mark.parametrize("fields", [{}, {"admin_urls": {}}])
def test_log_directories_are_reported_by_the_admin_port_and_without_it(read, fields):
    answers = read(**fields)
    for broker, log_dirs in answers.log_dirs.items():
        assert sum(each.size_bytes for each in log_dirs) == answers.broker_size_bytes[broker]
        assert all(each.total_bytes >= each.free_bytes > 0 for each in log_dirs)
    assert answers.log_dirs.keys() == answers.broker_size_bytes.keys() == answers.answering_brokers


def test_commits_of_all_groups_are_read_in_few_requests(read):
    answers = read()
    found = {
        group.group: {
            t.topic: dict(zip(t.partitions, t.offsets, strict=True)) for t in group.topics
        }
        for coordinator in answers.coordinators
        for group in coordinator.commits
    }
    assert found[GROUP] == {TOPIC: {0: 2, 1: 6}}


def test_without_admin_ports_sizes_come_from_the_protocol_and_counters_are_unknown(read):
    answers = read(admin_urls={})
    span = answers.metadata.rows_by_topic[TOPIC]
    assert (answers.size_bytes[span.start : span.start + 3] > 0).all()
    assert (answers.counters.bytes_in == -1).all()
    assert (answers.failures, answers.broker_stats) == ([], {})


def test_a_wrong_token_makes_only_the_counters_unknown(read, live_cluster):
    row = live_cluster.row()
    row.set_admin_token("wrong")
    answers = read(admin_token=row.admin_token)
    assert ends(answers) == [5, 6, 7, 0]
    assert (answers.size_bytes >= 0).all()
    assert "401" in answers.failures[0]


def test_a_broker_that_hangs_leaves_only_its_own_part_unknown(read, live_cluster):
    whole = read()
    silent = live_cluster.brokerd.brokers[1]
    with hung(silent.process):
        answers = read()
    led_by_it = answers.metadata.leaders == silent.id
    assert (answers.log_end[led_by_it] == -1).all()
    assert (answers.log_end[~led_by_it] == whole.log_end[~led_by_it]).all()
    assert answers.answering_brokers == {1}
    assert not answers.groups_complete
    assert all(failure.startswith("broker 2: ") for failure in answers.failures)


def test_the_reader_recovers_when_the_broker_does(read, live_cluster):
    broker = live_cluster.brokerd.brokers[1]
    read()
    broker.kill()
    read()
    broker.start()
    deadline = time.monotonic() + 30
    # It leads its partitions again, and answers for the groups that it coordinates.
    while ends(answers := read()) != [5, 6, 7, 0] or answers.answering_brokers != {1, 2}:
        assert time.monotonic() < deadline, answers.failures
