"""Readers are reused between ticks and closed when their cluster is removed."""

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import event_loop
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.sampling.reader_pool import ReaderPool, SamplingTarget

INTERVAL_MS = 5000
SETTINGS = ClientSettings((("127.0.0.1", 1),))


def target(token="one", slug="c"):
    return SamplingTarget(slug, SETTINGS, AdminUrls({"1": "http://127.0.0.1:1"}, token))


def reader_of(readers, wanted):
    return event_loop.run(readers._reader(wanted), 5)


def is_closed(reader):
    return reader._broker_stats._client.is_closed


def test_a_cluster_keeps_its_reader_until_its_settings_change():
    readers = ReaderPool()
    first = reader_of(readers, target())
    assert reader_of(readers, target()) is first
    second = reader_of(readers, target(token="two"))
    assert second is not first
    assert (is_closed(first), is_closed(second)) == (True, False)
    event_loop.run(readers.close_others([]), 5)


def test_readers_of_removed_clusters_are_closed_and_returned():
    readers = ReaderPool()
    gone, kept = reader_of(readers, target(slug="gone")), reader_of(readers, target(slug="kept"))
    assert event_loop.run(readers.close_others(["kept", "new"]), 5) == ["gone"]
    assert (is_closed(gone), is_closed(kept)) == (True, False)
    event_loop.run(readers.close_others([]), 5)
