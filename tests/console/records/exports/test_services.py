"""Exports from a real cluster: whole, limited and continued, masked, audited."""

import json
import time

import pytest
from asgiref.sync import async_to_sync
from confluent_kafka import Producer
from django.core.exceptions import PermissionDenied

from console.accounts.principal import Principal
from console.audit.models import AuditEntry
from console.records.exports import services
from console.records.exports.services import pieces, position_text, positions_of
from console.records.exports.writers import writer_of
from console.records.models import MaskingRule
from console.records.search import ExportLimits, SearchQuery
from monitoring.models import Cluster
from monitoring.records.filters import Condition
from monitoring.records.search import Progress
from tests.console.conftest import a_user
from tests.support.live_cluster import LiveCluster

TOPIC = "console-export"
COUNT = 3000  # in each of two partitions
FIRST_MS = (int(time.time()) - 3600) * 1000


@pytest.fixture
def cluster(live_cluster: LiveCluster, db) -> Cluster:
    with live_cluster.gateway() as gateway:
        is_new = not gateway.wire.has_topic(TOPIC)
    if is_new:
        live_cluster.create_topic(TOPIC, 2)
        producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
        for number in range(2 * COUNT):
            value = json.dumps({"number": number, "card": f"card-{number:04}"})
            producer.produce(TOPIC, value, partition=number % 2, timestamp=FIRST_MS + number)
        assert producer.flush(30) == 0
    row = live_cluster.row()
    row.save()
    return row


@pytest.fixture
def viewer(db) -> Principal:
    return Principal(a_user("export-viewer", "viewer"), "127.0.0.1")


def export(
    principal: Principal, cluster: Cluster, limit: int = 10_000, **query
) -> tuple[list[int], dict]:
    """The numbers in the values, and the end."""
    limits = ExportLimits(limit, 1 << 30, 60)
    with services.start(
        principal, cluster, SearchQuery(TOPIC, **query), "jsonl", limits
    ) as running:
        data = b"".join(pieces(running.events(), writer_of("jsonl", TOPIC)))
    *rows, end = map(json.loads, data.splitlines())
    return [json.loads(row["value"]["text"])["number"] for row in rows], end["end"]


def test_all_records_that_match_are_exported_whatever_the_order_of_the_search(cluster, viewer):
    numbers, end = export(cluster=cluster, principal=viewer, newest_first=True, matches_max=100)
    assert sorted(numbers) == list(range(2 * COUNT))
    assert (end["is_complete"], end["continue_at"]) == (True, "")
    numbers, _end = export(viewer, cluster, conditions=(Condition("value", "contains", "-001"),))
    assert sorted(numbers) == list(range(10, 20))


@pytest.mark.parametrize("limit", [1, 700, 2 * COUNT])
def test_a_limited_export_is_continued_without_a_gap_or_a_record_twice(cluster, viewer, limit):
    found: list[int] = []
    end = {"continue_at": "", "is_complete": False}
    for _ in range(12):
        positions = positions_of(end["continue_at"])
        numbers, end = export(viewer, cluster, limit, positions=positions)
        found += numbers
        assert len(numbers) <= limit
        if end["is_complete"]:
            break
    assert len(found) == len(set(found))
    if limit == 1:
        assert len(found) == 12
    else:
        assert sorted(found) == list(range(2 * COUNT))


def test_a_search_that_follows_is_exported_up_to_now(cluster, viewer):
    numbers, end = export(viewer, cluster, follows=True)
    assert (len(numbers), end["is_complete"]) == (2 * COUNT, True)


def test_masked_parts_stay_masked_and_each_export_is_audited(cluster, viewer):
    MaskingRule.objects.create(cluster=cluster, topic_pattern=TOPIC, target="value.card")
    query = SearchQuery(TOPIC, conditions=(Condition("value", "contains", '"number": 12,'),))
    for name in ("jsonl", "csv", "parquet"):
        with services.start(viewer, cluster, query, name) as running:
            data = b"".join(pieces(running.events(), writer_of(name, TOPIC)))
        assert b"card-" not in data
    entry = AuditEntry.objects.filter(verb="record.export").latest("pk")
    assert entry.after["format"] == "parquet"
    assert "number" in entry.after["search"]["condition"]


def test_without_the_right_to_the_topic_there_is_no_export(cluster):
    outsider = Principal(a_user("export-outsider"), "127.0.0.1")
    with pytest.raises(PermissionDenied):
        services.start(outsider, cluster, SearchQuery(TOPIC), "csv")


def test_partitions_that_were_not_read_make_an_export_incomplete():
    last = Progress(end="complete", unread={1: "away"}, positions={0: 9, 1: 4})
    (line,) = pieces(iter([last]), writer_of("jsonl", TOPIC))
    end = json.loads(line)["end"]
    assert (end["is_complete"], end["continue_at"]) == (False, "0:9,1:4")
    assert list(end["partitions_not_read"]) == ["1"]


def test_positions_are_read_back_from_their_text():
    assert positions_of(position_text({1: 7, 0: 41})) == {0: 41, 1: 7}
    assert positions_of("") == {}
    for wrong in ("0", "0:x", "0:1:2", "-1:2", "0:99999999999999999999"):
        with pytest.raises(ValueError, match=r"."):
            positions_of(wrong)


async def whole(answer) -> bytes:
    return b"".join([piece async for piece in answer.streaming_content])


def test_the_download_has_a_name_and_its_errors_are_on_the_page(cluster, client_of):
    client = client_of(a_user("export-views", "viewer"))
    url = f"/c/live/topics/{TOPIC}/messages/export"
    answer = client.get(url, {"file_format": "csv", "text": "card-0007"})
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{TOPIC}-')
    assert b"card-0007" in async_to_sync(whole)(answer)
    wrong = client.get(url, {"continue_at": "x", "text": "kept"})
    assert wrong.status_code == 422
    assert 'value="kept"' in wrong.content.decode()
    Cluster.objects.filter(pk=cluster.pk).update(bootstrap_servers="127.0.0.1:1")
    failed = client.get(url, {"text": "kept"})
    assert failed.status_code == 503
    assert 'value="kept"' in failed.content.decode()
