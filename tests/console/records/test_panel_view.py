"""The side panel of a record, of a real cluster: what it tells of the record's batch."""

import re

import pytest

from console.records.models import MaskingRule
from monitoring.gateway.errors import ClusterUnavailable
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
