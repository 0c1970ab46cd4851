"""The events of real brokers as records."""

import json
import threading

import pytest

from monitoring.gateway.brokerd_admin_urls import AdminUrls
from stack.demo import events as module
from stack.demo.events import BrokerEvents


@pytest.fixture
def urls(live_cluster, db):
    return AdminUrls.of(live_cluster.row())


@pytest.fixture
def position_file(tmp_path):
    return tmp_path / "positions" / "events.json"


def broker_events(urls, position_file):
    events = BrokerEvents(urls, position_file, "brokerd.events")
    fetch_all(events, urls)
    return events


def fetch_all(events, urls):
    """A fetch answers with a page; other tests may have made many events."""
    for broker in urls.by_broker:
        count = -1
        while count != len(events._queue):
            count = len(events._queue)
            events._fetch(broker)


def test_each_broker_event_becomes_one_record(live_cluster, urls, position_file):
    live_cluster.create_topic("events.some")
    events = broker_events(urls, position_file)
    records = events.take(10_000)
    assert {record.topic for record in records} == {"brokerd.events"}
    events.finish_delivery(is_delivered=True)
    fetch_all(events, urls)
    assert events.take(10_000) == []
    assert set(json.loads(position_file.read_text())) == set(urls.by_broker)
    assert broker_events(urls, position_file).take(10_000) == []  # nor after a restart


def test_events_that_were_not_delivered_are_taken_again(urls, position_file):
    events = broker_events(urls, position_file)
    records = events.take(3)
    events.finish_delivery(is_delivered=False)
    assert events.take(3) == records


def test_a_broker_that_refuses_the_token_is_logged_once(urls, position_file, monkeypatch, caplog):
    caplog.set_level("INFO", "stack.demo.events")
    monkeypatch.setattr(module, "POLL_S", 0.01)
    wrong = AdminUrls({"1": urls.by_broker["1"]}, "wr0ng", urls.allowed)
    stop = threading.Event()
    asked = []
    events = BrokerEvents(wrong, position_file, "brokerd.events")
    fetch = events._fetch

    def counted(broker):
        asked.append(broker)
        if len(asked) == 3:
            stop.set()
        fetch(broker)

    monkeypatch.setattr(events, "_fetch", counted)
    events.follow(stop)
    [line] = caplog.messages
    assert "refuses the admin token" in line
    assert "wr0ng" not in line
