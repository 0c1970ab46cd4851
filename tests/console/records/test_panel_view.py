"""The side panel of a record, of a real cluster: what it tells of the record's batch."""

import re
from dataclasses import replace

import pytest

from console.records import read_records
from console.records.models import MaskingRule
from console.records.shown_data import decode
from console.records.shown_record import MASKED, ShownRecord
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.record_row import RecordRow
from monitoring.gateway.wire.sync_client import SyncClient
from monitoring.models import Cluster
from tests.console.conftest import a_user
from tests.support.live_cluster import LiveCluster

TOPIC = "panel-batches"
PANEL = f"/c/live/topics/{TOPIC}/messages/0/1"
CRC = re.compile(r"<dt>CRC</dt>\s*<dd><code>[0-9a-f]{8}</code>")


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    live_cluster.write_once(TOPIC, 1, ({"value": b"value-%d" % n} for n in range(3)))
    row = live_cluster.row()
    row.save()
    return row


def panel_of(client_of, role: str) -> str:
    answer = client_of(a_user(f"panel-{role}", role)).get(PANEL)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_panel_has_the_facts_of_the_batch(cluster, client_of):
    panel = panel_of(client_of, "viewer")
    assert CRC.search(panel)
    for text in ("create time", "CreateTime", "not idempotent", "Leader epoch", "none"):
        assert text in panel
    assert "about " not in panel


def test_masked_readers_get_no_checksum_and_a_rounded_size(cluster, client_of):
    MaskingRule.objects.create(cluster=cluster, topic_pattern=TOPIC, target="value")
    masked, whole = panel_of(client_of, "viewer"), panel_of(client_of, "admin")
    assert CRC.search(whole)
    assert not CRC.search(masked)
    crc = CRC.search(whole)[0][-15:-7]
    assert crc not in masked
    size = re.search(r"<dt>Size</dt>\s*<dd>\s*(.*?)\s*</dd>", masked, re.DOTALL)[1]
    assert size.startswith("about ")


def test_a_record_is_shown_also_if_its_batch_cannot_be_read(cluster, client_of, monkeypatch):
    def fail(*args):
        raise ClusterUnavailable("no broker answered")

    monkeypatch.setattr(SyncClient, "batch_header", fail)
    panel = panel_of(client_of, "viewer")
    assert "value-1" in panel
    assert "The batch could not be read: No broker answered" in panel


ORDERS = "/c/local/topics/orders/messages/1/41"


@pytest.fixture
def panel_with(sampled, client_of, viewer, monkeypatch):
    """The panel of a record with this key, value and headers."""

    def panel(key, value, *headers):
        row = RecordRow(1, 41, None, b"k", b"v", ())
        record = ShownRecord(1, 41, None, key, value, headers)
        monkeypatch.setattr(read_records, "read_shown", lambda *_: (row, record))
        monkeypatch.setattr(read_records, "read_batch_facts", lambda *_: None)
        return client_of(viewer).get(ORDERS).content.decode()

    return panel


def test_each_record_can_be_downloaded(panel_with):
    panel = panel_with(decode(b"k"), decode(b"v"))
    assert f'href="{ORDERS}/value"' in panel
    assert f'href="{ORDERS}/record"' in panel


def test_a_record_shows_the_kind_of_each_part(panel_with):
    panel = panel_with(decode(b'{"id":1}'), decode(b"\x00\xff"), ("trace", decode(b"")))
    assert "{\n  &quot;id&quot;: 1\n}" in panel, "a key that is JSON is laid out, too"
    for told in ("binary, in hex", "Headers", "trace", "empty (0 bytes)"):
        assert told in panel, told
    panel = panel_with(decode(None), decode(None))
    assert panel.count("tombstone") == 1
    assert ">none<" in panel


def test_masked_parts_are_marked(panel_with):
    assert panel_with(MASKED, decode(b"x")).count("masked by a rule") == 1


def test_rounded_sizes_are_marked(panel_with):
    value = replace(decode(b"x" * 1000), size_bytes=1024, is_size_rounded=True)
    assert "about 1\u202fKiB" in panel_with(decode(None), value)
